//! What readers see: lists, one call, the mirror, and the forms of the specifications.

use std::fs;
use std::os::unix::fs::symlink;

use jiff::tz::TimeZone;
use tempfile::TempDir;
use vambrace_audit::{
    AuditLog, AuditSettings, CallEntry, Event, EventKind, Filter, Outcome, RecordKind, Severity, Verdict,
    View, ViolationKind, export, list, show,
};
use vambrace_types::{Timestamp, Tree};

use crate::support::{START, call, clock, denied, intent, open, settings, success, text, tree};

/// The local form of the still clock's time.
fn local() -> String {
    let time = jiff::Timestamp::from_millisecond(START).unwrap();
    time.to_zoned(TimeZone::system()).strftime("%Y%m%d_%H%M%S").to_string()
}

fn exported(dir: &std::path::Path, view: View) -> String {
    let mut out = Vec::new();
    let n_lines = export(dir, view, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert_eq!(text.lines().count() as u64, n_lines);
    text
}

fn recorded() -> TempDir {
    let dir = TempDir::new().unwrap();
    let log = open(dir.path(), &clock());
    let mut first = call(1, "ann@example.com");
    first.caller.email = Some("ann@example.com".to_owned());
    first.caller.groups = vec!["devops".to_owned()];
    let _intent = log.intent(&first, &intent()).wait().unwrap();
    let done = Outcome { checkpoint: Some("c0ffee".to_owned()), ..success() };
    let _receipt = log.outcome(&first, &done).wait().unwrap();
    let _receipt = log.outcome(&call(2, "agent"), &denied(ViolationKind::Scope)).wait().unwrap();
    let _receipt = log
        .event(&Event {
            kind: EventKind::Started,
            severity: Severity::Info,
            caller: None,
            by: None,
            call_id: None,
            message: text("started"),
            details: tree(Tree::map([("weaker", Tree::List(vec![Tree::text("audit.on_failure")]))])),
        })
        .wait()
        .unwrap();
    dir
}

#[test]
fn the_form_of_specification_002() {
    let dir = recorded();
    let time = local();
    let expected = format!(
        "{{\"timestamp\":\"{time}\",\"tool\":\"read_file\",\"input\":{{\"path\":\"src/main.rs\"}},\
         \"result\":{{\"bytes\":12}},\"success\":true,\"duration_ms\":7,\"conversation_id\":\"thread-1\",\
         \"dry_run\":false,\"error\":\"\",\"git_commit\":\"c0ffee\"}}\n\
         {{\"timestamp\":\"{time}\",\"tool\":\"read_file\",\"input\":{{\"path\":\"src/main.rs\"}},\
         \"result\":{{}},\"success\":false,\"duration_ms\":7,\"conversation_id\":\"thread-1\",\
         \"dry_run\":false,\"error\":\"The path `../b` is outside the scope.\"}}\n"
    );
    assert_eq!(exported(dir.path(), View::Seed002), expected);
}

#[test]
fn the_form_of_specification_004() {
    let dir = recorded();
    let expected = "{\"timestamp\":\"2023-11-14T22:13:20.000Z\",\"agent_id\":\"agent\",\"violation_type\":\"scope\",\
                    \"target_path\":\"../b\",\"command_args\":null}\n";
    assert_eq!(exported(dir.path(), View::Seed004), expected);
}

#[test]
fn the_form_of_specification_001() {
    let dir = recorded();
    let expected = "{\"timestamp\":\"2023-11-14T22:13:20.000Z\",\"level\":\"INFO\",\
        \"message\":\"read_file permission granted\",\"caller_id\":\"ann@example.com\",\
        \"user_email\":\"ann@example.com\",\"user_groups\":[\"devops\"],\"can_save\":true,\
        \"permission_reason\":\"role dev\",\"session_id\":\"thread-1\"}";
    let text = exported(dir.path(), View::Seed001);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], expected);
    assert!(
        lines[1].contains("\"level\":\"WARN\",\"message\":\"read_file BLOCKED: insufficient permissions\"")
    );
    assert!(lines[1].contains("\"can_save\":false"));
}

#[test]
fn the_whole_record_is_exported_as_it_stands() {
    let dir = recorded();
    let file = &crate::support::segments(dir.path())[0];
    assert_eq!(exported(dir.path(), View::Full), fs::read_to_string(file).unwrap());
}

