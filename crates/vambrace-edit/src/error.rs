//! Why nothing was changed. Each reason has its own name, and one way to be told to an agent.

use vambrace_types::{ErrorCode, ToolError, Tree};

use crate::{Language, OutOfTime, PatternError, limits};

/// What was larger than the engine takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Oversize {
    /// The text to be edited.
    Text,
    /// The text before or after the edits, for syntax mode.
    SyntaxText,
    /// The nesting of the text before or after the edits, for syntax mode.
    SyntaxDepth,
    Spec {
        edit: usize,
    },
    /// The contents of all edits together; this one passed the limit.
    Content {
        edit: usize,
    },
    /// The matches of all edits together.
    Matches,
    /// The text after the edits.
    Result,
}

impl std::fmt::Display for Oversize {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Oversize::Text => write!(f, "the text is larger than {} bytes", limits::TEXT_BYTES),
            Oversize::SyntaxText => {
                write!(
                    f,
                    "the text is or would be larger than {} bytes, the limit of ast mode",
                    limits::SYNTAX_BYTES
                )
            }
            Oversize::SyntaxDepth => {
                write!(
                    f,
                    "the text is or would be nested deeper than {} levels, the limit of ast mode",
                    limits::SYNTAX_DEPTH
                )
            }
            Oversize::Spec { edit } => {
                write!(f, "the spec of edit {edit} is larger than {} bytes", limits::SPEC_BYTES)
            }
            Oversize::Content { edit } => {
                write!(f, "with edit {edit} the contents are larger than {} bytes", limits::TEXT_BYTES)
            }
            Oversize::Matches => write!(f, "there are more than {} matches", limits::MATCHES),
            Oversize::Result => write!(f, "the result would be larger than {} bytes", limits::TEXT_BYTES),
        }
    }
}

/// `edit`, `first` and `second` are places in the list of edits, counted from 0.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    #[error("there are no edits")]
    NoEdits,
    #[error("{n_edits} edits are more than {}", limits::EDITS)]
    TooManyEdits { n_edits: usize },
    #[error("the spec of edit {edit} is empty")]
    EmptySpec { edit: usize },
    #[error("{0}")]
    TooLarge(Oversize),
    #[error("edit {edit} asks for captures, and exact mode has none")]
    NoCaptures { edit: usize },
    #[error("the content of edit {edit} names the capture {name}, which its spec does not have")]
    UnknownCapture { edit: usize, name: String },
    #[error("the content of edit {edit} copies hidden text by `{name}`")]
    HiddenCapture { edit: usize, name: String },
    #[error("the pattern of edit {edit} is not valid: {problem}")]
    InvalidPattern { edit: usize, problem: PatternError },
    #[error("the pattern of edit {edit} matches the empty text at byte {at}")]
    EmptyMatch { edit: usize, at: usize },
    #[error("found {found} matches for edit {edit}, expected {expected}")]
    MatchCountDiffers { edit: usize, found: usize, expected: usize },
    #[error("edits {first} and {second} overlap")]
    Overlap { first: usize, second: usize },
    #[error("no grammar is known for this text")]
    UnsupportedLanguage,
    #[error("the text does not parse as {}", .language.as_str())]
    NotParsable { language: Language },
    #[error("the result would no longer parse as {}", .language.as_str())]
    SyntaxBroken { language: Language },
    #[error("the edit was stopped because it took too long")]
    OutOfTime,
}

impl From<OutOfTime> for EditError {
    fn from(_: OutOfTime) -> EditError {
        EditError::OutOfTime
    }
}

