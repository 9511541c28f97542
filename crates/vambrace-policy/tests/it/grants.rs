//! Which hosts a permitted job is granted, and that no other policy's permit is granted any.

use std::time::Duration;

use vambrace_policy::url::{AllowEntry, ProgramGrant};
use vambrace_policy::{Decision, Epoch, Facts, Permit, Policy, PolicySettings, RunTyped, Standing};
use vambrace_types::{Caller, Door, Role, ScopedPath, ToolName};

use crate::question::{EPOCH, World};

fn policy_at(epoch: Epoch) -> Policy {
    let entry = |text: &str| AllowEntry::parse(text).unwrap();
    let grants = vec![
        ProgramGrant { entry: entry("all.example"), programs: Vec::new() },
        ProgramGrant { entry: entry("git.example"), programs: vec!["git".to_owned()] },
    ];
    Policy::new(PolicySettings { grants, ..World::plain().settings() }, epoch)
}

fn typed(policy: &Policy, program: &str, hosts: &[&str]) -> Permit<RunTyped> {
    let action = RunTyped {
        program: program.to_owned(),
        arguments: Vec::new(),
        folder: ScopedPath::from_components(Vec::new()).unwrap(),
        time: Some(Duration::from_secs(1)),
        writable: Vec::new(),
        hosts: hosts.iter().map(|host| AllowEntry::parse(host).unwrap()).collect(),
    };
    let caller = Caller::local(Role::parse("dev").unwrap(), Door::Terminal);
    let facts = Facts::default();
    match policy.decide(&caller, &Standing::Free, &ToolName::of("bash_command"), action, &facts) {
        Decision::Allow(permit) => permit,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn check(decided_by: Epoch, program: &str, hosts: &[&str], expected: &[&str]) {
    let permit = typed(&policy_at(decided_by), program, hosts);
    let granted = policy_at(EPOCH).grants(&permit);
    let found: Vec<String> = granted.entries().iter().map(|entry| entry.host.to_string()).collect();
    assert_eq!(found, expected, "{program} {hosts:?}");
    assert_eq!((granted.is_empty(), granted.epoch()), (expected.is_empty(), EPOCH));
}

#[test]
fn a_permit_is_granted_what_is_listed_for_its_programs() {
    check(EPOCH, "make", &[], &["all.example"]);
    check(EPOCH, "git", &[], &["all.example", "git.example"]);
    check(EPOCH, "/usr/bin/git", &["a.example"], &["all.example", "git.example", "a.example"]);
    check(EPOCH, "git-x", &["a.example"], &["all.example", "a.example"]);
}

#[test]
fn a_permit_of_another_policy_is_granted_nothing() {
    check(Epoch(EPOCH.0 + 1), "git", &["a.example"], &[]);
}

#[test]
fn nobody_is_one_name_that_does_not_exist() {
    let granted = policy_at(EPOCH).grants_nobody();
    let entry = AllowEntry::parse("proxy.invalid").unwrap();
    assert_eq!((granted.entries(), granted.epoch()), ([entry].as_slice(), EPOCH));
}
