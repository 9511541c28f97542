//! A plan gets its verdict: patterns, lists, argument rules, scope, in this order. Every word is judged, also behind the
//! first "no", and the verdict is the strictest of them; so what is explained and what is decided cannot differ.

mod folders;

use std::borrow::Cow;

use vambrace_types::ScopedPath;

use super::argument::{Place, Reach, RuleSet, Sheet, System, read, read_generic, rules};
use super::dangerous::Said;
use super::fetch::Files;
use super::list::Origin;
use super::program::ProgramName;
use super::{
    ArgumentRules, CommandPlan, CommandPolicy, CommandRefusal, DotDot, Redirect, RedirectMode, Simple, Step,
    Stream, Target, Word, dangerous, is_builtin,
};
use crate::{Access, Denial, Scope};
use folders::Folders;

/// What was said about one word. Text that is judged as a whole comes as one word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WordVerdict {
    pub word: String,
    pub rule: String,
    pub allowed: bool,
    /// What the word was taken for, or why it is refused.
    pub note: String,
}

/// A plan that may run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    /// The list that let its programs through; it ends in `+argument_rules:off` where only the lists were asked.
    pub rule: String,
    /// Paths of the workspace that its words and redirects name.
    pub touched: Vec<(ScopedPath, Access)>,
    pub words: Vec<WordVerdict>,
}

pub(crate) fn judge(
    policy: &CommandPolicy,
    text: &str,
    plan: &CommandPlan,
    scope: &Scope,
    folder: &ScopedPath,
) -> Result<Judged, Denial> {
    judge_with(rules(), policy, text, plan, scope, folder)
}

/// Every word and the rule that judged it.
pub fn explain(
    policy: &CommandPolicy,
    text: &str,
    plan: &CommandPlan,
    scope: &Scope,
    folder: &ScopedPath,
) -> Vec<WordVerdict> {
    walk(rules(), policy, text, plan, scope, folder).sheet.words
}

pub(crate) fn judge_with(
    rules: &RuleSet,
    policy: &CommandPolicy,
    text: &str,
    plan: &CommandPlan,
    scope: &Scope,
    folder: &ScopedPath,
) -> Result<Judged, Denial> {
    let walk = walk(rules, policy, text, plan, scope, folder);
    match walk.sheet.denial {
        Some(denial) => Err(denial),
        None => Ok(Judged { rule: rule_of(policy), touched: walk.touched, words: walk.sheet.words }),
    }
}

fn rule_of(policy: &CommandPolicy) -> String {
    match policy.settings.argument_rules {
        ArgumentRules::On => policy.listed().name().to_owned(),
        ArgumentRules::Off => format!("{}+argument_rules:off", policy.listed().name()),
    }
}

fn walk<'a>(
    rules: &'a RuleSet,
    policy: &'a CommandPolicy,
    text: &str,
    plan: &CommandPlan,
    scope: &'a Scope,
    folder: &ScopedPath,
) -> Walk<'a> {
    let files = plan.redirects_to_files();
    let mut walk = Walk { rules, policy, scope, files, sheet: Sheet::default(), touched: Vec::new() };
    walk.patterns(text, plan);
    let mut folders = Folders::new(folder);
    for step in &plan.steps {
        walk.step(step, &mut folders);
    }
    if let Some(other) = plan.beside_fetch() {
        let why = "in a line with `git fetch` stand only git and programs that show text";
        walk.sheet.refuse_argument("git", &other, why);
    }
    if plan.simples().next().is_none() {
        walk.sheet.refuse(text, CommandRefusal::Empty);
    }
    walk
}

struct Walk<'a> {
    rules: &'a RuleSet,
    policy: &'a CommandPolicy,
    scope: &'a Scope,
    files: Files,
    sheet: Sheet,
    touched: Vec<(ScopedPath, Access)>,
}

