//! What we accept, bash accepts too, and it starts the same programs with the same arguments, input and files. Its PATH
//! is empty, so each program ends in a function that writes down how it was called; nothing is ever executed.
#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "the test holds our reading against a real shell, in a folder of its own"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use vambrace_policy::command::{CommandPlan, Join, RedirectMode, Simple, Stream, Target, Word, WordPart};

use crate::command_line::{TABLE, read, written};
use crate::command_line_generate::{Dice, glob, sensible, soup};

/// The few built-ins that the function needs; a line that names one is not run.
const NEEDED: [&str; 7] = ["printf", "read", "local", "return", "eval", "enable", "case"];

/// The output has a process of its own, because a pipe that nobody reads would end the function with it.
/// `$globs` is `-f` for words as they were written, `+f` for the files they match.
const DRIVER: &str = r#"
set "$globs"
for name in $(compgen -b); do
  case $name in printf|read|local|return|eval|enable) ;; *) enable -n "$name" ;; esac
done
command_not_found_handle() {
  local text=
  IFS= read -r -d '' text
  printf '%s\0' "$number" "$#" "$@" "$text" >&9
  ( printf 'o:%s;' "$1" )
  printf 'e:%s;' "$1" >&2
  case $1 in f*) return 1 ;; esac
  return 0
}
number=0
while IFS= read -r -d '' line; do
  ( eval -- "$line" ) </dev/null >/dev/null 2>>../errors
  printf '%s\0' "$number" end >&9
  number=$((number + 1))
done <../lines 9>>../calls
"#;

/// How a program was called: its vector, and what it could read.
type Call = (Vec<String>, String);

/// What a program writes to.
#[derive(Clone)]
enum Sink {
    Nowhere,
    Pipe,
    File(String),
}

#[derive(Clone, Copy)]
enum Globs {
    Kept,
    Matched,
}

/// The files of the folder as they should be in the end.
type Files = BTreeMap<String, String>;

fn name(word: &Word) -> String {
    word.as_literal().unwrap().to_owned()
}

fn call(simple: &Simple, piped: &str, is_last: bool, files: &mut Files) -> (Call, String) {
    let mut input = piped.to_owned();
    let mut out = if is_last { Sink::Nowhere } else { Sink::Pipe };
    let mut err = Sink::Nowhere;
    for redirect in &simple.redirects {
        let sink = match &redirect.target {
            Target::Null if redirect.stream == Stream::In => {
                input.clear();
                continue;
            }
            Target::File(word) if redirect.stream == Stream::In => {
                input = files[&name(word)].clone();
                continue;
            }
            Target::Null => Sink::Nowhere,
            Target::Stream(Stream::Out) => out.clone(),
            Target::Stream(Stream::Err) => err.clone(),
            Target::Stream(other) => panic!("a copy of {other:?}"),
            Target::File(word) => {
                let text = files.entry(name(word)).or_default();
                if redirect.mode == RedirectMode::Truncate {
                    text.clear();
                }
                Sink::File(name(word))
            }
        };
        match redirect.stream {
            Stream::Out => out = sink,
            Stream::Err => err = sink,
            Stream::Both => (out, err) = (sink.clone(), sink),
            Stream::In => panic!("input is no sink"),
        }
    }
    let words: Vec<String> = simple.words.iter().map(Word::spelled).collect();
    let mut pipe = String::new();
    for (sign, sink) in [("o", out), ("e", err)] {
        let text = format!("{sign}:{};", words[0]);
        match sink {
            Sink::Nowhere => {}
            Sink::Pipe => pipe.push_str(&text),
            Sink::File(name) => files.get_mut(&name).unwrap().push_str(&text),
        }
    }
    ((words, input), pipe)
}

/// What our plan says will happen, in any order.
fn foreseen(plan: &CommandPlan, files: &mut Files) -> Vec<Call> {
    let mut calls = Vec::new();
    let mut is_ok = true;
    for step in &plan.steps {
        let is_run = match step.join {
            Join::First | Join::Then => true,
            Join::IfOk => is_ok,
            Join::IfFailed => !is_ok,
        };
        if !is_run {
            continue;
        }
        let mut pipe = String::new();
        for (place, simple) in step.pipeline.iter().enumerate() {
            let (call, next) = call(simple, &pipe, place + 1 == step.pipeline.len(), files);
            is_ok = !call.0[0].starts_with('f');
            calls.push(call);
            pipe = next;
        }
    }
    calls.sort();
    calls
}

