//! What is asked for. How it looks on the wire is the server's business; the words are here because they are part
//! of the tool's contract.

use crate::{EditError, Oversize, limits};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operation {
    Replace,
    AppendAfter,
    PrependBefore,
    Delete,
}

impl Operation {
    pub const ALL: [Operation; 4] =
        [Operation::Replace, Operation::AppendAfter, Operation::PrependBefore, Operation::Delete];

    pub fn as_str(self) -> &'static str {
        match self {
            Operation::Replace => "replace",
            Operation::AppendAfter => "append_after",
            Operation::PrependBefore => "prepend_before",
            Operation::Delete => "delete",
        }
    }

    pub fn parse(word: &str) -> Option<Operation> {
        Operation::ALL.into_iter().find(|operation| operation.as_str() == word)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MatchMode {
    /// The text itself, blanks included.
    Exact,
    /// A regular expression of the linear engine.
    Regex,
    /// A piece of code with `$NAME` and `$$$NAME` for what may vary.
    Ast,
}

impl MatchMode {
    pub const ALL: [MatchMode; 3] = [MatchMode::Exact, MatchMode::Regex, MatchMode::Ast];

    pub fn as_str(self) -> &'static str {
        match self {
            MatchMode::Exact => "exact",
            MatchMode::Regex => "regex",
            MatchMode::Ast => "ast",
        }
    }

    pub fn parse(word: &str) -> Option<MatchMode> {
        MatchMode::ALL.into_iter().find(|mode| mode.as_str() == word)
    }
}

/// What a `$` in the content means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Captures {
    /// A dollar sign.
    #[default]
    Literal,
    /// In regex mode `$1` and `${name}` are filled from the match and `$$` is a dollar sign; in syntax mode
    /// `$NAME` and `$$$NAME` are filled. Any other `$` is a dollar sign.
    Expand,
}

impl Captures {
    pub const ALL: [Captures; 2] = [Captures::Literal, Captures::Expand];

    pub fn as_str(self) -> &'static str {
        match self {
            Captures::Literal => "literal",
            Captures::Expand => "expand",
        }
    }

    pub fn parse(word: &str) -> Option<Captures> {
        Captures::ALL.into_iter().find(|captures| captures.as_str() == word)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    pub operation: Operation,
    pub mode: MatchMode,
    pub spec: String,
    /// Ignored by `Delete`.
    pub content: String,
    /// How many matches there must be.
    pub count: usize,
    pub captures: Captures,
}

impl Edit {
    /// Whether the content has places to be filled from each match.
    pub(crate) fn is_template(&self) -> bool {
        match (self.operation, self.captures) {
            (Operation::Delete, Captures::Literal | Captures::Expand) => false,
            (Operation::Replace | Operation::AppendAfter | Operation::PrependBefore, Captures::Literal) => {
                false
            }
            (Operation::Replace | Operation::AppendAfter | Operation::PrependBefore, Captures::Expand) => {
                true
            }
        }
    }
}

/// What can be refused without looking for a single match.
pub(crate) fn check(original: &str, edits: &[Edit]) -> Result<(), EditError> {
    if original.len() > limits::TEXT_BYTES {
        return Err(EditError::TooLarge(Oversize::Text));
    }
    if edits.is_empty() {
        return Err(EditError::NoEdits);
    }
    if edits.len() > limits::EDITS {
        return Err(EditError::TooManyEdits { n_edits: edits.len() });
    }
    let mut n_content = 0;
    for (place, edit) in edits.iter().enumerate() {
        if edit.spec.is_empty() {
            return Err(EditError::EmptySpec { edit: place });
        }
        if edit.spec.len() > limits::SPEC_BYTES {
            return Err(EditError::TooLarge(Oversize::Spec { edit: place }));
        }
        n_content += edit.content.len();
        if n_content > limits::TEXT_BYTES {
            return Err(EditError::TooLarge(Oversize::Content { edit: place }));
        }
        if edit.is_template() && edit.mode == MatchMode::Exact {
            return Err(EditError::NoCaptures { edit: place });
        }
        if edit.mode == MatchMode::Ast && original.len() > limits::SYNTAX_BYTES {
            return Err(EditError::TooLarge(Oversize::SyntaxText));
        }
    }
    Ok(())
}
