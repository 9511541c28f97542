//! A second policy, naive on purpose and written from the specifications' text: whole paths as strings, own lists,
//! no index, no cleverness. It must not call the crate, so that a mistake has to be made twice to go unseen.
//!
//! Sources: 004 §2.4 (roles), §3.1 (tools), §3.3 (scope); 002 (tool modes); the role table of the fixed interfaces;
//! the decisions on shared paths, roles, traversal, secrets in writes, protected names and environment files.

use crate::question::{Answer, Call, World};

const READ_TOOLS: &[&str] = &["read_file", "search_file", "count_matches", "list_files", "list_directory"];
const WRITE_TOOLS: &[&str] = &["write_file", "edit_file", "delete_file", "create_directory"];

/// 004 §6 and §4.3: the two groups that most roles lack.
const SYSTEM_TOOLS: &[&str] = &["install_package", "verify_binary", "system_ctl", "migrate_config"];
const PUSH_TOOL: &str = "git_push";

/// The row of `product_owner`: whatever looks and does not touch.
const LOOKING_TOOLS: &[&str] = &[
    "read_file",
    "search_file",
    "count_matches",
    "list_files",
    "list_directory",
    "read_output",
    "git_status",
    "git_diff",
    "search_knowledge",
    "find_usage",
    "get_related_tests",
    "get_system_map",
    "get_task_context",
    "knowledge_status",
    "search_memory",
    "memory_read",
    "posture_report",
];

/// What changes the project, its history or its memory without starting a program of the agent's choice.
const CHANGING_TOOLS: &[&str] = &[
    "write_file",
    "edit_file",
    "delete_file",
    "create_directory",
    "git_add",
    "git_commit",
    "git_checkout",
    "save_to_memory",
    "update_memory",
    "delete_memory",
    "memory_write",
];

/// "Protected even when absent". Which names is data; what having such a name means is judged here once more.
const PROTECTED: &str = include_str!("../../rules/protected.tsv");

fn is_protected(folded: &str) -> bool {
    let rows = PROTECTED.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let mut names = rows.filter_map(|row| row.split('\t').next());
    names.any(|name| named(name, folded))
}

pub(crate) fn answer(world: &World, call: &Call) -> Answer {
    if !role_may(call.role, call.tool) || !mode_may(&world.mode, call.tool) {
        return Answer::deny("PermissionDenied");
    }
    let changes = WRITE_TOOLS.contains(&call.tool);
    if !changes && !READ_TOOLS.contains(&call.tool) && call.tool != "read_output" {
        return Answer::allow();
    }
    let mut places = Vec::new();
    for text in &call.paths {
        match place(world, text) {
            Ok(path) => places.push(path),
            Err(code) => return Answer::deny(code),
        }
    }
    if call.suspended {
        return Answer::deny("Suspended");
    }
    for path in &places {
        if let Some(code) = refused(world, path, changes) {
            return Answer::deny(code);
        }
    }
    strictest(world, call, &places)
}

pub(crate) fn role_may(role: &str, tool: &str) -> bool {
    if role == "product_owner" {
        return LOOKING_TOOLS.contains(&tool);
    }
    if tool == PUSH_TOOL {
        return role == "release_manager";
    }
    if SYSTEM_TOOLS.contains(&tool) {
        return role == "sre";
    }
    ["dev", "sre", "release_manager"].contains(&role)
}

/// 002: `none` does nothing; every other mode can look; `write` and `command` add what their names say.
pub(crate) fn mode_may(mode: &str, tool: &str) -> bool {
    let has = |word: &str| mode.split(',').any(|part| part.trim() == word);
    if has("all") {
        return true;
    }
    if LOOKING_TOOLS.contains(&tool) {
        return !has("none");
    }
    if CHANGING_TOOLS.contains(&tool) { has("write") } else { has("command") }
}

/// Where a spelling leads, counted from the workspace: `a/b/c`, or nothing for the workspace itself.
fn place(world: &World, text: &str) -> Result<String, &'static str> {
    if text.contains('\0') || text.len() > 4096 {
        return Err("InvalidPath");
    }
    let service = tidy(&world.service);
    if text.starts_with('/') {
        // The kernel's parent of the root is the root, so an absolute spelling is walked from there.
        let absolute = format!("{}/", walk("", text, AtTheTop::Stay)?);
        for workspace in &world.workspace {
            if let Some(inside) = absolute.strip_prefix(&format!("{}/", tidy(workspace))) {
                return walk("", inside, AtTheTop::Refuse);
            }
        }
        return Err("PathOutsideProject");
    }
    // Empty steps and inner dots say nothing; a leading dot means the service.
    let plain = if text.starts_with("./") || text == "." { text.to_owned() } else { tidy(text) };
    let begins_with = |prefix: &str| format!("{plain}/").starts_with(&format!("{prefix}/"));
    let top = service.split('/').next().unwrap_or("");
    let from_workspace = service.is_empty()
        || begins_with(top)
        || world.shared.iter().any(|shared| !tidy(shared).is_empty() && begins_with(&tidy(shared)));
    walk(if from_workspace { "" } else { &service }, text, AtTheTop::Refuse)
}

enum AtTheTop {
    Stay,
    Refuse,
}

fn walk(start: &str, text: &str, at_the_top: AtTheTop) -> Result<String, &'static str> {
    let mut here = start.to_owned();
    for step in text.split('/') {
        if step.is_empty() || step == "." {
            continue;
        }
        if step == ".." {
            match (here.rfind('/'), here.is_empty(), &at_the_top) {
                (_, true, AtTheTop::Stay) => {}
                (_, true, AtTheTop::Refuse) => return Err("PathOutsideProject"),
                (Some(slash), false, _) => here.truncate(slash),
                (None, false, _) => here.clear(),
            }
            continue;
        }
        // Outside is outside, however long its names are.
        if step.len() > 255 && matches!(at_the_top, AtTheTop::Refuse) {
            return Err("InvalidPath");
        }
        if !here.is_empty() {
            here.push('/');
        }
        here.push_str(step);
    }
    Ok(here)
}

