//! What we accept, another parser accepts too, with as many programs, words and redirects.

use brush_parser::ast::{AndOr, Command, CommandPrefixOrSuffixItem, Program};
use brush_parser::{Parser, ParserOptions};

use crate::command_line::{TABLE, read, written};
use crate::command_line_generate::{Dice, sensible, soup};

/// Words and redirects of each program.
type Counts = Vec<(usize, usize)>;

fn ours(line: &str) -> Option<Counts> {
    let plan = read(line).ok()?;
    Some(plan.simples().map(|simple| (simple.words.len(), simple.redirects.len())).collect())
}

fn count(command: &Command) -> (usize, usize) {
    let Command::Simple(simple) = command else { panic!("not a plain program: {command:?}") };
    let before = simple.prefix.iter().flat_map(|prefix| prefix.0.iter());
    let after = simple.suffix.iter().flat_map(|suffix| suffix.0.iter());
    let mut counts = (usize::from(simple.word_or_name.is_some()), 0);
    for item in before.chain(after) {
        match item {
            CommandPrefixOrSuffixItem::IoRedirect(_) => counts.1 += 1,
            CommandPrefixOrSuffixItem::Word(_) => counts.0 += 1,
            // An argument that looks like an assignment is one word; before the program there is none.
            CommandPrefixOrSuffixItem::AssignmentWord(_, _) => counts.0 += 1,
            CommandPrefixOrSuffixItem::ProcessSubstitution(_, _) => panic!("process substitution"),
        }
    }
    counts
}

fn theirs(line: &str) -> Result<Counts, String> {
    let mut parser = Parser::new(line.as_bytes(), &ParserOptions::default());
    let program: Program = parser.parse_program().map_err(|error| error.to_string())?;
    let mut counts = Vec::new();
    for item in program.complete_commands.iter().flat_map(|list| list.0.iter()) {
        let more = item.0.additional.iter().map(|more| match more {
            AndOr::And(pipeline) | AndOr::Or(pipeline) => pipeline,
        });
        for pipeline in std::iter::once(&item.0.first).chain(more) {
            counts.extend(pipeline.seq.iter().map(count));
        }
    }
    Ok(counts)
}

/// Some texts make the other parser run without end, also inside quotes; and it takes `\$'` for the beginning of `$'`,
/// which bash does not.
fn is_beyond_them(line: &str) -> bool {
    line.len() > 400 || ["((", "<<", "$[", "\\$'"].iter().any(|text| line.contains(text))
}

#[test]
fn what_we_accept_another_parser_reads_with_the_same_counts() {
    let mut dice = Dice::new(77);
    let mut n_files = 0;
    let mut lines: Vec<String> = (0..30_000).map(|_| soup(&mut dice)).collect();
    lines.extend((0..1_500).map(|_| sensible(&mut dice, &mut n_files)));
    lines.extend(TABLE.lines().filter_map(|row| row.split('\t').next()).map(written));
    let mut n_compared = 0;
    let mut wrong = Vec::new();
    for line in lines.iter().filter(|line| !is_beyond_them(line)) {
        let Some(ours) = ours(line) else { continue };
        n_compared += 1;
        match theirs(line) {
            Ok(theirs) if theirs == ours => {}
            other => wrong.push(format!("{line:?}: we read {ours:?}, they {other:?}")),
        }
    }
    println!("{n_compared} compared");
    assert!(wrong.is_empty(), "{} of {n_compared}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(n_compared > 3_000);
}
