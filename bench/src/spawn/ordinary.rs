//! The same for somebody without privileges: a second process of ours under another user runs the contest and tells the
//! times on its standard output.

use std::fs;
use std::os::unix::fs::chown;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use super::contest::{self, BUBBLEWRAP, Entrant, QUICK, Run};
use super::report::{FRESH_DOOR, WARM_DOOR};
use super::{Ground, ROUNDS, cages, cell, door, plain};
use crate::failure::Failure;
use crate::peers;
use crate::place::Place;

/// Nobody's number: not root, not the kernel's number for the unknown, and not likely a person's.
const USER: u32 = 54_321;
const WHO: &str = "everything";

/// Starts the other process. What prevents it is part of the result.
pub(super) fn contest(place: &Place) -> Result<Vec<Run>, Failure> {
    if !peers::is_root() {
        return Ok(vec![Run::absent(WHO, "all the above is an ordinary user's already")]);
    }
    let folder = place.fresh("spawn-ordinary")?;
    let mut command = Command::new("setpriv");
    let own = std::env::current_exe().map_err(Failure::disk(&place.vambrace))?;
    let user = USER.to_string();
    command.args(["--reuid", &user, "--regid", &user, "--clear-groups", "--"]);
    command.arg(own).arg("--ordinary").arg(&place.vambrace);
    for name in ["workspace", "state"] {
        let path = folder.join(name);
        fs::create_dir(&path).map_err(Failure::disk(&path))?;
        chown(&path, Some(USER), Some(USER)).map_err(Failure::disk(&path))?;
        command.arg(path);
    }
    command.current_dir("/").env_clear().env("PATH", "/usr/bin:/bin").env("HOME", folder.join("state"));
    let output = match command.output() {
        Ok(output) => output,
        Err(problem) => {
            return Ok(vec![Run::absent(WHO, format!("`setpriv` could not be started: {problem}"))]);
        }
    };
    let runs = parse(&String::from_utf8_lossy(&output.stdout));
    if runs.is_empty() {
        let said = String::from_utf8_lossy(&output.stderr).trim().replace(['\n', '|'], " ");
        return Ok(vec![Run::absent(WHO, format!("{}: {said}", output.status))]);
    }
    Ok(runs)
}

/// In the other process.
pub(crate) fn run(paths: &[&str]) -> Result<(), Failure> {
    let [vambrace, workspace, state] = paths else {
        return Err(Failure::new("not three paths", "Start it as `cargo xtask bench spawn`."));
    };
    let ground = Ground {
        vambrace: PathBuf::from(vambrace),
        workspace: PathBuf::from(workspace),
        state: PathBuf::from(state),
    };
    let mut entrants: Vec<Entrant<'_>> = plain();
    entrants.extend(door::entrants(&ground, [WARM_DOOR, FRESH_DOOR]));
    entrants.extend(cell::entrants(&ground));
    entrants.push(contest::command(BUBBLEWRAP, QUICK, || cages::bubblewrap(&ground.workspace)));
    for run in contest::hold(ROUNDS, entrants)? {
        println!("{}", told(&run));
    }
    Ok(())
}

const MARK: &str = "run\t";

fn told(run: &Run) -> String {
    match &run.took {
        Ok(took) => format!("{MARK}{}\t{}", run.name, took.as_nanos()),
        Err(why) => format!("{MARK}{}\t!{}", run.name, why.replace(['\n', '\t'], " ")),
    }
}

fn parse(text: &str) -> Vec<Run> {
    let runs = text.lines().filter_map(|line| line.strip_prefix(MARK)?.split_once('\t'));
    runs.map(|(name, told)| {
        let took = match told.strip_prefix('!') {
            Some(why) => Err(why.to_owned()),
            None => told.parse().map(Duration::from_nanos).map_err(|_| format!("not a time: {told}")),
        };
        Run { name: name.to_owned(), took }
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_is_what_is_understood() {
        let took = Run { name: "a b".to_owned(), took: Ok(Duration::from_nanos(1_234_567)) };
        let text = format!("Not run: x\n{}\n{}\n", told(&took), told(&Run::absent("c", "no\nway\there")));
        let seen: Vec<_> = parse(&text).into_iter().map(|run| (run.name, run.took)).collect();
        let expected = [
            ("a b".to_owned(), Ok(Duration::from_nanos(1_234_567))),
            ("c".to_owned(), Err("no way here".to_owned())),
        ];
        assert_eq!(seen, expected);
    }
}
