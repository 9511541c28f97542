//! `doctor`: what this machine can enforce, and a table of attacks on ourselves.

mod inputs;
mod rules;

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use owo_colors::OwoColorize as _;
use serde_json::{Value, json};
use vambrace_config::resolve::Redacting;
use vambrace_files::{Root, ambient_authority};
use vambrace_process::{Layer, Missing, RowState};
use vambrace_redact::prove_rules;
use vambrace_runtime::{Purpose, Reply};
use vambrace_types::{Door, ErrorCode, Role};

use super::Exit;
use super::options::Global;
use super::start::{Session, audit_dir, configuration, runtime, session, session_of, state_folder};
use crate::terminal;

/// One thing that holds, does not hold, or is only told.
pub(crate) struct Row {
    name: Cow<'static, str>,
    state: State,
    detail: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Holds,
    Broken,
    /// It could not be found out, so it is not relied on.
    Untried,
    /// Not needed for what is offered now.
    Told,
}

impl State {
    /// Of two attempts of one row: one that succeeded decides, and what was not reached shows nothing.
    fn and(self, other: State) -> State {
        match (self, other) {
            (State::Broken, _) | (_, State::Broken) => State::Broken,
            (State::Untried, _) | (_, State::Untried) => State::Untried,
            (State::Told, _) | (_, State::Told) => State::Told,
            (State::Holds, State::Holds) => State::Holds,
        }
    }
}

impl Row {
    pub(crate) fn line(&self) -> String {
        let word = match self.state {
            State::Holds => "holds ".green().to_string(),
            State::Broken => "BROKEN".red().bold().to_string(),
            State::Untried => "UNSURE".yellow().bold().to_string(),
            State::Told => "      ".to_owned(),
        };
        format!("  {word}  {:<40} {}", self.name, self.detail)
    }

    fn json(&self) -> Value {
        let state = match self.state {
            State::Holds => "holds",
            State::Broken => "broken",
            State::Untried => "untried",
            State::Told => "told",
        };
        json!({"row": self.name, "state": state, "detail": self.detail})
    }
}

fn row(name: impl Into<Cow<'static, str>>, holds: bool, detail: impl Into<String>) -> Row {
    Row { name: name.into(), state: if holds { State::Holds } else { State::Broken }, detail: detail.into() }
}

pub(crate) fn run(global: &Global) -> Exit {
    let mut rows = kernel_rows();
    rows.extend(attack_rows(global));
    rows.extend(cage_rows(global));
    rows.push(record_row(global));
    rows.push(rules_row());
    rows.push(hidden_row(global));
    if global.json || !terminal::is_watched() {
        terminal::json(&Value::Array(rows.iter().map(Row::json).collect()));
    } else {
        for row in &rows {
            terminal::say(&row.line());
        }
    }
    let is_sound = |row: &Row| matches!(row.state, State::Holds | State::Told);
    if rows.iter().all(is_sound) { Exit::Done } else { Exit::Failed }
}

/// What the kernel offers, asked without changing anything.
pub(crate) fn kernel_rows() -> Vec<Row> {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let release = read("/proc/sys/kernel/osrelease");
    let openat2 = Root::open_ambient(ambient_authority(), Path::new("/"))
        .is_ok_and(|root| vambrace_files::kernel_resolves_beneath(&root));
    let proc_works = std::fs::read_link("/proc/self/exe").is_ok();
    let core_dumps = vambrace_process::leaving_core_dumps();
    let told = |name: &'static str, detail: String| Row { name: name.into(), state: State::Told, detail };
    vec![
        told("kernel", release.trim().to_owned()),
        row("paths are opened beneath a root", openat2, "openat2 with BENEATH, NO_MAGICLINKS, NO_XDEV"),
        row("opened files can be located", proc_works, "/proc"),
        row(
            "core dumps do not leave the sandbox",
            core_dumps.is_none(),
            core_dumps.unwrap_or_else(|| "kernel.core_pattern".to_owned()),
        ),
    ]
}