/// Runs every line in one bash and gives back the calls of each.
fn observed(folder: &str, globs: Globs, lines: &[String], files: &Files) -> (Vec<Vec<Call>>, PathBuf) {
    let base = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{folder}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&base);
    fs::create_dir_all(base.join("work")).unwrap();
    for (name, text) in files {
        let path = base.join("work").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    fs::write(base.join("lines"), lines.iter().map(|line| format!("{line}\0")).collect::<String>()).unwrap();
    let status = Command::new("/bin/bash")
        .args(["--norc", "--noprofile", "-c", DRIVER])
        .current_dir(base.join("work"))
        .env_clear()
        .env("PATH", "/nonexistent")
        .env("LC_ALL", "C")
        .env(
            "globs",
            match globs {
                Globs::Kept => "-f",
                Globs::Matched => "+f",
            },
        )
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()
        .expect("these tests need /bin/bash");
    assert!(status.success(), "bash ended with {status}");
    let bytes = fs::read(base.join("calls")).unwrap();
    let mut calls = vec![Vec::new(); lines.len()];
    let mut n_ended = 0;
    let mut fields = bytes.split(|byte| *byte == 0).map(|field| String::from_utf8(field.to_vec()).unwrap());
    while let Some(number) = fields.next().filter(|number| !number.is_empty()) {
        let place: usize = number.parse().unwrap();
        let count = fields.next().unwrap();
        if count == "end" {
            n_ended += 1;
            continue;
        }
        let words = (0..count.parse().unwrap()).map(|_| fields.next().unwrap()).collect();
        calls[place].push((words, fields.next().unwrap()));
    }
    assert_eq!(n_ended, lines.len(), "bash gave up early");
    calls.iter_mut().for_each(|calls| calls.sort());
    (calls, base)
}

fn files_of(plan: &CommandPlan) -> impl Iterator<Item = (Stream, String)> {
    plan.simples().flat_map(|simple| simple.redirects.iter()).filter_map(|redirect| match &redirect.target {
        Target::File(word) => Some((redirect.stream, name(word))),
        Target::Null | Target::Stream(_) => None,
    })
}

#[test]
fn bash_makes_the_same_calls_and_writes_the_same_files() {
    let mut dice = Dice::new(4);
    let mut n_files = 0;
    let lines: Vec<String> = (0..1_200).map(|_| sensible(&mut dice, &mut n_files)).collect();
    let plans: Vec<(String, CommandPlan)> =
        lines.into_iter().filter_map(|line| read(&line).ok().map(|plan| (line, plan))).collect();
    assert!(plans.len() > 900, "only {} lines are accepted", plans.len());
    let mut files = Files::from([("in".to_owned(), "in;".to_owned())]);
    for place in 1..=n_files {
        files.insert(format!("out{place}"), "old;".to_owned());
    }
    let lines: Vec<String> = plans.iter().map(|(line, _)| line.clone()).collect();
    let (calls, base) = observed("sensible", Globs::Kept, &lines, &files);
    for ((line, plan), calls) in plans.iter().zip(&calls) {
        assert_eq!(&foreseen(plan, &mut files), calls, "{line:?}, read as {}", plan.spelled());
    }
    for (name, text) in &files {
        assert_eq!(&fs::read_to_string(base.join("work").join(name)).unwrap(), text, "{name}");
    }
    assert_eq!(fs::read_dir(base.join("work")).unwrap().count(), files.len(), "bash wrote other files");
    fs::remove_dir_all(base).unwrap();
}

/// Only what can be foreseen without knowing files: it writes beside itself, reads what is there.
fn is_foreseeable(plan: &CommandPlan) -> bool {
    let mut names: Vec<(Stream, String)> = files_of(plan).collect();
    let n_names = names.len();
    let is_plain = names.iter().all(|(stream, name)| match stream {
        Stream::In => name == "in",
        Stream::Out | Stream::Err | Stream::Both => {
            !name.contains('/') && !matches!(name.as_str(), "." | ".." | "in")
        }
    });
    names.retain(|(stream, _)| *stream != Stream::In);
    names.sort_by(|one, other| one.1.cmp(&other.1));
    names.dedup_by(|one, other| one.1 == other.1);
    let programs = plan.simples().map(Simple::program);
    is_plain
        && n_names <= names.len() + files_of(plan).filter(|(stream, _)| *stream == Stream::In).count()
        && programs.into_iter().all(|program| !program.contains('/') && !NEEDED.contains(&program.as_str()))
}

