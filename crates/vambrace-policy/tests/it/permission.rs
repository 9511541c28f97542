//! Who may use memory: the rows of `testdata/permissions.tsv`, and random lists against a second, naive reading of
//! specification 001.

use proptest::prelude::*;
use vambrace_policy::{
    Capability, Decision, DeleteMemory, Epoch, Facts, MemoryReads, Permission, PermissionList, Policy,
    PolicySettings, SaveMemory, Saving, SearchMemory, Standing, UpdateMemory,
};
use vambrace_types::{AccessLevel, Caller, Door, ErrorCode, Role, ToolName};

use crate::question::World;

const TABLE: &str = include_str!("../../../../testdata/permissions.tsv");

fn unquoted(text: &str) -> String {
    if text == "\"\"" { String::new() } else { text.to_owned() }
}

fn list(column: &str) -> Vec<Permission> {
    let entries = column.split(',').filter(|entry| *entry != "-");
    entries
        .map(|entry| {
            let (value, access) = entry.rsplit_once('=').unwrap();
            let access = match access {
                "write" => AccessLevel::Write,
                "read" => AccessLevel::Read,
                other => panic!("no access {other}"),
            };
            Permission { value: unquoted(value), access }
        })
        .collect()
}

fn answer<G, R>(
    ruling: Result<G, R>,
    granted: fn(&G) -> String,
    refused: fn(&R) -> String,
) -> (bool, String) {
    match ruling {
        Ok(grant) => (true, granted(&grant)),
        Err(refusal) => (false, refused(&refusal)),
    }
}

fn policy(permissions: PermissionList) -> Policy {
    Policy::new(PolicySettings { permissions, ..World::plain().settings() }, Epoch(1))
}

/// What the whole policy says, for each of the four kinds of action.
#[track_caller]
fn check_decisions(
    policy: &Policy,
    caller: &Caller,
    (can_save, save): (bool, &str),
    (can_read, read): (bool, &str),
) {
    macro_rules! decided {
        ($tool:literal, $action:expr, $can:expr, $reason:expr) => {{
            let tool = ToolName::of($tool);
            match policy.decide(caller, &Standing::Free, &tool, $action, &Facts::default()) {
                Decision::Allow(_) => assert!($can, "{}: {caller:?}", $tool),
                Decision::Ask(_) => panic!("{}: nobody is asked", $tool),
                Decision::Deny(denial) => {
                    assert!(!$can, "{}: {denial:?}", $tool);
                    let error = denial.to_tool_error();
                    assert_eq!(error.code, ErrorCode::PermissionDenied);
                    assert_eq!(error.message, format!("⛔ Insufficient permissions. Reason: {}", $reason));
                }
            }
        }};
    }
    let content = || "we deploy on Tuesdays".to_owned();
    for saving in [Saving::Fact, Saving::Append, Saving::Overwrite] {
        decided!("save_to_memory", SaveMemory { content: content(), category: None, saving }, can_save, save);
    }
    decided!("update_memory", UpdateMemory { id: "1".to_owned(), content: content() }, can_save, save);
    decided!("delete_memory", DeleteMemory { id: "1".to_owned() }, can_save, save);
    decided!("search_memory", SearchMemory { query: Some(content()), limit: None }, can_read, read);
    decided!("memory_read", SearchMemory { query: None, limit: None }, can_read, read);
    assert_eq!(policy.authorize(caller, Capability::WriteMemory).is_ok(), can_save);
    assert_eq!(policy.authorize(caller, Capability::ReadMemory).is_ok(), can_read);
    // Nothing else is touched by the lists.
    assert!(policy.authorize(caller, Capability::ReadFiles).is_ok());
}

