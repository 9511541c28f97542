//! The answer to a call. Front ends render it; only the walk makes it, and only with a receipt.

use vambrace_audit::{AuditError, Receipt};
use vambrace_redact::{RedactedText, RedactedTree};
use vambrace_tools::{Reading, Tense};
use vambrace_types::{ErrorCode, Metadata, Status, Timestamp};

pub use vambrace_policy::{Answerer, Verdict};

/// Proof of the outcome line, or why there is none.
#[derive(Debug)]
pub(crate) enum Recorded {
    Yes(#[expect(dead_code, reason = "held as the proof; nobody needs to look inside")] Receipt),
    No(#[expect(dead_code, reason = "held as the proof that writing was tried")] String),
}

impl Recorded {
    pub(crate) fn no(error: &AuditError) -> Recorded {
        Recorded::No(error.to_string())
    }
}

/// INVARIANT: every text in it has been redacted, and its outcome was handed to the record first.
#[derive(Debug)]
pub struct Reply {
    pub(crate) status: Status,
    pub(crate) data: RedactedTree,
    pub(crate) error: Option<ReplyError>,
    pub(crate) metadata: Metadata,
    pub(crate) verdict: Verdict,
    pub(crate) rule: RedactedText,
    pub(crate) tool: String,
    pub(crate) reading: Reading,
    pub(crate) ticket: Option<Ticket>,
    #[expect(dead_code, reason = "a reply proves its audit line by holding the receipt")]
    pub(crate) recorded: Recorded,
}

/// Where a question waits for a person, when the call needs one.
#[derive(Debug, Clone)]
pub struct Ticket {
    pub id: String,
    pub question: RedactedText,
    pub expires_at: Timestamp,
    /// Whose yes is enough.
    pub answerer: Answerer,
}

#[derive(Debug, Clone)]
pub struct ReplyError {
    pub code: ErrorCode,
    pub message: RedactedText,
    pub suggestion: RedactedText,
    pub details: Option<RedactedTree>,
}

impl Reply {
    pub fn status(&self) -> Status {
        self.status
    }

    pub fn data(&self) -> &RedactedTree {
        &self.data
    }

    pub fn error(&self) -> Option<&ReplyError> {
        self.error.as_ref()
    }

    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// What was decided, apart from how it went.
    pub fn verdict(&self) -> Verdict {
        self.verdict
    }

    /// The rule that decided, and where it was set.
    pub fn rule(&self) -> &RedactedText {
        &self.rule
    }

    /// The question that has to be answered before the same call is done; only with the verdict `Ask`.
    pub fn ticket(&self) -> Option<&Ticket> {
        self.ticket.as_ref()
    }

    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// The data as text, in the tool's own words.
    pub fn write_data(&self, out: &mut String) {
        let tense = if self.metadata.dry_run { Tense::Would } else { Tense::Done };
        self.reading.write(self.data.as_tree(), tense, out);
    }

    /// Whether the result is an error to the model, although the tool did its work.
    pub fn is_failure(&self) -> bool {
        self.reading.is_failure(self.data.as_tree())
    }

    /// Whether the text of a dry run says that it is one.
    pub fn tells_dry_run(&self) -> bool {
        self.reading.tells_dry_run()
    }
}