impl Walk<'_> {
    /// On the line as it was written, and on the words as they would be given to programs: quotes hide nothing.
    fn patterns(&mut self, text: &str, plan: &CommandPlan) {
        let match_by = self.policy.settings.match_by;
        let mut all = vec![(dangerous::normalized(text), Said::Line)];
        all.extend(plan.simples().map(|simple| {
            let program = ProgramName::of_word(&simple.program(), match_by).ok();
            (dangerous::normalized(&joined(simple)), Said::Words { program })
        }));
        let found = if dangerous::are_texts(&self.policy.settings) {
            all.iter().find_map(|(text, _)| dangerous::always(text))
        } else {
            plan.simples().find_map(|simple| {
                let words: Vec<String> = simple.words.iter().map(Word::spelled).collect();
                dangerous::by_words(&words, &written(simple))
            })
        };
        let found =
            found.or_else(|| all.iter().find_map(|(text, said)| dangerous::chosen(self.policy, text, said)));
        let found = found.or_else(|| match self.policy.settings.dotdot {
            DotDot::Text if all.iter().any(|(text, _)| text.contains("..")) => {
                Some(CommandRefusal::Pattern { pattern: "..".to_owned() })
            }
            DotDot::Text | DotDot::Resolve => None,
        });
        if let Some(refusal) = found {
            self.sheet.refuse(text, refusal);
        }
    }

    fn step(&mut self, step: &Step, folders: &mut Folders) {
        let entry = folders.entry(step.join);
        let mut moved = None;
        for simple in &step.pipeline {
            let to = self.simple(simple, &entry);
            // Within a pipe each part has a folder of its own, which ends with it.
            moved = if step.pipeline.len() == 1 { to } else { None };
        }
        folders.step(step.join, &entry, moved);
        if folders.too_many() {
            self.sheet.refuse_argument(
                "cd",
                "cd",
                format!("more than {} folders are possible here", folders::MOST),
            );
            folders.forget(&entry);
        }
    }

    /// Judges one program with its words. Returns the folders it leads to, if it is `cd`.
    fn simple(&mut self, simple: &Simple, entry: &[ScopedPath]) -> Option<Vec<ScopedPath>> {
        let Some((first, words)) = simple.words.split_first() else {
            self.sheet.refuse("", CommandRefusal::Empty);
            return None;
        };
        let spelled = first.spelled();
        let judged = self.program(first, &spelled, words);
        let moved = match judged {
            Err(refusal) => {
                self.sheet.refuse(&spelled, refusal);
                self.skip(words);
                None
            }
            Ok((name, _)) if is_builtin(name.as_str()) => {
                self.sheet.allow(&spelled, self.policy.listed().name(), "done by the runner");
                self.change_folder(words, entry)
            }
            Ok((name, origin)) => {
                self.sheet.allow(&spelled, self.policy.listed().name(), "program");
                self.arguments(name.as_str(), origin, words, entry);
                None
            }
        };
        for redirect in &simple.redirects {
            self.redirect(redirect, &spelled, entry);
        }
        moved
    }

    fn program(
        &self,
        word: &Word,
        spelled: &str,
        words: &[Word],
    ) -> Result<(ProgramName, Origin), CommandRefusal> {
        // A pattern could become any program.
        let text =
            word.as_literal().ok_or_else(|| CommandRefusal::NotAllowed { program: spelled.to_owned() })?;
        let name = ProgramName::of_word(text, self.policy.settings.match_by)?;
        if let Some(refusal) = dangerous::program(self.policy, name.as_str()) {
            return Err(refusal);
        }
        let origin = self.policy.listed().allows(name.as_str())?;
        let first = words.first().map(Word::spelled);
        if !self.policy.listed().allows_subcommand(name.as_str(), first.as_deref()) {
            let why = "this subcommand is not on the list".to_owned();
            let word = first.unwrap_or_default();
            return Err(CommandRefusal::Argument { program: name.as_str().to_owned(), word, why });
        }
        Ok((name, origin))
    }

    /// What stands behind a refused program is not looked at, and not allowed.
    fn skip(&mut self, words: &[Word]) {
        let rule = self.sheet.words.last().map(|verdict| verdict.rule.clone()).unwrap_or_default();
        for word in words {
            self.sheet.words.push(WordVerdict {
                word: word.spelled(),
                rule: rule.clone(),
                allowed: false,
                note: "Its program is refused.".to_owned(),
            });
        }
    }

    fn arguments(&mut self, name: &str, origin: Origin, words: &[Word], entry: &[ScopedPath]) {
        match self.policy.settings.argument_rules {
            ArgumentRules::On => {}
            ArgumentRules::Off => {
                for word in words {
                    self.sheet.allow(&word.spelled(), "command_policy.argument_rules:off", "not looked at");
                }
                return;
            }
        }
        let mut place = Place {
            scope: self.scope,
            folders: Cow::Borrowed(entry),
            touched: &mut self.touched,
            reach: Reach { program: name, grants: &self.policy.settings.networked },
        };
        match (self.rules.block(name), origin) {
            _ if self.rules.is_broken(name) => {
                self.sheet.refuse_argument(name, name, "its built-in rules do not hold together");
            }
            (Some(_), Origin::Operator) if self.rules.is_toolchain(name) => {
                read_generic(words, &mut place, &mut self.sheet);
            }
            (Some(block), Origin::BuiltIn | Origin::Operator) => {
                read(self.rules, block, words, &mut place, &mut self.sheet);
            }
            (None, Origin::Operator) => read_generic(words, &mut place, &mut self.sheet),
            (None, Origin::BuiltIn) => self.sheet.refuse_argument(name, name, "it has no argument rules"),
        }
    }

    fn change_folder(&mut self, words: &[Word], entry: &[ScopedPath]) -> Option<Vec<ScopedPath>> {
        let target = match words {
            // A bare `cd` and `cd -` lead to a place that no one sees in the line.
            [word] => word.as_literal().filter(|text| !text.is_empty() && !text.starts_with('-')),
            [] | [_, ..] => None,
        };
        let Some(text) = target else {
            let shown = words.first().map_or_else(|| "cd".to_owned(), Word::spelled);
            self.sheet.refuse_argument("cd", &shown, "it needs exactly one folder, written out");
            return None;
        };
        let mut place = Place {
            scope: self.scope,
            folders: Cow::Borrowed(entry),
            touched: &mut self.touched,
            reach: Reach::NOWHERE,
        };
        match place.judge(text, Access::Read, System::Refused) {
            Ok(rule) => self.sheet.allow(text, rule, "folder"),
            Err(denial) => {
                self.sheet.deny(text, denial);
                return None;
            }
        }
        let bearings = self.scope.bearings();
        let mut moved: Vec<ScopedPath> = Vec::new();
        for folder in entry {
            let to = ScopedPath::beneath(folder, text, bearings).ok();
            moved.extend(to.filter(|path| !moved.contains(path)));
        }
        Some(moved)
    }

    /// A redirect writes without the program's own rules, so only the workspace counts.
    fn redirect(&mut self, redirect: &Redirect, program: &str, entry: &[ScopedPath]) {
        let sign = sign(redirect);
        let word = match &redirect.target {
            Target::Null => {
                return self.sheet.allow(&format!("{sign} /dev/null"), "command_policy.grammar", "nothing");
            }
            Target::Stream(_) => return self.sheet.allow(&sign, "command_policy.grammar", "stream"),
            Target::File(word) => word,
        };
        let shown = format!("{sign} {}", word.spelled());
        if self.files == Files::Refused {
            let why = "a line with `git fetch` reads and writes no files by redirects: give them to a call of \
                       their own";
            return self.sheet.refuse_argument(program, &shown, why);
        }
        if word.is_glob() {
            return self.sheet.refuse_argument(program, &shown, "a redirect needs one file, written out");
        }
        let access = match redirect.mode {
            RedirectMode::Read => Access::Read,
            RedirectMode::Truncate | RedirectMode::Append => Access::Write,
        };
        let mut place = Place {
            scope: self.scope,
            folders: Cow::Borrowed(entry),
            touched: &mut self.touched,
            reach: Reach::NOWHERE,
        };
        match place.judge_word(word, access, System::Refused) {
            Ok(rule) => self.sheet.allow(&shown, rule, "redirect"),
            Err(denial) => self.sheet.deny(&shown, denial),
        }
    }
}

