//! Proof that a line is on record. Only the log makes one.

use crate::chain::Hash;

/// A written outcome or event.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Receipt {
    pub(crate) seq: u64,
    pub(crate) hash: Hash,
    pub(crate) warning: Option<String>,
    pub(crate) alerts: Vec<String>,
}

impl Receipt {
    /// The place of the line in its segment, from one.
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// SHA-256 of the line, in hexadecimal.
    pub fn hash(&self) -> String {
        self.hash.to_hex()
    }

    /// What went wrong beside the record itself: the mirror, the security stream or the alert rules.
    pub fn warning(&self) -> Option<&str> {
        self.warning.as_deref()
    }

    /// The names of the alert rules that this line set off.
    pub fn alerts(&self) -> &[String] {
        &self.alerts
    }
}

/// An outcome that is part of the chain and may not be in its file yet; the log makes a receipt of it when it is.
#[derive(Debug)]
#[must_use]
pub struct NotedOutcome {
    pub(crate) ticket: u64,
    pub(crate) receipt: Receipt,
}

impl NotedOutcome {
    /// As the receipt's.
    pub fn alerts(&self) -> &[String] {
        self.receipt.alerts()
    }
}

/// An intent that is part of the chain and may not be in its file yet. Nobody is given hands for it.
#[derive(Debug)]
#[must_use]
pub struct NotedIntent {
    pub(crate) ticket: u64,
    pub(crate) receipt: IntentReceipt,
}

/// A written intent: what hands are given out for. Neither `Clone` nor constructible elsewhere.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub struct IntentReceipt {
    pub(crate) seq: u64,
    pub(crate) hash: Hash,
}

impl IntentReceipt {
    pub fn seq(&self) -> u64 {
        self.seq
    }

    pub fn hash(&self) -> String {
        self.hash.to_hex()
    }
}