#[test]
fn the_mirror_is_the_same_and_is_ignored_by_git() {
    let (dir, workspace) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let folder = workspace.path().join(".vambrace");
    let settings = AuditSettings { mirror: Some(folder.clone()), ..settings(dir.path()) };
    let log = AuditLog::open(settings, clock()).unwrap();
    for (number, outcome) in [(1, success()), (2, denied(ViolationKind::Scope))] {
        let receipt = log.outcome(&call(number, "agent"), &outcome).wait().unwrap();
        assert_eq!(receipt.warning(), None);
    }
    let mirror = folder.join("tool_log.jsonl");
    assert_eq!(fs::read_to_string(&mirror).unwrap(), exported(dir.path(), View::Seed002));
    assert_eq!(fs::read_to_string(folder.join(".gitignore")).unwrap(), "*\n!secrets-baseline.json\n");

    // The file stays open between calls, but its name is what counts.
    let remade = |away: &dyn Fn()| {
        away();
        let receipt = log.outcome(&call(3, "agent"), &success()).wait().unwrap();
        assert_eq!(receipt.warning(), None);
        assert_eq!(fs::read_to_string(&mirror).unwrap().lines().count(), 1);
    };
    let aside = workspace.path().join("aside");
    remade(&|| fs::remove_file(&mirror).unwrap());
    remade(&|| fs::rename(&mirror, &aside).unwrap());
    remade(&|| fs::rename(&folder, workspace.path().join("old")).unwrap());
    remade(&|| fs::write(&mirror, "").unwrap());

    // THREAT: the agent lives in the workspace and may plant links.
    let target = workspace.path().join("target");
    fs::write(&target, "").unwrap();
    let warned = |expected: &str| {
        let receipt = log.outcome(&call(3, "agent"), &success()).wait().unwrap();
        let warning = receipt.warning().unwrap_or_default();
        assert!(warning.contains(expected), "{warning}");
        assert_eq!(fs::read_to_string(&target).unwrap(), "");
    };
    fs::hard_link(&mirror, workspace.path().join("second name")).unwrap();
    warned("one name");
    fs::remove_file(&mirror).unwrap();
    symlink(&target, &mirror).unwrap();
    warned("tool_log.jsonl");
    fs::remove_file(&mirror).unwrap();
    fs::hard_link(&target, &mirror).unwrap();
    warned("one name");
    fs::remove_dir_all(&folder).unwrap();
    symlink(workspace.path(), &folder).unwrap();
    warned("tool_log.jsonl");
}

#[test]
fn the_mirror_of_a_flood_is_whole_and_in_order() {
    let (dir, workspace) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let folder = workspace.path().join(".vambrace");
    let mirror = folder.join("tool_log.jsonl");
    let settings = AuditSettings { mirror: Some(folder.clone()), ..settings(dir.path()) };
    let log = AuditLog::open(settings, clock()).unwrap();
    for number in 1..=1000 {
        let receipt = log.outcome(&call(number, "agent"), &success()).wait().unwrap();
        assert_eq!(receipt.warning(), None);
        // The first are there at once.
        if number <= 20 {
            assert_eq!(fs::read_to_string(&mirror).unwrap().lines().count() as u64, number);
        }
    }
    drop(log);
    assert_eq!(fs::read_to_string(&mirror).unwrap(), exported(dir.path(), View::Seed002));
}

#[test]
fn lines_of_a_flood_that_are_lost_are_told_once() {
    let (dir, workspace) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let folder = workspace.path().join(".vambrace");
    let settings = AuditSettings { mirror: Some(folder.clone()), ..settings(dir.path()) };
    let log = AuditLog::open(settings, clock()).unwrap();
    let warning = || log.outcome(&call(1, "agent"), &success()).wait().unwrap().warning().map(str::to_owned);
    // The clock stands still, so all of them come at once, and what comes after the first ones waits.
    assert!((0..100).all(|_| warning().is_none()));
    log.seal().unwrap();
    assert_eq!(fs::read_to_string(folder.join("tool_log.jsonl")).unwrap().lines().count(), 100);
    fs::rename(&folder, workspace.path().join("old")).unwrap();
    symlink(workspace.path(), &folder).unwrap();
    let mut told = warning();
    log.seal().unwrap();
    // The cause is gone before anybody is there to hear of it.
    fs::remove_file(&folder).unwrap();
    told = told.or_else(&warning);
    assert!(told.unwrap_or_default().contains("tool_log.jsonl"));
    assert_eq!(warning(), None);
    drop(log);
    assert!(fs::read_to_string(folder.join("tool_log.jsonl")).unwrap().lines().count() >= 1);
}