/// A kind of secret whose rule is broken would be shown without a word.
fn rules_row() -> Row {
    let name = "kinds of secrets are found";
    match prove_rules() {
        Ok(n_rules) => row(name, true, format!("{n_rules} rules found their example and left its near miss")),
        Err(problem) => row(name, false, problem.to_string()),
    }
}

/// The walls of the cage that this workspace and configuration get, and the attacks on it from inside.
fn cage_rows(global: &Global) -> Vec<Row> {
    let name = "the cage for programs";
    let Ok(session) = session(global, Door::CommandLine) else {
        return vec![row(name, false, "the corridor could not be built; the error above says why")];
    };
    let Ok(runtime) = runtime() else { return vec![row(name, false, "no threads can be started")] };
    // The proxy is among what is attacked, and it runs there.
    let _entered = runtime.enter();
    match session.corridor.prove() {
        Err(error) => {
            let mut rows = vec![row(name, false, error.message)];
            rows.extend(session.corridor.missing_layers().iter().map(advice));
            rows
        }
        Ok(posture) => {
            let walls = format!("backend {}", posture.backend);
            let mut rows = vec![row(name, posture.missing.is_empty(), walls)];
            rows.extend(posture.missing.iter().map(advice));
            rows.extend(posture.rows.into_iter().map(|attack| {
                let state = match attack.state {
                    RowState::Held => State::Holds,
                    RowState::Broken => State::Broken,
                    RowState::Untried => State::Untried,
                };
                Row { name: attack.name.into(), state, detail: attack.detail }
            }));
            rows
        }
    }
}

/// How to get a wall that is missing.
fn advice(missing: &Missing) -> Row {
    let how = match missing.layer {
        _ if missing.is_left_out_by_the_backend() => {
            "another backend: `sandbox.backend: native` or `bubblewrap`"
        }
        _ if missing.is_left_out_by_the_operator() => "`sandbox.absent_names: refuse`",
        Layer::UserNamespace
        | Layer::MountNamespace
        | Layer::PidNamespace
        | Layer::NetworkNamespace
        | Layer::IpcNamespace
        | Layer::UtsNamespace
        | Layer::CgroupNamespace
        | Layer::PrivateRoot => {
            "allow user namespaces: sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone, \
             kernel.apparmor_restrict_unprivileged_userns; in a container, a seccomp profile that permits unshare, clone and mount"
        }
        Layer::Landlock => {
            "a kernel with Landlock (5.13 or later, `landlock` in the lsm= list), not blocked by a seccomp profile"
        }
        Layer::Seccomp | Layer::NoNewPrivileges | Layer::NoCapabilities => {
            "a kernel with seccomp filters, and an outer profile that permits prctl"
        }
        Layer::NameGuard => {
            "Linux 5.14 or later, no outer filter that hands calls over itself, and kernel.yama.ptrace_scope below 2; \
             or `sandbox.absent_names: sweep`, which only reports protected names after the run"
        }
        Layer::ProcessLimit | Layer::MemoryLimit => {
            "a control group that we may write (systemd: Delegate=yes), or run as an ordinary user"
        }
    };
    row(format!("missing: {}", missing.layer.as_str()), false, format!("{}; needed: {how}", missing.why))
}

/// Attacks through the real corridor, on a scratch workspace beside a canary.
fn attack_rows(global: &Global) -> Vec<Row> {
    let told = |_: Exit| "the corridor could not be built; the error above says why".to_owned();
    let untried = |why| vec![row("self-attack", false, format!("could not be run: {why}"))];
    let scratch = match scratch(global) {
        Ok(scratch) => scratch,
        Err(why) => return untried(why),
    };
    let mut rows = attack(global, &scratch.0).map_err(told).unwrap_or_else(untried);
    rows.extend(inputs::rows(global, &scratch.0));
    rows.extend(rules::rows(&scratch.0).map_err(told).unwrap_or_else(untried));
    rows
}