/// A path of the configuration: no empty steps, no dots, no slash at either end.
fn tidy(text: &str) -> String {
    let steps: Vec<&str> = text.split('/').filter(|step| !step.is_empty() && *step != ".").collect();
    steps.join("/")
}

fn refused(world: &World, path: &str, changes: bool) -> Option<&'static str> {
    let folded = path.to_ascii_lowercase();
    if folded.split('/').any(in_blocked_zone) || world.block_patterns.iter().any(|name| named(name, &folded))
    {
        return Some("BlockedPath");
    }
    if changes && is_protected(&folded) {
        return Some("ProtectedPath");
    }
    let own = beneath(path, &tidy(&world.service));
    let shared = world.shared.iter().any(|prefix| !tidy(prefix).is_empty() && beneath(path, &tidy(prefix)));
    if own && !(shared && world.shared_inside_own) {
        return None;
    }
    if shared {
        return changes.then_some("ReadOnlyPath");
    }
    let readable = world.isolation == "SHARED" && !changes;
    (!readable).then_some("OutsideScope")
}

/// 004 §3.3, and every spelling of an environment file.
fn in_blocked_zone(step: &str) -> bool {
    let is_example =
        ["example", "sample", "template", "dist"].iter().any(|kind| step == format!(".env.{kind}"));
    [".env", ".git", "secrets", "node_modules"].contains(&step) || (step.starts_with(".env.") && !is_example)
}

fn beneath(path: &str, folder: &str) -> bool {
    folder.is_empty() || path == folder || path.starts_with(&format!("{folder}/"))
}

/// Whether a blocked or protected name, at any depth or tied to the top by a slash, covers the folded path.
fn named(name: &str, folded: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let tied = name.starts_with('/');
    let name = tidy(name.trim_end_matches("**"));
    let steps: Vec<&str> = folded.split('/').collect();
    let n_steps = name.split('/').count();
    let starts = if tied { 0..1 } else { 0..steps.len() };
    starts.into_iter().any(|start| {
        let window: Vec<&str> = steps.iter().skip(start).take(n_steps).copied().collect();
        window.len() == n_steps && name.split('/').zip(window).all(|(part, step)| starred(part, step))
    })
}

/// A rule's path counts from the workspace and speaks of the named thing and all that is in it, whatever the letter
/// case; `**` spans folders.
fn ruled(pattern: &str, path: &str) -> bool {
    let (pattern, path) = (pattern.to_lowercase(), path.to_lowercase());
    let mut parts: Vec<&str> = pattern.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    while parts.len() > 1 && parts.last() == Some(&"**") {
        parts.pop();
    }
    let steps: Vec<&str> = path.split('/').filter(|step| !step.is_empty()).collect();
    (0..=steps.len()).any(|n_steps| spans(&parts, &steps[..n_steps]))
}

fn spans(parts: &[&str], steps: &[&str]) -> bool {
    match parts.split_first() {
        None => steps.is_empty(),
        Some((&"**", rest)) => (0..=steps.len()).any(|from| spans(rest, &steps[from..])),
        Some((part, rest)) => {
            steps.split_first().is_some_and(|(step, others)| starred(part, step) && spans(rest, others))
        }
    }
}

/// `*` stands for any run of characters inside one step.
fn starred(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((before, after)) => match text.strip_prefix(before) {
            None => false,
            Some(rest) => {
                let cuts = rest.char_indices().map(|(place, _)| place).chain([rest.len()]);
                cuts.into_iter().any(|place| starred(after, rest.get(place..).unwrap_or("")))
            }
        },
    }
}

/// Deny beats ask beats allow, whoever says it.
fn strictest(world: &World, call: &Call, places: &[String]) -> Answer {
    if call.placeholder {
        return Answer::deny("PlaceholderInWrite");
    }
    let mut secrets = Vec::new();
    if call.known_secret {
        secrets.push(world.on_known);
    }
    if call.secret_pattern {
        secrets.push(world.on_pattern);
    }
    let mut rules = Vec::new();
    for rule in &world.rules {
        // Refusing one way to read a text refuses every tool that would show it.
        let reading = ["read_file", "search_file", "count_matches"];
        let showing = reading.contains(&call.tool) || ["write_file", "edit_file"].contains(&call.tool);
        let same_text =
            rule.verdict != "allow" && showing && rule.tool.is_some_and(|tool| reading.contains(&tool));
        let kind_fits = match rule.tool {
            Some("reads") => showing || call.tool == "list_files",
            Some("writes") => {
                ["write_file", "edit_file", "delete_file", "create_directory"].contains(&call.tool)
            }
            _ => false,
        };
        let tool_fits = rule.tool.is_none() || rule.tool == Some(call.tool) || same_text || kind_fits;
        let path_fits = match rule.path {
            None => true,
            Some(pattern) => places.iter().any(|path| ruled(pattern, path)),
        };
        if tool_fits && path_fits {
            rules.push(rule.verdict);
        }
    }
    if secrets.contains(&"deny") {
        return Answer::deny("SecretInWrite");
    }
    if rules.contains(&"deny") {
        return Answer::deny("RuleDenied");
    }
    if secrets.contains(&"ask") || rules.contains(&"ask") {
        return Answer::ask();
    }
    Answer::allow()
}