#[test]
fn every_row_of_the_table() {
    let rows = TABLE.lines().enumerate().filter(|(_, line)| !line.starts_with('#'));
    for (place, line) in rows {
        let columns: Vec<&str> = line.split('\t').collect();
        let [emails, groups, reads, role, email, of, can_save, save, can_read, read, note] = columns[..]
        else {
            panic!("line {}: {} columns", place + 1, columns.len());
        };
        let permissions = PermissionList {
            emails: list(emails),
            groups: list(groups),
            reads: match reads {
                "checked" => MemoryReads::Checked,
                "open" => MemoryReads::Open,
                other => panic!("no reads {other}"),
            },
        };
        let caller = Caller {
            email: (email != "-").then(|| unquoted(email)),
            groups: of.split(',').filter(|group| *group != "-").map(unquoted).collect(),
            ..Caller::named("someone", Role::parse(role).unwrap(), Door::Rest)
        };
        let expected = ((can_save == "yes", save.to_owned()), (can_read == "yes", read.to_owned()));
        let told = (
            answer(permissions.may_save(&caller), |grant| grant.text(), |refusal| refusal.text()),
            answer(permissions.may_read(&caller), |grant| grant.text(), |refusal| refusal.text()),
        );
        assert_eq!(told, expected, "line {}: {note}", place + 1);
        check_decisions(&policy(permissions), &caller, (expected.0.0, save), (expected.1.0, read));
    }
}

/// Specification 001's steps as they are written, without a thought for speed or words.
fn naive(
    emails: &[(String, bool)],
    groups: &[(String, bool)],
    open_reads: bool,
    read_role: bool,
    email: Option<&str>,
    of: &[String],
) -> (bool, bool) {
    let no_lists = emails.is_empty() && groups.is_empty();
    let folded = email.map(str::to_ascii_lowercase).filter(|email| !email.is_empty());
    let mut mine = Vec::new();
    for (value, writes) in emails {
        if folded.as_deref() == Some(value.to_ascii_lowercase().as_str()) {
            mine.push(*writes);
        }
    }
    let mut of_groups = Vec::new();
    for group in of.iter().filter(|group| !group.is_empty()) {
        let entries: Vec<bool> =
            groups.iter().filter(|(value, _)| value == group).map(|(_, writes)| *writes).collect();
        if !entries.is_empty() {
            of_groups.push(!entries.contains(&false));
        }
    }
    let saves = if read_role {
        false
    } else if no_lists {
        true
    } else if !mine.is_empty() {
        !mine.contains(&false)
    } else {
        of_groups.contains(&true)
    };
    let reads = no_lists || open_reads || !mine.is_empty() || !of_groups.is_empty();
    (saves, reads)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn two_readings_agree(
        emails in proptest::collection::vec(("[abAB]{0,2}", any::<bool>()), 0..4),
        groups in proptest::collection::vec(("[abAB]{0,2}", any::<bool>()), 0..4),
        open_reads: bool,
        role in 0..4_usize,
        email in proptest::option::of("[abAB]{0,2}"),
        of in proptest::collection::vec("[abAB]{0,2}", 0..4),
    ) {
        let entry = |(value, writes): &(String, bool)| Permission {
            value: value.clone(),
            access: if *writes { AccessLevel::Write } else { AccessLevel::Read },
        };
        let permissions = PermissionList {
            emails: emails.iter().map(entry).collect(),
            groups: groups.iter().map(entry).collect(),
            reads: if open_reads { MemoryReads::Open } else { MemoryReads::Checked },
        };
        let role = Role::ALL[role];
        let caller = Caller {
            email: email.clone(),
            groups: of.clone(),
            ..Caller::named("someone", role, Door::Rest)
        };
        let expected = naive(&emails, &groups, open_reads, role == Role::ProductOwner, email.as_deref(), &of);
        let told = (permissions.may_save(&caller).is_ok(), permissions.may_read(&caller).is_ok());
        prop_assert_eq!(told, expected);
        let policy = policy(permissions);
        let authorized = (
            policy.authorize(&caller, Capability::WriteMemory).is_ok(),
            policy.authorize(&caller, Capability::ReadMemory).is_ok(),
        );
        prop_assert_eq!(authorized, expected);
    }
}
