//! What holds for rules of any text, and that the built-in ones are in order.

use vambrace_types::{Bearings, ScopedPath};

use super::*;
use crate::command::judge::judge_with;
use crate::command::list::Listed;
use crate::command::{CommandPlan, CommandPolicy, CommandSettings};
use crate::{HardLinks, Isolation, Scope, ScopeSettings, Symlinks};

fn allowed(rules: &RuleSet, words: &str) -> bool {
    let scope = Scope::new(ScopeSettings {
        bearings: Bearings::new(&["/w"], "", &[]),
        isolation: Isolation::Strict,
        block_patterns: Vec::new(),
        shared_inside_own: false,
        symlinks: Symlinks::Inside,
        hard_links: HardLinks::ReadOnly,
    })
    .unwrap();
    let mut all = words.split(' ').map(str::to_owned);
    let program = all.next().unwrap();
    let listed = Listed::built_in([program.as_str()].into_iter());
    let policy = CommandPolicy::with(CommandSettings::default(), listed);
    let plan = CommandPlan::vector(&program, &all.collect::<Vec<_>>());
    let folder = ScopedPath::from_components(Vec::new()).unwrap();
    judge_with(rules, &policy, words, &plan, &scope, &folder).is_ok()
}

fn load(text: &str) -> RuleSet {
    RuleSet::load(&[("test.rules", text)])
}

const LINES: [&str; 8] = [
    "flags -a -b --all",
    "value number -n --lines",
    "value read -f",
    "optional text --color",
    "operands pattern read*",
    "operands-with -e : read*",
    "value text -e",
    "allow x y\ndeny x --no",
];

const CALLS: [&str; 18] = [
    "x y",
    "x -ab y z",
    "x -n 5 y",
    "x -n5 y",
    "x -nz y",
    "x --lines=5 y",
    "x --line=5 y",
    "x -f z y",
    "x -f /etc/x y",
    "x --color y",
    "x --color=z y",
    "x -e /etc/x z",
    "x y /etc/x",
    "x -- -q",
    "x -q",
    "x",
    "x --all=1 y",
    "x -an 3 y",
];

#[test]
fn the_built_in_rules_hold_together() {
    let faults = &RULES.errors;
    let shown: Vec<String> =
        faults.iter().map(|f| format!("{}: {}: {}", f.program, f.place, f.problem)).collect();
    assert!(shown.is_empty(), "{} faults\n{}", shown.len(), shown.join("\n"));
    assert!(check_rules().is_ok_and(|n_examples| n_examples > 500));
}

#[test]
fn the_order_of_lines_does_not_matter() {
    let verdicts = |lines: &[&str]| -> Vec<bool> {
        let rules = load(&format!("program x\n{}", lines.join("\n")));
        assert_eq!(rules.errors, []);
        CALLS.iter().map(|call| allowed(&rules, call)).collect()
    };
    let straight = verdicts(&LINES);
    assert!(straight.contains(&true) && straight.contains(&false));
    let mut turned = LINES;
    for _ in 0..LINES.len() {
        turned.rotate_left(1);
        assert_eq!(verdicts(&turned), straight);
    }
    turned.reverse();
    assert_eq!(verdicts(&turned), straight);
}

#[test]
fn a_line_that_refuses_never_widens() {
    let text = format!("program x\n{}", LINES.join("\n"));
    let rules = load(&text);
    for line in [
        "refuse -n : because",
        "refuse -e --color : because",
        "require -a",
        "operands none?",
        "no-options\noperands none*",
        "words y",
        "value none -f",
        "subcommands",
    ] {
        let tighter = load(&format!("{text}\n{line}"));
        let widened = CALLS.iter().find(|call| allowed(&tighter, call) && !allowed(&rules, call));
        assert_eq!(widened, None, "{line}");
        assert!(
            CALLS.iter().any(|call| allowed(&rules, call) && !allowed(&tighter, call)),
            "{line} did nothing"
        );
    }
}

#[track_caller]
fn check_broken(text: &str, problem: &str) {
    let rules = load(text);
    assert!(rules.errors.iter().any(|error| error.problem.contains(problem)), "{:?}", rules.errors);
    assert!(rules.is_broken("x") && !allowed(&rules, "x"), "{text}");
    assert_eq!(rules.programs().count(), 0);
}

#[test]
fn rules_that_do_not_hold_refuse_the_program_whole() {
    check_broken("program x\nallow x\ndeny x", "it should be refused and is allowed");
    check_broken("program x\nallow x y\ndeny x z", "it should be allowed and is refused");
    check_broken("program x\nallow x", "it needs an example");
    check_broken("program x\nflag -a\nallow x\ndeny x y", "no line begins with `flag`");
    check_broken("program x\nvalue path -a\nallow x\ndeny x y", "no kind `path`");
    check_broken("program x\noperands read* read*\nallow x\ndeny x -y", "only one kind may repeat");
    check_broken("program x\nlike z\nallow x\ndeny x y", "no block `z`");
    check_broken("program x\nallow x\ndeny x y\nprogram x\nallow x\ndeny x y", "two blocks");
    check_broken("program x\nflags a\nallow x\ndeny x y", "`a` is no option");
    check_broken("program x y\nallow x y\ndeny x y z\nflugs", "no line begins with `flugs`");
}

#[test]
fn a_subcommand_has_a_way_to_it_and_no_way_round_it() {
    let rules = load(
        "program x a b\nflags -q\nallow x a b -q\ndeny x a b c\nprogram x\nflags -v\nallow x -v\ndeny x -q",
    );
    assert_eq!(rules.errors, []);
    for (call, expected) in [
        ("x a b", true),
        ("x -v a b -q", true),
        ("x a", false),
        ("x a c", false),
        ("x b", false),
        ("x", false),
    ] {
        assert_eq!(allowed(&rules, call), expected, "{call}");
    }
}