#[test]
fn lists_are_filtered_and_oldest_first() {
    let dir = TempDir::new().unwrap();
    let clock = clock();
    let (late, early) = (open(dir.path(), &clock), open(dir.path(), &clock));
    for number in 0..4 {
        clock.pass(10);
        let log = if number % 2 == 0 { &early } else { &late };
        let outcome = if number == 3 { denied(ViolationKind::Scope) } else { success() };
        let _receipt =
            log.outcome(&call(number, if number < 2 { "a" } else { "b" }), &outcome).wait().unwrap();
    }
    let _intent = early.intent(&call(9, "b"), &intent()).wait().unwrap();
    let check = |filter: Filter, expected: &[u64]| {
        let found: Vec<String> =
            list(dir.path(), &filter).unwrap().into_iter().filter_map(|entry| entry.call_id).collect();
        let expected: Vec<String> =
            expected.iter().map(|n| call(*n, "").call_id.as_str().to_owned()).collect();
        assert_eq!(found, expected, "{filter:?}");
    };
    check(Filter::default(), &[0, 1, 2, 3, 9]);
    check(Filter { last: Some(2), ..Filter::default() }, &[3, 9]);
    check(Filter { caller: Some("a".to_owned()), ..Filter::default() }, &[0, 1]);
    check(Filter { owner: Some("a".to_owned()), ..Filter::default() }, &[0, 1]);
    check(Filter { verdict: Some(Verdict::Deny), ..Filter::default() }, &[3]);
    check(Filter { tool: Some("write_file".to_owned()), ..Filter::default() }, &[]);
    check(Filter { since: Some(Timestamp::from_millis(START + 30)), ..Filter::default() }, &[2, 3, 9]);
    let open = list(dir.path(), &Filter { last: Some(1), ..Filter::default() }).unwrap();
    assert_eq!(open[0].kind, RecordKind::Intent, "an intent without an outcome is listed");
}

#[test]
fn people_behind_one_caller_are_told_apart() {
    let dir = TempDir::new().unwrap();
    let log = open(dir.path(), &clock());
    let long = format!("https://id.example.com/{} \"1\"", "x".repeat(280));
    let people = [
        (None, None, None),
        (Some("U1"), None, None),
        (Some("U2"), None, None),
        (None, Some("ann@example.com"), None),
        (None, None, Some("https://id.example.com 1")),
        (None, None, Some("https://id.example.com 2")),
        (None, None, Some(long.as_str())),
    ];
    let entries: Vec<CallEntry> = (0..)
        .zip(people)
        .map(|(number, (user, email, subject))| {
            let mut entry = call(number, "bridge");
            entry.caller.user = user.map(str::to_owned);
            entry.caller.email = email.map(str::to_owned);
            entry.caller.subject = subject.map(str::to_owned);
            entry
        })
        .collect();
    for entry in &entries {
        let _receipt = log.outcome(entry, &success()).wait().unwrap();
    }
    for entry in &entries {
        let owner = Some(entry.caller.owner());
        let own = list(dir.path(), &Filter { owner: owner.clone(), ..Filter::default() }).unwrap();
        let ids: Vec<Option<&str>> = own.iter().map(|entry| entry.call_id.as_deref()).collect();
        assert_eq!(ids, [Some(entry.call_id.as_str())], "{owner:?}");
        let shown = show(dir.path(), entry.call_id.as_str()).unwrap();
        assert!(shown.iter().all(|record| record.owner == owner), "{shown:?}");
    }
}

#[test]
fn one_call_is_shown_whole() {
    let dir = recorded();
    let records = show(dir.path(), call(1, "").call_id.as_str()).unwrap();
    assert_eq!(records.iter().map(|record| record.line).collect::<Vec<_>>(), [1, 2]);
    assert!(records[0].json.contains("\"kind\":\"intent\""));
    assert!(records[1].json.contains("\"volume\":42"));
    assert!(show(dir.path(), "call_0").unwrap().is_empty());
}
