//! What must hold of every policy, whatever it says: more rules never allow more, order never matters, and a permit
//! opens one door.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use vambrace_policy::{Access, Decision, Effect, Epoch, ReadOutput};
use vambrace_types::{ByteLimit, ScopedPath};

use crate::agree::config;
use crate::question::{Call, Rule, Word, World, ask_crate, caller, decide, decide_action};
use crate::{generate, tool};

const WORLDS: u32 = 250;

fn calls() -> impl Strategy<Value = Vec<Call>> {
    vec(generate::call(), 1..16)
}

/// The second world is the first with one more restriction, so no answer may become laxer.
fn never_laxer(before: &World, after: &World, calls: &[Call]) -> Result<(), TestCaseError> {
    let (before, after) = (before.policy(), after.policy());
    for call in calls {
        let (was, is) = (ask_crate(&before, call), ask_crate(&after, call));
        prop_assert!(is.word >= was.word, "{was:?} became {is:?} for {call:?}");
    }
    Ok(())
}

proptest! {
    #![proptest_config(config(WORLDS))]

    #[test]
    fn the_order_of_rules_is_irrelevant(
        (world, shuffled) in (generate::world(), vec(generate::rule(), 2..7)).prop_flat_map(|(mut world, rules)| {
            world.rules = rules.clone();
            (Just(world), Just(rules).prop_shuffle())
        }),
        calls in calls(),
    ) {
        let (one, other) = (world.policy(), World { rules: shuffled, ..world.clone() }.policy());
        for call in &calls {
            prop_assert_eq!(ask_crate(&one, call), ask_crate(&other, call), "{:?}", call);
        }
    }

    #[test]
    fn one_more_rule_never_allows_more(
        world in generate::world(), rule in generate::rule(), at_front: bool, calls in calls(),
    ) {
        let mut stricter = world.clone();
        // An `allow` rule is no exception: it cannot lift what another rule, or the scope, says.
        let place = if at_front { 0 } else { stricter.rules.len() };
        stricter.rules.insert(place, rule);
        never_laxer(&world, &stricter, &calls)?;
    }

    #[test]
    fn a_deny_rule_for_everything_leaves_nothing(world in generate::world(), calls in calls()) {
        let mut stricter = world.clone();
        stricter.rules.push(Rule { tool: None, path: None, verdict: "deny" });
        let policy = stricter.policy();
        // Tools without an action end after role and mode, before rules are read.
        for call in calls.iter().filter(|call| !call.paths.is_empty()) {
            prop_assert_eq!(ask_crate(&policy, call).word, Word::Deny, "{:?}", call);
        }
    }

    #[test]
    fn one_more_block_pattern_never_allows_more(
        world in generate::world(), pattern in generate::block_pattern(), calls in calls(),
    ) {
        let mut stricter = world.clone();
        stricter.block_patterns.push(pattern);
        never_laxer(&world, &stricter, &calls)?;
    }

    #[test]
    fn stricter_settings_never_allow_more(world in generate::world(), calls in calls()) {
        let strict = World { isolation: "STRICT", ..world.clone() };
        let shared = World { isolation: "SHARED", ..world.clone() };
        never_laxer(&shared, &strict, &calls)?;
        let outside_only = World { shared_inside_own: false, ..world.clone() };
        let inside_too = World { shared_inside_own: true, ..world.clone() };
        never_laxer(&outside_only, &inside_too, &calls)?;
        let careless = World { on_known: "allow", on_pattern: "ask", ..world.clone() };
        let careful = World { on_known: "deny", on_pattern: "deny", ..world.clone() };
        never_laxer(&careless, &careful, &calls)?;
    }

    #[test]
    fn a_tighter_mode_never_allows_more(
        world in generate::world(),
        (tight, loose) in select(&[
            ("none", "read"), ("none", "command"), ("read", "write"), ("read", "command"), ("write", "all"),
            ("command", "all"), ("write", "write,command"), ("read", "read,write"),
        ][..]),
        calls in calls(),
    ) {
        let with = |mode: &str| World { mode: mode.to_owned(), ..world.clone() };
        never_laxer(&with(loose), &with(tight), &calls)?;
    }

    #[test]
    fn a_product_owner_never_gets_a_permit_that_changes(world in generate::world(), calls in calls()) {
        let policy = World { mode: "all".to_owned(), rules: Vec::new(), ..world }.policy();
        for mut call in calls {
            call.role = "product_owner";
            let capability = tool::capability(call.tool);
            if capability.effect() != Effect::Read {
                prop_assert!(policy.authorize(&caller(call.role), capability).is_err(), "{:?}", call);
            }
            // Straight to `decide`: a front end that forgot stage 4 must not be a way in.
            for writing in ["write_file", "edit_file", "delete_file", "create_directory"] {
                call.tool = writing;
                call.paths.push("src/x".to_owned());
                prop_assert_eq!(decide(&policy, &call).word, Word::Deny, "{:?}", call);
            }
        }
    }

    #[test]
    fn a_permit_redeems_only_with_its_own_epoch(own: u64, other: u64) {
        let policy = World::plain().policy_at(Epoch(own));
        for door in [own, other, own.wrapping_add(1), !own, 0, u64::MAX] {
            let action = ReadOutput { handle: "h".to_owned(), offset: 0, limit: ByteLimit::new(1) };
            let Decision::Allow(permit) = decide_action(&policy, &Call::of("read_output", None), action) else {
                panic!("a plain policy lets a stored output be read");
            };
            let opened = permit.redeem(Epoch(door));
            prop_assert_eq!(opened.is_ok(), door == own);
        }
    }

    #[test]
    fn no_dots_and_no_blocked_name_survive(world in generate::world(), calls in calls()) {
        let (bearings, scope) = (world.bearings(), world.scope());
        for text in calls.iter().flat_map(|call| &call.paths) {
            let Ok(path) = ScopedPath::parse(text, &bearings) else { continue };
            for name in path.components() {
                prop_assert!(!name.is_empty() && name != "." && name != ".." && !name.contains(['/', '\0']));
                if name.eq_ignore_ascii_case(".env") {
                    prop_assert!(scope.judge(&path, Access::Read).is_err(), "{:?}", text);
                }
            }
            prop_assert_eq!(ScopedPath::parse(&path.spelled(&bearings), &bearings), Ok(path), "{:?}", text);
        }
    }
}
