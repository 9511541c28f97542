//! Attacks on what we read ourselves: messages, the project's configuration, the state folder. Each row makes its own
//! bait in the scratch folder, and looks at what our readers make of it.

use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use vambrace_audit::BareStanding;
use vambrace_config::section::{ByClient, OverStdio};
use vambrace_config::{Sources, load};
use vambrace_files::{
    Keeping, Root, StateOpen, Trust, Vouchers, ambient_authority, make_private, open_state_file,
};
use vambrace_json::Limits;
use vambrace_types::{Caller, Door, Role, ScopedPath, Timestamp};

use super::{Row, State, row};
use crate::cli::options::Global;
use crate::cli::start::configuration;

pub(super) fn rows(global: &Global, folder: &Path) -> Vec<Row> {
    let tried = |name: &'static str, outcome: io::Result<bool>, detail: &str| match outcome {
        Ok(holds) => row(name, holds, detail),
        Err(error) => row(name, false, format!("could not be tried: {error}")),
    };
    vec![
        row("end the process with JSON", json_is_refused(), "reserved names, depth, number of values"),
        tried("loosen the rules from a project file", project_is_refused(folder), "a shared path left out"),
        tried("choose what is hidden", file_is_doubted(folder), "a .env that came while a program ran"),
        tried("lead a file of ours elsewhere", links_are_refused(folder), "a link in the state folder"),
        tried("hide a stop", stop_is_seen(folder), "a book of stops that cannot be read"),
        dialogs_row(global),
    ]
}

fn json_is_refused() -> bool {
    let replaced = format!("{{\"path\":{{\"{}RawValue\":\"1\"}}}}", vambrace_json::RESERVED);
    let deep = "[".repeat(100_000);
    let many = format!("[{}1]", "1,".repeat(200_000));
    let limits = Limits::message(1 << 20);
    [replaced, deep, many].iter().all(|text| vambrace_json::read(text.as_bytes(), limits).is_err())
        && vambrace_json::read(b"{\"path\":[1]}", limits).is_ok()
}

fn project_is_refused(folder: &Path) -> io::Result<bool> {
    let (work, user) = (folder.join("project"), folder.join("operator"));
    fs::create_dir(&work)?;
    fs::create_dir(&user)?;
    let operator = user.join("vambrace.yaml");
    fs::write(&operator, "scope: {shared_paths: [contracts]}\n")?;
    let load = || {
        let sources =
            Sources { explicit: Some(operator.clone()), workspace: work.clone(), ..Sources::default() };
        load(&sources)
    };
    let alone = load().is_ok();
    fs::write(work.join("vambrace.yaml"), "scope: {shared_paths: []}\n")?;
    Ok(alone && load().is_err())
}

fn file_is_doubted(folder: &Path) -> io::Result<bool> {
    let work = folder.join("beside");
    fs::create_dir(&work)?;
    let root = Root::open_ambient(ambient_authority(), &work)?;
    let vouchers = Vouchers::of(&folder.join("vouched"), &root, Keeping::Book);
    let trusts = || {
        let wanted = |path: &ScopedPath| path.file_name().is_some_and(|name| name.starts_with(".env"));
        vouchers.look(|first| root.hidden_walk(first, None, &wanted)).1
    };
    fs::write(work.join(".env"), "A=a")?;
    let before = trusts();
    let running = vouchers.program_begins();
    fs::write(work.join(".env.made"), "A=a")?;
    let after = trusts();
    drop(running);
    Ok(before == [Trust::Sure] && after.len() == 2 && after.contains(&Trust::MadeMeanwhile))
}

fn links_are_refused(folder: &Path) -> io::Result<bool> {
    let (link, target) = (folder.join("memory.db"), folder.join("elsewhere"));
    fs::write(&target, "canary")?;
    fs::set_permissions(&target, fs::Permissions::from_mode(0o644))?;
    symlink(&target, &link)?;
    let is_refused = open_state_file(&link, StateOpen::Append).is_err() && make_private(&link).is_err();
    let mode = fs::metadata(&target)?.permissions().mode();
    Ok(is_refused && mode & 0o777 == 0o644)
}

fn stop_is_seen(folder: &Path) -> io::Result<bool> {
    let audit = folder.join("unseen");
    fs::create_dir(&audit)?;
    let caller = Caller::local(Role::Dev, Door::CommandLine);
    let standing = || BareStanding::new(&audit).of(&caller, Timestamp::from_millis(0));
    let nothing = standing().is_ok();
    fs::create_dir(audit.join("standing.jsonl"))?;
    Ok(nothing && standing().is_err())
}

/// Not an attack: what the operator has chosen.
fn dialogs_row(global: &Global) -> Row {
    let name = "approve its own call over HTTP";
    match configuration(global).map(|loaded| loaded.config.approvals.by_client) {
        Ok(ByClient::Over(OverStdio::Stdio) | ByClient::Always(false)) => {
            row(name, true, "a client's dialog does not count there")
        }
        Ok(ByClient::Always(true)) => {
            let detail = "`approvals.by_client: true` lets whoever calls answer".to_owned();
            Row { name: name.into(), state: State::Told, detail }
        }
        Err(_) => row(name, false, "the configuration cannot be read; the error above says why"),
    }
}