/// The files that its redirects would write.
fn written(simple: &Simple) -> Vec<String> {
    let writes = |redirect: &&Redirect| match redirect.mode {
        RedirectMode::Read => false,
        RedirectMode::Truncate | RedirectMode::Append => true,
    };
    let named = simple.redirects.iter().filter(writes).filter_map(|redirect| match &redirect.target {
        Target::File(word) => Some(word.spelled()),
        Target::Null | Target::Stream(_) => None,
    });
    named.collect()
}

/// The words of a command as its program would get them, and its redirects with one space in them.
fn joined(simple: &Simple) -> String {
    let mut text = String::new();
    for word in &simple.words {
        text.push_str(&word.spelled());
        text.push(' ');
    }
    for redirect in &simple.redirects {
        text.push_str(&sign(redirect));
        text.push(' ');
        if let Target::File(word) = &redirect.target {
            text.push_str(&word.spelled());
            text.push(' ');
        }
    }
    text.pop();
    text
}

fn sign(redirect: &Redirect) -> String {
    let stream = match redirect.stream {
        Stream::In | Stream::Out => "",
        Stream::Err => "2",
        Stream::Both => "&",
    };
    let mode = match redirect.mode {
        RedirectMode::Read => "<",
        RedirectMode::Truncate => ">",
        RedirectMode::Append => ">>",
    };
    let to = match &redirect.target {
        Target::Stream(Stream::Err) => "&2",
        Target::Stream(Stream::In | Stream::Out | Stream::Both) => "&1",
        Target::Null | Target::File(_) => "",
    };
    format!("{stream}{mode}{to}")
}
