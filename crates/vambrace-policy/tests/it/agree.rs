//! The crate and the reference, asked the same random questions: same word, same code.

use std::cell::RefCell;
use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use crate::question::{Word, ask_crate};
use crate::{generate, reference};

/// A policy is dear to build and cheap to ask, so each world answers many calls.
const WORLDS: u32 = 900;
const MOST_CALLS: usize = 60;
const FEWEST_COMPARED: usize = 20_000;

#[test]
fn the_crate_and_the_reference_agree() {
    let asked = RefCell::new(BTreeMap::<String, usize>::new());
    let mut runner = TestRunner::new(config(WORLDS));
    let question = (generate::world(), vec(generate::call(), 1..MOST_CALLS));
    let result = runner.run(&question, |(world, calls)| {
        let policy = world.policy();
        for call in &calls {
            let ours = ask_crate(&policy, call);
            prop_assert_eq!(
                &ours,
                &reference::answer(&world, call),
                "crate left, reference right, on {:?}",
                call
            );
            let key = if ours.word == Word::Allow { "allowed".to_owned() } else { ours.code };
            *asked.borrow_mut().entry(key).or_default() += 1;
        }
        Ok(())
    });
    if let Err(disagreement) = result {
        panic!("{disagreement}");
    }
    // A generator that never reaches a rule proves nothing about it.
    let asked = asked.into_inner();
    let n_compared: usize = asked.values().sum();
    println!("{n_compared} calls compared: {asked:?}");
    assert!(n_compared >= FEWEST_COMPARED);
    for code in [
        "allowed",
        "ApprovalRequired",
        "BlockedPath",
        "InvalidPath",
        "OutsideScope",
        "PathOutsideProject",
        "PermissionDenied",
        "PlaceholderInWrite",
        "ProtectedPath",
        "ReadOnlyPath",
        "RuleDenied",
        "SecretInWrite",
        "Suspended",
    ] {
        assert!(asked.get(code).copied().unwrap_or(0) >= 10, "{code} was hardly reached: {asked:?}");
    }
}

/// Failures are printed, not kept in files: a test leaves nothing in the tree.
pub(crate) fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}
