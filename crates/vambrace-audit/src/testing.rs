//! Calls to put on record, for the tests inside this crate.

use std::sync::LazyLock;

use vambrace_types::{
    CallId, Caller, Door, Enforcement, ErrorCode, Role, Secret, SessionId, Timestamp, ToolName, Tree,
};

use crate::entry::{CallEntry, Intent, Outcome, Purpose};
use crate::violation::{Violation, ViolationKind};
use crate::words::{Ending, Severity, Verdict};
use vambrace_redact::{
    FingerprintKey, KnownValue, Mark, Marking, RedactedText, RedactedTree, Redactor, RedactorSettings,
};

static REDACTOR: LazyLock<Redactor> = LazyLock::new(|| Redactor::new(RedactorSettings::default()).unwrap());

pub(crate) fn text(text: &str) -> RedactedText {
    REDACTOR.text(text).value
}

pub(crate) fn tree(tree: Tree) -> RedactedTree {
    REDACTOR.plain_tree(tree).value
}

pub(crate) fn call(input: Tree) -> CallEntry {
    CallEntry {
        call_id: CallId::new(Timestamp::from_millis(0), [1; 10]),
        session_id: SessionId::parse("s").unwrap(),
        caller: Caller::local(Role::Dev, Door::McpStdio),
        address: None,
        request_id: None,
        tool: ToolName::of("write_file"),
        input: tree(input),
        reason: None,
        dry_run: false,
        purpose: Purpose::Call,
        volume: None,
    }
}

pub(crate) fn intent() -> Intent {
    Intent {
        plan: RedactedTree::null(),
        rule: "r".to_owned(),
        enforcement: Enforcement::Full,
        severity: Severity::Info,
        checkpoint: None,
    }
}

pub(crate) fn outcome() -> Outcome {
    Outcome {
        verdict: Verdict::Deny,
        rule: "r".to_owned(),
        ending: Ending::Denied,
        error: Some((ErrorCode::OutsideScope, text("no"))),
        result: RedactedTree::null(),
        duration_ms: 1,
        redactions: 0,
        marks: Vec::new(),
        truncated: false,
        enforcement: Enforcement::None,
        severity: Severity::Warning,
        checkpoint: Some("c0ffee".to_owned()),
        further: Vec::new(),
        violation: Some(Violation {
            kind: ViolationKind::Scope,
            target: text("../b"),
            command_args: Some(text("rm -r")),
        }),
    }
}

/// So many different secrets under the longest name there is.
pub(crate) fn marks(n_secrets: usize) -> Vec<Mark> {
    let known = (0..n_secrets).map(|n| KnownValue {
        name: format!("{}{n:03}", "X".repeat(57)),
        value: Secret::new(format!("made-up-value-{n:03}-")),
    });
    let settings = RedactorSettings {
        known: known.collect(),
        marking: Marking::Numbered,
        key: Some(FingerprintKey::new(Secret::new(vec![7; 32]))),
        ..RedactorSettings::default()
    };
    let redactor = Redactor::new(settings).unwrap();
    for n in 0..n_secrets {
        redactor.text(&format!("made-up-value-{n:03}-"));
    }
    redactor.marked()
}
