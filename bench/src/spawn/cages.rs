//! Cages that others built, started as their users start them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::contest::{BUBBLEWRAP, Entrant, QUICK, SLOW, command};
use super::{Ground, TRUE, clean};
use crate::failure::Failure;
use crate::peers::{Npm, Peer, debian};
use crate::place::{self, Place};

const FIREJAIL: &str = "firejail";
const SRT: &str = "sandbox-runtime (srt)";
const CODEX: &str = "codex sandbox";
const NPM: Npm = Npm { from: "bench/tools/cages", into: "cages" };

pub(super) struct Cages {
    bubblewrap: Peer,
    firejail: Peer,
    srt: Result<(PathBuf, String), String>,
    codex: Result<(PathBuf, String), String>,
}

impl Cages {
    pub(super) fn find(place: &Place) -> Result<Cages, Failure> {
        // srt connects its proxies with it, and does nothing without; if it stays missing, srt says so.
        let _ = debian("socat", "socat", "-V");
        Ok(Cages {
            bubblewrap: debian("bubblewrap", "bwrap", "--version"),
            firejail: debian("firejail", "firejail", "--version"),
            srt: NPM.install(place, "@anthropic-ai/sandbox-runtime", "dist/cli.js")?,
            codex: NPM.install(place, "@openai/codex", "bin/codex.js")?,
        })
    }

    pub(super) fn described(&self) -> Vec<String> {
        let node = [(SRT, &self.srt), (CODEX, &self.codex)].map(|(name, found)| match found {
            Ok((_, version)) => version.clone(),
            Err(_) => format!("{name} (missing)"),
        });
        [&self.bubblewrap, &self.firejail].into_iter().map(Peer::described).chain(node).collect()
    }

    pub(super) fn entrants<'a>(
        &'a self,
        place: &'a Place,
        ground: &'a Ground,
    ) -> Result<Vec<Entrant<'a>>, Failure> {
        let home = place.fresh("spawn-home")?;
        let settings = home.join("srt.json");
        place::write(&settings, SRT_SETTINGS)?;
        let script = |found: &Result<(PathBuf, String), String>| found.clone().map(|(script, _)| script);
        let node = move |script: &Path, home: &Path| {
            let mut command = clean(Path::new("node"));
            command.current_dir(&ground.workspace).env("HOME", home).arg(script);
            command
        };
        let srt_home = home.clone();
        Ok(vec![
            peer(BUBBLEWRAP, QUICK, debians(&self.bubblewrap), move |_| bubblewrap(&ground.workspace)),
            peer(FIREJAIL, SLOW, debians(&self.firejail), move |_| firejail(&ground.workspace)),
            peer(SRT, SLOW, script(&self.srt), move |script| {
                let mut command = node(script, &srt_home);
                command.arg("--settings").arg(&settings).arg(TRUE);
                command
            }),
            peer(CODEX, SLOW, script(&self.codex), move |script| {
                let mut command = node(script, &home);
                command.args(["sandbox", "--", TRUE]);
                command
            }),
        ])
    }
}

/// No network, and writing in the workspace only, which is what our cage allows.
const SRT_SETTINGS: &str = r#"{
  "network": { "allowedDomains": [], "deniedDomains": [] },
  "filesystem": { "denyRead": [], "allowWrite": ["."], "denyWrite": [] }
}
"#;

fn debians(peer: &Peer) -> Result<PathBuf, String> {
    match peer {
        Peer::Here { program, .. } => Ok(program.clone()),
        Peer::Missing { fix, .. } => Err(fix.clone()),
    }
}

fn peer<'a>(
    name: &'static str,
    n_samples: usize,
    program: Result<PathBuf, String>,
    make: impl Fn(&Path) -> Command + 'a,
) -> Entrant<'a> {
    match program {
        Ok(program) => command(name, n_samples, move || make(&program)),
        Err(fix) => Entrant { name, turn: Err(format!("missing. {fix}")) },
    }
}

/// Everything unshared, the system read-only, private memory, and the workspace to write in.
pub(super) fn bubblewrap(workspace: &Path) -> Command {
    let mut command = clean(Path::new("bwrap"));
    command.args(["--unshare-all", "--die-with-parent", "--new-session", "--ro-bind", "/usr", "/usr"]);
    for name in ["bin", "sbin", "lib", "lib64"] {
        // Where the system's folders are not links into /usr, they are shown as they are.
        let host = Path::new("/").join(name);
        match fs::read_link(&host) {
            Ok(target) => command.arg("--symlink").arg(target).arg(&host),
            Err(_) => command.arg("--ro-bind-try").arg(&host).arg(&host),
        };
    }
    command.args(["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--bind"]);
    command.arg(workspace).arg(workspace).arg("--chdir").arg(workspace).arg(TRUE);
    command
}

/// Specification 002's flags.
fn firejail(workspace: &Path) -> Command {
    let mut command = clean(Path::new("firejail"));
    command.current_dir(workspace);
    command.args(["--quiet", "--noprofile", "--private-tmp", "--private-dev", "--noroot", "--net=none"]);
    command.arg(format!("--whitelist={}", workspace.display()));
    command.args(["--", "bash", "-c", TRUE]);
    command
}