/// A folder that is gone when the attack is over.
struct Scratch(std::path::PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn scratch(global: &Global) -> Result<Scratch, String> {
    let state = state_folder(global).map_err(|_| "no state folder".to_owned())?;
    let folder = state.join(format!("doctor-{}", std::process::id()));
    let told = |error: std::io::Error| format!("{}: {error}", folder.display());
    std::fs::create_dir_all(folder.join("work/.git")).map_err(told)?;
    let scratch = Scratch(folder.clone());
    std::fs::write(folder.join("canary"), "canary").map_err(told)?;
    std::fs::write(folder.join("work/.env"), "CANARY=canary").map_err(told)?;
    std::fs::write(folder.join("work/.git/config"), "canary").map_err(told)?;
    std::fs::write(folder.join("work/plain"), "plain").map_err(told)?;
    std::fs::hard_link(folder.join("canary"), folder.join("work/hard")).map_err(told)?;
    let links = [
        ("out", "../canary"),
        ("env", ".env"),
        ("git", ".git/config"),
        ("root", "/proc/self/root/etc/passwd"),
    ];
    for (name, target) in links {
        std::os::unix::fs::symlink(target, folder.join("work").join(name)).map_err(told)?;
    }
    Ok(scratch)
}

fn attack(global: &Global, folder: &Path) -> Result<Vec<Row>, Exit> {
    let session = session_in(folder, global.config.clone(), global.profile.clone())?;
    let runtime = runtime()?;
    // The reason counts: a call that is refused for another one has not met the wall that its row is about. A rule of
    // the operator may answer first, and that says nothing about the wall.
    let denied = |tool: &str, arguments: Value, codes: &[ErrorCode]| {
        let reply = runtime.block_on(session.call(tool, arguments, false, Purpose::Check));
        match reply.as_ref().and_then(Reply::error).map(|error| error.code) {
            Some(ErrorCode::RuleDenied | ErrorCode::ApprovalRequired) => State::Told,
            Some(code) if codes.contains(&code) => State::Holds,
            Some(_) | None => State::Broken,
        }
    };
    let read = |path: &str, codes: &[_]| denied("read_file", json!({"path": path}), codes);
    let write = |path: &str, codes: &[_]| denied("write_file", json!({"path": path, "content": "x"}), codes);
    let untouched = |path: &str| {
        let is_same = std::fs::read_to_string(folder.join(path)).is_ok_and(|text| text == "canary");
        if is_same { State::Holds } else { State::Broken }
    };
    use ErrorCode::{BlockedPath, HardLinkRefused, LinkRefused, PathOutsideProject, ProtectedPath};
    // Where the operator allows no links at all, they are refused before anybody looks where they lead.
    let outside = [PathOutsideProject, LinkRefused];
    let blocked = [BlockedPath, LinkRefused];
    Ok(vec![
        attacked("read above the workspace", read("../canary", &[PathOutsideProject]), "../canary"),
        attacked("read through a link outside", read("out", &outside), "a link to ../canary"),
        attacked("read through /proc", read("root", &outside), "a link to /proc/self/root"),
        attacked(
            "read a link to a blocked file",
            read("env", &blocked).and(read("git", &blocked)),
            "links to .env and .git/config",
        ),
        attacked(
            "read a blocked file",
            read(".env", &[BlockedPath]).and(read(".git/config", &[BlockedPath])),
            ".env, .git/config",
        ),
        attacked(
            "write through a link",
            write("out", &outside).and(untouched("canary")),
            "a link to ../canary",
        ),
        attacked(
            "write through a hard link",
            write("hard", &[HardLinkRefused]).and(untouched("canary")),
            "a second name of ../canary",
        ),
        attacked(
            "plant a protected file",
            write(".mcp.json", &[ProtectedPath])
                .and(write(".helix/languages.toml", &[ProtectedPath]))
                .and(write(".git/hooks/pre-commit", &[BlockedPath])),
            ".mcp.json, .helix, .git/hooks",
        ),
        dry_run(&runtime, &session, folder),
        allowed(&runtime, &session),
    ])
}

/// A corridor on the scratch workspace.
fn session_in(folder: &Path, config: Option<PathBuf>, profile: Option<String>) -> Result<Session, Exit> {
    let scratch_global = Global {
        config,
        profile,
        workspace: Some(folder.join("work")),
        service: None,
        // Whoever asks: a role that may do nothing would be refused everything, and prove nothing.
        role: Role::Dev,
        tool: vambrace_policy::ToolMode::ALL,
        context: None,
        json: true,
        dry_run: false,
        state: Some(folder.join("state")),
        quiet: true,
        verbose: 0,
    };
    let mut loaded = configuration(&scratch_global)?;
    // Their folders are not there.
    loaded.config.contexts.clear();
    loaded.config.scope.service_root = None;
    session_of(&scratch_global, &loaded, Door::CommandLine, None, Vec::new())
}

fn dry_run(runtime: &tokio::runtime::Runtime, session: &Session, folder: &Path) -> Row {
    let arguments = json!({"path": "shown", "content": "x"});
    let _ = runtime.block_on(session.call("write_file", arguments, true, Purpose::Check));
    let state = if folder.join("work/shown").exists() { State::Broken } else { State::Holds };
    attacked("act in a dry run", state, "a file that is only shown")
}

/// The table must not hold because nothing works.
fn allowed(runtime: &tokio::runtime::Runtime, session: &Session) -> Row {
    let reply = runtime.block_on(session.call("read_file", json!({"path": "plain"}), false, Purpose::Check));
    let state = match reply.as_ref().map(|reply| reply.error().map(|error| error.code)) {
        Some(None) => State::Holds,
        Some(Some(ErrorCode::RuleDenied | ErrorCode::ApprovalRequired)) => State::Told,
        Some(Some(_)) | None => State::Broken,
    };
    attacked("read an ordinary file", state, "the control: this must work")
}

fn attacked(name: &'static str, state: State, detail: &str) -> Row {
    let detail = match state {
        State::Told => format!("{detail}; not reached, because a rule of the operator answers first"),
        State::Holds | State::Broken | State::Untried => detail.to_owned(),
    };
    Row { name: name.into(), state, detail }
}

/// What the redactor could not learn, or does not trust.
fn hidden_row(global: &Global) -> Row {
    let name = "values of hidden files are known";
    let learn = || {
        let loaded = super::start::configuration(global).ok()?;
        let (root, _) = super::start::workspace(&loaded).ok()?;
        let state = state_folder(global).ok()?;
        let told = Redacting::in_workspace(&loaded, &super::start::environment(), &root, &state, None);
        Some(told.map_err(|error| error.to_string()))
    };
    match learn() {
        None => row(name, false, "the configuration or the workspace cannot be read"),
        Some(Err(why)) => row(name, false, why),
        Some(Ok(found)) if found.warnings.is_empty() => row(name, true, "none is left out"),
        Some(Ok(found)) => Row { name: name.into(), state: State::Told, detail: found.warnings.join("; ") },
    }
}

fn record_row(global: &Global) -> Row {
    let name = "the record is intact";
    let Ok(dir) = audit_dir(global) else { return row(name, false, "there is no state folder") };
    if !dir.exists() {
        return row(name, true, "there is none yet");
    }
    match vambrace_audit::verify(&dir) {
        Ok(report) => match report.broken {
            None if vambrace_audit::stopped(&dir).is_err() => {
                row(name, false, "the book of stops cannot be read, so every call is denied")
            }
            None => row(name, true, format!("{} records in {}", report.n_records, dir.display())),
            Some(broken) => {
                row(name, false, format!("{} line {}: {}", broken.segment, broken.line, broken.why))
            }
        },
        Err(error) => row(name, false, error.to_string()),
    }
}
