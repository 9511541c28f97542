//! What an agent reads.

use vambrace_edit::{EditError, Language, Oversize, PatternError};
use vambrace_types::{ErrorCode, Tree};

fn all() -> Vec<EditError> {
    vec![
        EditError::NoEdits,
        EditError::TooManyEdits { n_edits: 257 },
        EditError::EmptySpec { edit: 0 },
        EditError::TooLarge(Oversize::Text),
        EditError::TooLarge(Oversize::SyntaxText),
        EditError::TooLarge(Oversize::SyntaxDepth),
        EditError::TooLarge(Oversize::Spec { edit: 1 }),
        EditError::TooLarge(Oversize::Content { edit: 1 }),
        EditError::TooLarge(Oversize::Matches),
        EditError::TooLarge(Oversize::Result),
        EditError::NoCaptures { edit: 0 },
        EditError::UnknownCapture { edit: 0, name: "2".to_owned() },
        EditError::InvalidPattern { edit: 0, problem: PatternError::TooComplex },
        EditError::EmptyMatch { edit: 0, at: 3 },
        EditError::MatchCountDiffers { edit: 0, found: 0, expected: 1 },
        EditError::MatchCountDiffers { edit: 0, found: 1, expected: 2 },
        EditError::MatchCountDiffers { edit: 0, found: 3, expected: 1 },
        EditError::Overlap { first: 0, second: 1 },
        EditError::Overlap { first: 1, second: 1 },
        EditError::UnsupportedLanguage,
        EditError::NotParsable { language: Language::Go },
        EditError::SyntaxBroken { language: Language::Go },
        EditError::OutOfTime,
    ]
}

#[test]
fn messages_are_whole_sentences_and_displays_are_not() {
    for error in all() {
        let shown = error.to_tool_error("src/main.go");
        for sentence in [&shown.message, &shown.suggestion] {
            let first = sentence.chars().next().unwrap();
            assert!(first.is_uppercase() || first == '`', "{sentence}");
            assert!(sentence.ends_with('.') && !sentence.ends_with(".."), "{sentence}");
        }
        assert!(shown.message.contains("`src/main.go`"), "{}", shown.message);
        let display = error.to_string();
        assert!(!display.ends_with('.') && !display.starts_with(char::is_uppercase), "{display}");
        assert!(format!("{error:?}").starts_with(error.reason()), "{error:?}");
    }
}

#[test]
fn a_wrong_count_helps_the_agent() {
    let error = EditError::MatchCountDiffers { edit: 2, found: 3, expected: 1 }.to_tool_error("a.py");
    assert_eq!(error.code, ErrorCode::MatchCountDiffers);
    assert_eq!(error.message, "Found 3 matches for `edits[2]` in `a.py`, expected 1.");
    assert_eq!(error.suggestion, "Use count_matches to see them, then make `spec` longer or set `count`.");
    assert_eq!(error.details.unwrap().get("found"), Some(&Tree::Int(3)));
}

#[test]
fn codes() {
    for (error, expected) in [
        (EditError::OutOfTime, ErrorCode::SecurityError),
        (EditError::Overlap { first: 0, second: 1 }, ErrorCode::OverlappingEdits),
        (EditError::NoEdits, ErrorCode::ValidationError),
        (EditError::EmptyMatch { edit: 0, at: 0 }, ErrorCode::InvalidPattern),
        (EditError::TooLarge(Oversize::Text), ErrorCode::FileTooLarge),
        (EditError::TooLarge(Oversize::Spec { edit: 0 }), ErrorCode::ValidationError),
        (EditError::UnsupportedLanguage, ErrorCode::UnsupportedLanguage),
        (EditError::SyntaxBroken { language: Language::Rust }, ErrorCode::SyntaxBroken),
    ] {
        assert_eq!(error.to_tool_error("x").code, expected, "{error:?}");
    }
}
