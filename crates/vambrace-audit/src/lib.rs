//! The record: what was asked, decided and done, written down before and after, in a form that shows tampering.
//!
//! This crate owns one folder and knows nothing of tools, policy or front ends. It takes only text that the redactor
//! has cleaned, and gives receipts that prove a line was written.
//!
//! ```text
//! <dir>/audit.key              the signing key, 0600
//! <dir>/audit.pub              the public key that a verifier pins
//! <dir>/segments.jsonl         the registry: every segment ever made, chained; its head is segments.head
//! <dir>/segments/NAME.jsonl    the records, one JSON object per line, each naming the hash of the line before
//! <dir>/segments/NAME.head     how long the segment was when it was last synced, signed
//! <dir>/security.jsonl         one line per violation (specification 004, section 7.2)
//! <dir>/alerts.jsonl           one line per alert
//! <dir>/standing.jsonl         who is stopped, and who was released
//! <dir>/approvals/             questions that wait for a person, one file each
//! ```
//!
//! LIMIT: whoever runs as the same user holds the key and can forge all of it, and a copy of the whole folder put
//! back later is older but intact. The chain shows what others, or an agent through the tools, did to it.
//!
//! LIMIT: lines are chained by a hash that needs no key; only heads are signed. So of the records behind the last head
//! (those of the last moments before a process was killed) some can be cut off, and others added that fit. The next
//! process that goes on there signs them, but first puts on record how many they were (`adopted`), and `verify` names
//! every such place for ever.

mod alert;
mod approval;
mod chain;
mod clock;
mod disk;
mod entry;
mod error;
mod event;
mod export;
mod fields;
mod key;
mod line;
mod log;
mod mirror;
mod moment;
mod read;
mod receipt;
mod registry;
mod scan;
mod security;
mod segment;
mod standing;
mod subject;
mod switch;
#[cfg(test)]
mod testing;
mod verify;
mod violation;
mod words;
mod writer;

pub use alert::{AlertRule, AlertSettings, DefenceAction};
pub use approval::{
    AnswerError, Approvals, Binding, Ignored, MOST_WAITING, MOST_WAITING_OF_ONE, NewQuestion, Question,
    QuestionState,
};
pub use clock::{Clock, SystemClock};
pub use disk::open_to_everybody;
pub use entry::{CallEntry, Intent, Outcome, Purpose};
pub use error::AuditError;
pub use event::{Event, EventKind};
pub use export::{View, export};
pub use fields::FIELDS;
pub use log::{AuditLog, AuditSettings};
pub use moment::{stamp as local_stamp, text as rfc3339};
pub use read::{AlertRecord, Entry, Filter, MarkEntry, Record, alerts, list, show};
pub use receipt::{IntentReceipt, Receipt, Recording};
pub use standing::{BareStanding, Standing, Stopped, stopped};
pub use subject::of_caller as counted_as;
pub use switch::{EVERYONE, Released, Thrown, resume, stop};
pub use verify::{Broken, OpenIntent, VerifyReport, verify};
pub use violation::{Violation, ViolationKind};
pub use words::{Ending, RecordKind, Severity, Verdict};