#[test]
fn bash_makes_the_same_calls_of_any_mixture_that_we_accept() {
    let mut dice = Dice::new(31);
    let mut lines: Vec<String> =
        TABLE.lines().filter_map(|row| row.split('\t').next()).map(written).collect();
    lines.extend((0..40_000).map(|_| soup(&mut dice)));
    let accepted: Vec<(String, CommandPlan)> =
        lines.into_iter().filter_map(|line| read(&line).ok().map(|plan| (line, plan))).collect();
    let n_accepted = accepted.len();
    let mut plans: Vec<(String, CommandPlan)> =
        accepted.into_iter().filter(|(_, plan)| is_foreseeable(plan)).collect();
    println!("{} of {n_accepted} accepted lines are run", plans.len());
    plans.truncate(3_000);
    assert!(plans.len() > 1_500);
    let lines: Vec<String> = plans.iter().map(|(line, _)| line.clone()).collect();
    let files = Files::from([("in".to_owned(), "in;".to_owned())]);
    let (calls, base) = observed("mixture", Globs::Kept, &lines, &files);
    let mut wrong = Vec::new();
    for ((line, plan), calls) in plans.iter().zip(&calls) {
        let foreseen = foreseen(plan, &mut files.clone());
        if &foreseen != calls {
            wrong.push(format!("{line:?}\n  we foresaw {foreseen:?}\n  bash did   {calls:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
    fs::remove_dir_all(base).unwrap();
}

fn is_in(set: &str, character: char) -> bool {
    let negated = set.strip_prefix(['!', '^']);
    let mut rest = negated.unwrap_or(set);
    let mut is_member = false;
    while let Some(first) = rest.chars().next() {
        if let Some(behind) = rest.strip_prefix("[:alpha:]") {
            is_member |= character.is_ascii_alphabetic();
            rest = behind;
            continue;
        }
        let mut range = rest.chars();
        range.next();
        let last = match (range.next(), range.next()) {
            (Some('-'), Some(last)) => last,
            _ => first,
        };
        is_member |= (first..=last).contains(&character);
        let is_range = rest.chars().nth(1) == Some('-') && rest.chars().count() > 2;
        rest = rest.get(if is_range { 2 + last.len_utf8() } else { first.len_utf8() }..).unwrap();
    }
    is_member != negated.is_some()
}

/// The plainest reading of a glob: every way is tried.
fn is_match(parts: &[WordPart], path: &str) -> bool {
    let Some((first, rest)) = parts.split_first() else { return path.is_empty() };
    let mut behind = path.chars();
    let next = behind.next().filter(|next| *next != '/');
    match first {
        WordPart::Literal(text) => path.strip_prefix(text.as_str()).is_some_and(|path| is_match(rest, path)),
        WordPart::AnyChar => next.is_some() && is_match(rest, behind.as_str()),
        WordPart::OneOf(set) => next.is_some_and(|next| is_in(set, next)) && is_match(rest, behind.as_str()),
        WordPart::AnyText => is_match(rest, path) || (next.is_some() && is_match(parts, behind.as_str())),
    }
}

#[test]
fn bash_takes_the_same_signs_for_globs() {
    const PATHS: &str = "a b c - ] [ ! ^ ab [a a] [] [!] [a] -a b] d d/a d/] d/b [a d2 [d [d/b] d/[b]";
    let paths: Vec<&str> = PATHS.split(' ').filter(|path| !["d", "[d"].contains(path)).collect();
    let files: Files = paths.iter().map(|path| ((*path).to_owned(), String::new())).collect();
    let mut dice = Dice::new(9);
    let words: Vec<String> =
        (0..40_000).map(|_| glob(&mut dice)).filter(|word| !word.contains("//")).collect();
    let mut plans: Vec<(String, CommandPlan)> = words
        .iter()
        .filter_map(|word| read(&format!("p {word}")).ok().map(|plan| (format!("p {word}"), plan)))
        .collect();
    plans.truncate(2_500);
    assert!(plans.len() >= 2_000, "only {}", plans.len());
    let lines: Vec<String> = plans.iter().map(|(line, _)| line.clone()).collect();
    let (calls, base) = observed("globs", Globs::Matched, &lines, &files);
    let mut n_matched = 0;
    let mut wrong = Vec::new();
    for ((line, plan), calls) in plans.iter().zip(&calls) {
        let word = &plan.steps[0].pipeline[0].words[1];
        let all = PATHS.split(' ').filter(|path| word.is_glob() && is_match(&word.parts, path));
        let mut expected: Vec<String> = all.map(str::to_owned).collect();
        n_matched += usize::from(!expected.is_empty());
        if expected.is_empty() {
            expected.push(word.spelled());
        }
        expected.sort();
        expected.dedup();
        let mut got = calls[0].0[1..].to_vec();
        got.sort();
        if got != expected {
            wrong.push(format!("{line:?} as {:?}: expected {expected:?}, bash {got:?}", word.parts));
        }
    }
    println!("{n_matched} of {} match something", plans.len());
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
    assert!(n_matched > 250);
    fs::remove_dir_all(base).unwrap();
}