impl EditError {
    /// The reason as one stable word, as `testdata/edits` spells it.
    pub fn reason(&self) -> &'static str {
        match self {
            EditError::NoEdits => "NoEdits",
            EditError::TooManyEdits { .. } => "TooManyEdits",
            EditError::EmptySpec { .. } => "EmptySpec",
            EditError::TooLarge(_) => "TooLarge",
            EditError::NoCaptures { .. } => "NoCaptures",
            EditError::UnknownCapture { .. } => "UnknownCapture",
            EditError::HiddenCapture { .. } => "HiddenCapture",
            EditError::InvalidPattern { .. } => "InvalidPattern",
            EditError::EmptyMatch { .. } => "EmptyMatch",
            EditError::MatchCountDiffers { .. } => "MatchCountDiffers",
            EditError::Overlap { .. } => "Overlap",
            EditError::UnsupportedLanguage => "UnsupportedLanguage",
            EditError::NotParsable { .. } => "NotParsable",
            EditError::SyntaxBroken { .. } => "SyntaxBroken",
            EditError::OutOfTime => "OutOfTime",
        }
    }

    /// The error as an agent sees it. `path` is the spelling that the agent used.
    pub fn to_tool_error(&self, path: &str) -> ToolError {
        let error = ToolError::new(self.code(), self.message(path)).suggestion(self.suggestion());
        match self.details() {
            Some(details) => error.details(details),
            None => error,
        }
    }

    fn code(&self) -> ErrorCode {
        match self {
            EditError::NoEdits
            | EditError::TooManyEdits { .. }
            | EditError::EmptySpec { .. }
            | EditError::NoCaptures { .. }
            | EditError::UnknownCapture { .. }
            | EditError::TooLarge(Oversize::Spec { .. } | Oversize::Content { .. }) => {
                ErrorCode::ValidationError
            }
            EditError::InvalidPattern { .. } | EditError::EmptyMatch { .. } => ErrorCode::InvalidPattern,
            EditError::HiddenCapture { .. } => ErrorCode::SecurityError,
            // The word that specification 004 fixes for a search that runs too long.
            EditError::OutOfTime => ErrorCode::SecurityError,
            EditError::TooLarge(
                Oversize::Text
                | Oversize::SyntaxText
                | Oversize::SyntaxDepth
                | Oversize::Matches
                | Oversize::Result,
            ) => ErrorCode::FileTooLarge,
            EditError::MatchCountDiffers { .. } => ErrorCode::MatchCountDiffers,
            EditError::Overlap { .. } => ErrorCode::OverlappingEdits,
            EditError::UnsupportedLanguage => ErrorCode::UnsupportedLanguage,
            EditError::NotParsable { .. } | EditError::SyntaxBroken { .. } => ErrorCode::SyntaxBroken,
        }
    }

    fn message(&self, path: &str) -> String {
        match self {
            EditError::NoEdits => format!("The list of edits for `{path}` is empty."),
            EditError::TooManyEdits { n_edits } => {
                format!(
                    "The list of edits for `{path}` has {n_edits} entries; {} are allowed.",
                    limits::EDITS
                )
            }
            EditError::EmptySpec { edit } => format!("The `spec` of `edits[{edit}]` for `{path}` is empty."),
            EditError::TooLarge(what) => format!("The edit of `{path}` is too large: {what}."),
            EditError::NoCaptures { edit } => {
                format!("`edits[{edit}]` for `{path}` asks to expand captures, but exact mode has none.")
            }
            EditError::HiddenCapture { edit, name } => {
                format!(
                    "`{name}` in the `content` of `edits[{edit}]` stands for text of `{path}` that is redacted."
                )
            }
            EditError::UnknownCapture { edit, name } => {
                format!(
                    "The `content` of `edits[{edit}]` for `{path}` names `{name}`, which its `spec` does not capture."
                )
            }
            EditError::InvalidPattern { edit, problem } => {
                format!("The `spec` of `edits[{edit}]` for `{path}` is not a valid pattern: {problem}.")
            }
            EditError::EmptyMatch { edit, .. } => {
                format!("The `spec` of `edits[{edit}]` matches the empty text in `{path}`.")
            }
            EditError::MatchCountDiffers { edit, found: 1, expected } => {
                format!("Found 1 match for `edits[{edit}]` in `{path}`, expected {expected}.")
            }
            EditError::MatchCountDiffers { edit, found, expected } => {
                format!("Found {found} matches for `edits[{edit}]` in `{path}`, expected {expected}.")
            }
            EditError::Overlap { first, second } if first == second => {
                format!("Two matches of `edits[{first}]` in `{path}` would insert at the same place.")
            }
            EditError::Overlap { first, second } => {
                format!("`edits[{first}]` and `edits[{second}]` touch the same text in `{path}`.")
            }
            EditError::UnsupportedLanguage => format!("No grammar is known for `{path}`."),
            EditError::NotParsable { language } => {
                format!("`{path}` does not parse as {} even before the edit.", language.as_str())
            }
            EditError::SyntaxBroken { language } => {
                format!(
                    "The edit would leave `{path}` in a state that does not parse as {}.",
                    language.as_str()
                )
            }
            EditError::OutOfTime => format!("The edit of `{path}` took too long and was stopped."),
        }
    }

    fn suggestion(&self) -> &'static str {
        match self {
            EditError::NoEdits => "Give at least one edit with `operation`, `spec` and `content`.",
            EditError::TooManyEdits { .. } => "Split the edits over several calls, or write the file anew.",
            EditError::EmptySpec { .. } => "Set `spec` to the text to be found.",
            EditError::TooLarge(Oversize::SyntaxText | Oversize::SyntaxDepth) => {
                "Use exact or regex mode for this file."
            }
            EditError::TooLarge(
                Oversize::Text
                | Oversize::Spec { .. }
                | Oversize::Content { .. }
                | Oversize::Matches
                | Oversize::Result,
            ) => "Make the edit smaller, or split it over several calls.",
            EditError::NoCaptures { .. } => "Use regex or ast mode, or leave `captures` at literal.",
            EditError::HiddenCapture { .. } => {
                "Match less, so that the redacted value stays where it is, or write the new text without it."
            }
            EditError::UnknownCapture { .. } => {
                "Name only what `spec` captures, or set `captures` to literal to write a dollar sign."
            }
            EditError::InvalidPattern { .. } => {
                "Correct the pattern, or use exact mode if `spec` is meant literally."
            }
            EditError::EmptyMatch { .. } => {
                "Change the pattern so that every match holds at least one character."
            }
            EditError::MatchCountDiffers { found: 0, .. } => {
                "Use read_file to see the exact text, then copy `spec` from it, blanks included."
            }
            EditError::MatchCountDiffers { .. } => {
                "Use count_matches to see them, then make `spec` longer or set `count`."
            }
            EditError::Overlap { .. } => "Join the overlapping edits into one.",
            EditError::UnsupportedLanguage => "Use exact or regex mode for this file.",
            EditError::NotParsable { .. } => "Use exact or regex mode, or repair the file first.",
            EditError::SyntaxBroken { .. } => {
                "Check that `content` is complete code for the place it goes to."
            }
            EditError::OutOfTime => "Use a simpler pattern, or exact mode.",
        }
    }

    fn details(&self) -> Option<Tree> {
        match self {
            EditError::MatchCountDiffers { edit, found, expected } => Some(Tree::map([
                ("edit", Tree::count(*edit)),
                ("found", Tree::count(*found)),
                ("expected", Tree::count(*expected)),
            ])),
            EditError::Overlap { first, second } => {
                Some(Tree::map([("first", Tree::count(*first)), ("second", Tree::count(*second))]))
            }
            EditError::EmptySpec { edit }
            | EditError::NoCaptures { edit }
            | EditError::UnknownCapture { edit, .. }
            | EditError::HiddenCapture { edit, .. }
            | EditError::InvalidPattern { edit, .. }
            | EditError::EmptyMatch { edit, .. } => Some(Tree::map([("edit", Tree::count(*edit))])),
            EditError::NoEdits
            | EditError::TooManyEdits { .. }
            | EditError::TooLarge(_)
            | EditError::UnsupportedLanguage
            | EditError::NotParsable { .. }
            | EditError::SyntaxBroken { .. }
            | EditError::OutOfTime => None,
        }
    }
}
