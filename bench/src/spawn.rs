//! The benchmark `spawn`: a program in a cage, beside a plain start and beside other cages; and deciding about command
//! lines, beside parsing them.

mod cages;
mod call;
mod cell;
mod contest;
mod decision;
mod door;
mod names;
mod ordinary;
mod report;

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::Failure;
use crate::peers;
use crate::place::{self, Place};
use crate::report::{Circumstances, section, write};
use crate::table;

use cages::Cages;
use contest::{Entrant, Run};

pub(crate) use ordinary::run as as_ordinary_user;

const NOTES: &str = "\
Everybody runs `/usr/bin/true` to its end, with both outputs caught in pipes; only the bare start has none. The door takes a
permit, looks the program up, looks at the workspace before and after, and builds a fresh cage or uses the caller's warm one;
a cell is the cage alone, with the system's folders and one writable one. A call goes through MCP over pipes, with policy,
redaction and the record on. bubblewrap unshares everything and shows /usr and the workspace; firejail has the flags of
specification 002; the others are started as npm installs them, which includes Node. The ordinary user's figures come from a
process of that user. A decision reads a line and judges each of its words; the parse only makes a tree. Files are
unpacked by tar into memory, where a file costs next to nothing, in a cell that is there already.
";

const ROUNDS: usize = 30;
/// The workspace of the bench that has many folders.
const N_FOLDERS: usize = 5_000;

/// Where a contest takes place.
pub(crate) struct Ground {
    vambrace: PathBuf,
    workspace: PathBuf,
    state: PathBuf,
}

pub(crate) fn run(place: &Place) -> Result<(), Failure> {
    println!("Building the release binary.");
    peers::vambrace(place)?;
    let cages = Cages::find(place)?;
    let ground = Ground {
        vambrace: place.vambrace.clone(),
        workspace: place.fresh("spawn")?,
        state: place.fresh("spawn-state")?,
    };
    println!("Measuring: starts, in cages and without.");
    let main = starts(place, &ground, &cages)?;
    println!("Measuring: the same as an ordinary user.");
    let ordinary = ordinary::contest(place)?;
    println!("Measuring: decisions about command lines.");
    let mut rows = report::goals("", &main);
    rows.extend(report::goals(", ordinary user", &ordinary));
    rows.extend(decision::run(place)?);
    println!("Measuring: many new names.");
    let unpacking = Ground {
        vambrace: place.vambrace.clone(),
        workspace: place.fresh("spawn-names")?,
        state: place.fresh("spawn-names-state")?,
    };
    rows.extend(names::run_all(&unpacking)?);
    let tables = format!("{}\n{}", report::standings(&main, &ordinary), table::markdown(&rows));
    println!("\n{tables}");
    if !report::is_whole(&main) {
        return Err(Failure::new(
            "our own cages did not run, so docs/performance.md is as it was",
            "Run `vambrace doctor`.",
        ));
    }
    let around = Circumstances::now(cages.described());
    write(&place.root.join("docs/performance.md"), "spawn", &section("spawn", &around, &tables, NOTES))?;
    println!("Written to docs/performance.md.");
    Ok(())
}

fn starts(place: &Place, ground: &Ground, cages: &Cages) -> Result<Vec<Run>, Failure> {
    let many = Ground {
        vambrace: ground.vambrace.clone(),
        workspace: many_folders(place)?,
        state: place.fresh("spawn-many-state")?,
    };
    let mut entrants = plain();
    entrants.extend(door::entrants(ground, [report::WARM_DOOR, report::FRESH_DOOR]));
    entrants.extend(cell::entrants(ground));
    entrants.extend(call::entrants(place, ground)?);
    entrants.extend(door::entrants(&many, ["warm cage, 5,000 folders", "fresh cage, 5,000 folders"]));
    entrants.extend(cages.entrants(place, ground)?);
    contest::hold(ROUNDS, entrants)
}

/// What everything is measured by.
fn plain() -> Vec<Entrant<'static>> {
    vec![
        contest::command(contest::PLAIN, contest::QUICK, || clean(Path::new(TRUE))),
        contest::bare(contest::BARE, || clean(Path::new(TRUE))),
    ]
}

/// What everybody runs.
const TRUE: &str = "/usr/bin/true";

/// A command with nothing of the person's in its environment.
fn clean(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("LANG", "C.UTF-8");
    command
}

fn many_folders(place: &Place) -> Result<PathBuf, Failure> {
    let folder = place.fresh("spawn-many")?;
    for number in 0..N_FOLDERS {
        let path = format!("part{:02}/group{:02}/file.txt", number / 100, number % 100);
        place::write(&folder.join(path), "text\n")?;
    }
    Ok(folder)
}
