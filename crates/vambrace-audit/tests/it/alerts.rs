//! Violations become alerts, across processes, once per window.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use tempfile::TempDir;
use vambrace_audit::{DefenceAction, Outcome, Purpose, Standing, Verdict, ViolationKind, alerts, resume};

use crate::support::{StillClock, call, clock, denied, events, open, open_with};

use ViolationKind::{Scope, SsrfMetadata};

/// One call of a process of its own, as `vambrace call` makes it.
fn one_process(dir: &Path, action: DefenceAction, clock: &Arc<StillClock>, outcome: &Outcome) -> Vec<String> {
    let receipt = open_with(dir, action, clock).outcome(&call(1, "agent"), outcome).wait().unwrap();
    assert_eq!(receipt.warning(), None);
    receipt.alerts().to_vec()
}

#[test]
fn six_processes_in_a_minute_raise_the_alert_once() {
    let dir = TempDir::new().unwrap();
    let clock = clock();
    for _ in 0..5 {
        clock.pass(1000);
        assert!(one_process(dir.path(), DefenceAction::Alert, &clock, &denied(Scope)).is_empty());
    }
    assert_eq!(one_process(dir.path(), DefenceAction::Alert, &clock, &denied(Scope)), ["violations"]);
    for _ in 0..20 {
        clock.pass(1000);
        assert!(one_process(dir.path(), DefenceAction::Alert, &clock, &denied(Scope)).is_empty(), "no flood");
    }
    assert_eq!(alerts(dir.path()).unwrap().len(), 1);
    assert_eq!(events(dir.path()), ["alert_raised"]);
    let log = open(dir.path(), &clock);
    assert_eq!(log.standing("agent").unwrap(), Standing::Alerted);
    assert_eq!(log.standing("other").unwrap(), Standing::Free);
    // The next window has its own.
    clock.pass(45_000);
    let raised: Vec<Vec<String>> =
        (0..6).map(|_| one_process(dir.path(), DefenceAction::Alert, &clock, &denied(Scope))).collect();
    assert_eq!(raised.concat(), ["violations"]);
}

#[test]
fn suspension_lasts_until_a_release_which_resets_the_window() {
    let dir = TempDir::new().unwrap();
    let clock = clock();
    let raise = || -> Vec<String> {
        (0..6).flat_map(|_| one_process(dir.path(), DefenceAction::Suspend, &clock, &denied(Scope))).collect()
    };
    assert_eq!(raise(), ["violations"]);
    let log = open(dir.path(), &clock);
    let Standing::Suspended { by, .. } = log.standing("agent").unwrap() else { panic!("not suspended") };
    assert_eq!(by, "defence: violations");
    clock.pass(1);
    resume(dir.path(), "agent", "ann", clock.clone()).unwrap();
    assert_eq!(log.standing("agent").unwrap(), Standing::Free);
    clock.pass(1);
    for _ in 0..5 {
        assert!(one_process(dir.path(), DefenceAction::Suspend, &clock, &denied(Scope)).is_empty());
    }
    assert_eq!(one_process(dir.path(), DefenceAction::Suspend, &clock, &denied(Scope)), ["violations"]);
    assert_eq!(events(dir.path()), ["alert_raised", "suspended", "resumed", "alert_raised", "suspended"]);
}

#[test]
fn one_look_at_the_metadata_service_may_end_a_session() {
    let dir = TempDir::new().unwrap();
    let clock = clock();
    let log = open_with(dir.path(), DefenceAction::Terminate, &clock);
    let receipt = log.outcome(&call(1, "agent"), &denied(SsrfMetadata)).wait().unwrap();
    assert_eq!(receipt.alerts(), ["metadata"]);
    assert_eq!(log.standing("agent").unwrap(), Standing::Terminated);
}

#[test]
fn checks_questions_and_other_callers_do_not_count() {
    let dir = TempDir::new().unwrap();
    let clock = clock();
    let log = open(dir.path(), &clock);
    let mut check = call(1, "agent");
    check.purpose = Purpose::Check;
    for number in 0..20 {
        let _receipt = log.outcome(&check, &denied(Scope)).wait().unwrap();
        let asked = Outcome { verdict: Verdict::Ask, ..denied(Scope) };
        let _receipt = log.outcome(&call(2, "agent"), &asked).wait().unwrap();
        let _receipt = log.outcome(&call(3, &format!("agent{}", number % 4)), &denied(Scope)).wait().unwrap();
    }
    assert!(alerts(dir.path()).unwrap().is_empty());
    assert_eq!(log.standing("agent").unwrap(), Standing::Free);
}

#[test]
fn the_security_stream_has_the_members_of_the_specification() {
    let dir = TempDir::new().unwrap();
    let log = open(dir.path(), &clock());
    let _receipt = log.outcome(&call(1, "agent"), &denied(Scope)).wait().unwrap();
    let stream = fs::read_to_string(dir.path().join("security.jsonl")).unwrap();
    let expected = format!(
        "{{\"timestamp\":\"2023-11-14T22:13:20.000Z\",\"agent_id\":\"agent\",\"violation_type\":\"scope\",\
         \"target_path\":\"../b\",\"command_args\":null,\"call_id\":\"{}\"}}\n",
        call(1, "agent").call_id.as_str()
    );
    assert_eq!(stream, expected);
}

#[test]
fn a_stream_that_cannot_be_written_is_a_warning() {
    let dir = TempDir::new().unwrap();
    let log = open(dir.path(), &clock());
    fs::create_dir(dir.path().join("security.jsonl")).unwrap();
    let receipt = log.outcome(&call(1, "agent"), &denied(Scope)).wait().unwrap();
    assert!(receipt.warning().unwrap().contains("security.jsonl"));
}
