//! What must hold for every text that is read as a command line. Also used by the fuzz target of the same name, so it
//! knows only the public face.

use vambrace_policy::command::{CommandPlan, CommandPolicy, Simple, Word, explain};
use vambrace_policy::{HardLinks, Isolation, Scope, ScopeSettings, Symlinks};
use vambrace_types::{Bearings, ScopedPath};

fn scope() -> Result<Scope, String> {
    let settings = ScopeSettings {
        bearings: Bearings::new(&["/p/mono"], "src", &["shared"]),
        isolation: Isolation::Strict,
        block_patterns: Vec::new(),
        shared_inside_own: false,
        symlinks: Symlinks::Inside,
        hard_links: HardLinks::ReadOnly,
    };
    Scope::new(settings).map_err(|error| format!("{error:?}"))
}

/// The word as a shell would take it literally.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Every argument that needs no file system, quoted, is read back as itself.
fn is_read_back(policy: &CommandPolicy, simple: &Simple) -> Result<(), String> {
    let words: Option<Vec<&str>> = simple.words.iter().skip(1).map(Word::as_literal).collect();
    let Some(words) = words else { return Ok(()) };
    let line = std::iter::once("echo".to_owned()).chain(words.iter().map(|word| quoted(word)));
    let line = line.collect::<Vec<_>>().join(" ");
    // Quotes make a line longer than the one that was read.
    if line.len() > 16 * 1024 {
        return Ok(());
    }
    let again = policy.grammar(&line).map_err(|refusal| format!("{line}: {refusal:?}"))?;
    let read: Vec<Option<&str>> =
        again.simples().flat_map(|simple| simple.words.iter().skip(1)).map(Word::as_literal).collect();
    let wanted: Vec<Option<&str>> = words.into_iter().map(Some).collect();
    if read == wanted { Ok(()) } else { Err(format!("{wanted:?} quoted is read as {read:?}")) }
}

fn is_within_limits(plan: &CommandPlan) -> bool {
    !plan.steps.is_empty()
        && plan.steps.len() <= 64
        && plan.steps.iter().all(|step| !step.pipeline.is_empty())
        && plan.simples().all(|simple| !simple.words.is_empty())
        && plan.simples().map(|simple| simple.words.len()).sum::<usize>() <= 4096
}

/// It is read or refused; what is read can be judged; the verdict is the strictest of the words; what a permitted
/// line touches is in scope.
pub(crate) fn check(input: &[u8]) -> Result<(), String> {
    let Ok(line) = std::str::from_utf8(input) else { return Ok(()) };
    let policy = CommandPolicy::default();
    let Ok(plan) = policy.read(line) else { return Ok(()) };
    if !is_within_limits(&plan) {
        return Err(format!("{line:?} is read as {plan:?}"));
    }
    if line.trim_end_matches('\n').contains(['\n', '\r', '\0', '`']) && !line.contains(['\'', '"', '\\']) {
        return Err(format!("{line:?} is read"));
    }
    for simple in plan.simples() {
        is_read_back(&policy, simple)?;
    }
    let scope = scope()?;
    let folder = ScopedPath::from_components(vec!["src".to_owned()]).ok_or("no folder")?;
    let words = explain(&policy, line, &plan, &scope, &folder);
    match policy.judge(line, &plan, &scope, &folder) {
        Ok(judged) => {
            if words.iter().any(|verdict| !verdict.allowed) || judged.words != words {
                return Err(format!("{line:?} runs although {words:?}"));
            }
            match judged.touched.iter().find(|(path, access)| scope.judge(path, *access).is_err()) {
                Some((path, access)) => Err(format!("{line:?} touches {path:?} by {access:?}")),
                None => Ok(()),
            }
        }
        Err(_) if words.iter().all(|verdict| verdict.allowed) => Err(format!("{line:?}: no word is refused")),
        Err(_) => Ok(()),
    }
}
