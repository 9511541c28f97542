//! Runs whose process is gone.

use std::io::Write as _;
use std::os::unix::fs::MetadataExt as _;

use rustix::time::{ClockId, clock_gettime};
use vambrace_policy::command::Join;

use super::*;
use crate::cell::{Input, Launcher, Output, Stdio as CellStdio, Watch};
use crate::order::{Order, OrderCommand, OrderProgram, OrderStep, ProgramFile};
use crate::spec::{CageLimits, CageSpec, Mount};

fn recovered(place: &Place) -> Vec<Moved> {
    recover(&place.state, &walker(&place.work), None)
}

fn begin(journal: &Arc<RunJournal>, before: &View) -> Running {
    journal.turn().unwrap().begin(before).unwrap()
}

fn taken(place: &Place) -> Vec<String> {
    let short = |path: &Path| path.strip_prefix(&place.work).unwrap().to_str().unwrap().to_owned();
    let mut names: Vec<_> = recovered(place)
        .iter()
        .map(|moved| match &moved.to {
            Ok(to) => {
                assert!(to.starts_with(&place.state) && std::fs::symlink_metadata(to).is_ok(), "{moved:?}");
                short(&moved.from)
            }
            Err(_) => format!("left {}", short(&moved.from)),
        })
        .collect();
    names.sort();
    names
}

/// The next file gets a later stamp than all before.
fn tick() {
    let now = || clock_gettime(ClockId::RealtimeCoarse);
    let before = now();
    until("the clock stands", || now() != before);
    // A stamp may lie one tick of the file system ahead of this clock.
    let before = now();
    until("the clock stands", || now() != before);
}

/// The file of a process that is gone: nobody has it locked. With the moment of death, if there was a witness.
fn crash(place: &Place, journal: &RunJournal, witnessed: bool) {
    let left = place.state.join("runs/1-1-0");
    std::fs::copy(journal.path(), &left).unwrap();
    if witnessed {
        tick();
        Witness::of(&left).unwrap().tell();
    }
}

fn open(place: &Place) -> Arc<RunJournal> {
    Arc::new(RunJournal::open(&place.state, &walker(&place.work)).unwrap())
}

#[test]
fn what_was_planted_before_the_death_is_taken_and_nothing_else() {
    let place = place();
    make(&place.work, &[".vscode/a", "old", "node_modules/p/.cursor/x", "sub/.mcp.json"]);
    tick();
    let journal = open(&place);
    let mut view = View::clone(&walker(&place.work).walk().unwrap());
    // As if the name had been protected only by a later version: not listed, and older than the run.
    view.protected.retain(|seen| !seen.path.ends_with(".mcp.json"));
    let _running = begin(&journal, &view);
    tick();
    make(&place.work, &[".codex/x", "deep/er/.claude/x", ".vscode/b"]);
    std::fs::rename(place.work.join("old"), place.work.join(".envrc")).unwrap();
    std::fs::rename(place.work.join("node_modules/p"), place.work.join("p")).unwrap();
    drop(Placeholders::default().hold(&place.work, &place.work));
    crash(&place, &journal, true);
    tick();
    make(&place.work, &[".husky/x", "late/.vscode/x"]);
    assert_eq!(taken(&place), [".codex", ".envrc", "deep/er/.claude", "p/.cursor"]);
    for stays in [".vscode/a", ".vscode/b", ".husky/x", "late/.vscode/x", "sub/.mcp.json"] {
        assert!(place.work.join(stays).exists(), "{stays}");
    }
    assert_eq!(taken(&place), Vec::<String>::new());
}

#[test]
fn without_a_witness_everything_is_left_and_named() {
    let place = place();
    let journal = open(&place);
    drop(begin(&journal, &walker(&place.work).walk().unwrap()));
    // A launcher that was replaced long before the kill is no witness of it.
    Witness::of(journal.path()).unwrap().tell();
    tick();
    let _running = begin(&journal, &walker(&place.work).walk().unwrap());
    tick();
    make(&place.work, &[".codex/x"]);
    crash(&place, &journal, false);
    assert_eq!(taken(&place), ["left .codex"]);
    assert_eq!(taken(&place), Vec::<String>::new());
}

#[test]
fn what_was_made_while_nothing_ran_is_not_taken() {
    let place = place();
    let journal = open(&place);
    let walker = walker(&place.work);
    drop(begin(&journal, &walker.walk().unwrap()));
    tick();
    make(&place.work, &[".envrc"]);
    crash(&place, &journal, true);
    assert_eq!(taken(&place), Vec::<String>::new());
    assert_eq!(names(&place.state.join("runs")).len(), 1, "only the living one's");
    // Of two runs side by side the second does not vouch for what the first planted.
    let first = begin(&journal, &walker.walk().unwrap());
    tick();
    make(&place.work, &[".codex/x"]);
    let second = begin(&journal, &walker.walk().unwrap());
    drop(first);
    crash(&place, &journal, true);
    assert_eq!(taken(&place), [".codex"]);
    drop(second);
}

#[test]
fn living_processes_and_other_services_are_left_alone() {
    let place = place();
    let journal = open(&place);
    let running = begin(&journal, &walker(&place.work).walk().unwrap());
    make(&place.work, &[".codex/x"]);
    assert_eq!(taken(&place), Vec::<String>::new());
    let service = place.work.join("sub");
    std::fs::create_dir(&service).unwrap();
    let other = walker_of(&place.work, "sub");
    let other = Arc::new(RunJournal::open(&place.state, &other).unwrap());
    let _other = begin(&other, &walker(&place.work).walk().unwrap());
    crash(&place, &other, true);
    assert_eq!(taken(&place), Vec::<String>::new());
    assert_eq!(names(&place.state.join("runs")).len(), 3);
    std::fs::remove_dir(&service).unwrap();
    assert_eq!(taken(&place), Vec::<String>::new());
    assert_eq!(names(&place.state.join("runs")).len(), 2, "its service is no more");
    drop((running, journal));
    assert_eq!(names(&place.state.join("runs")).len(), 1, "a clean end leaves nothing");
}

/// What a program closed is opened, looked behind and closed again. What it had not seen into before is left alone.
#[test]
fn closed_folders_do_not_hide_what_was_planted() {
    let place = place();
    as_nobody(&place, || {
        let work = &place.work;
        make(work, &["node_modules/p/.cursor/x", "theirs/.npmrc", "secrets/.npmrc"]);
        set_mode(&work.join("theirs"), 0o311);
        tick();
        let journal = open(&place);
        let _running = begin(&journal, &walker(work).walk().unwrap());
        tick();
        make(work, &["a/.envrc", "b/c/d/.idea/x", "e/.env.d/.zed/x"]);
        // Older than the run, all of it; only the move and the closing are of the run.
        std::fs::rename(work.join("node_modules/p"), work.join("p")).unwrap();
        let closed = ["a", "b/c/d", "b/c", "b", "e/.env.d", "p"];
        for (folder, mode) in closed.into_iter().zip([0o311, 0o000, 0o111, 0o600, 0o400, 0o100]) {
            set_mode(&work.join(folder), mode);
        }
        crash(&place, &journal, true);
        tick();
        assert_eq!(taken(&place), ["a/.envrc", "b/c/d/.idea", "e/.env.d/.zed", "p/.cursor"]);
        for (folder, found) in
            [("a", 0o311), ("b", 0o600), ("e/.env.d", 0o400), ("p", 0o100), ("theirs", 0o311)]
        {
            assert_eq!(mode(&work.join(folder)), found, "{folder}");
            set_mode(&work.join(folder), 0o700);
        }
        for (folder, found) in [("b/c", 0o111), ("b/c/d", 0o000)] {
            assert_eq!(mode(&work.join(folder)), found, "{folder}");
            set_mode(&work.join(folder), 0o700);
        }
        assert!(work.join("theirs/.npmrc").exists() && work.join("secrets/.npmrc").exists());
        assert_eq!(taken(&place), Vec::<String>::new());
    });
}

/// The part of the child: a front process like the product's, in miniature.
pub(super) fn run_a_program_that_plants(base: &Path) {
    let (state, work) = (base.join("state"), base.join("work"));
    let journal = Arc::new(RunJournal::open(&state, &walker(&work)).unwrap());
    let own = std::env::current_exe().unwrap();
    let front = own.parent().unwrap().parent().unwrap().join("examples/launcher");
    let launcher = Launcher::start_as_witness(&front, Some(journal.path())).unwrap();
    let mut cell = launcher.cell(&spec(&work)).unwrap();
    let _running = begin(&journal, &walker(&work).walk().unwrap());
    // Until it is dead it plants again and again, so that a death told too early would miss the last one.
    let script =
        "mkdir .codex; echo x > .codex/x; while :; do rm -f .envrc; echo x > .envrc; echo x >> ready; done";
    let watch = Watch {
        time_limit: Duration::from_secs(60),
        grace: Duration::from_secs(1),
        output_bytes: 1 << 20,
        cancelled: &|| false,
    };
    let stdio = CellStdio { input: Input::Null, output: Output::Capture };
    let ran = cell.run(&order(&work, script), stdio, &watch);
    let _told = writeln!(std::io::stdout(), "not killed: {ran:?}");
}

fn spec(work: &Path) -> CageSpec {
    let mut mounts = vec![Mount::ReadOnly { from: PathBuf::from("/usr"), at: PathBuf::from("/usr") }];
    for name in ["bin", "lib", "lib64"] {
        mounts.push(Mount::Link { at: Path::new("/").join(name), to: Path::new("usr").join(name) });
    }
    let at = work.to_owned();
    mounts.extend([Mount::Processes, Mount::Devices, Mount::Writable { from: at.clone(), at: at.clone() }]);
    let limits = CageLimits { processes: 100, memory_bytes: 1 << 30, file_bytes: 1 << 28 };
    CageSpec { mounts, limits, writable: vec![at], groups: Vec::new(), guarded: None, way_out: false }
}

fn order(work: &Path, script: &str) -> Order {
    let path = Path::new("/usr/bin/sh").canonicalize().unwrap();
    let stat = path.metadata().unwrap();
    let file = ProgramFile { path, device: stat.dev(), inode: stat.ino() };
    let vector = ["sh", "-c", script].map(str::to_owned).to_vec();
    let program = OrderProgram { file, vector, redirects: Vec::new() };
    let step = OrderStep { join: Join::First, pipeline: vec![OrderCommand::Run(program)] };
    let environment = vec![("PATH".to_owned(), "/usr/bin".to_owned())];
    Order { steps: vec![step], folder: work.to_owned(), environment }
}

#[test]
fn a_real_kill_in_the_middle_of_a_program() {
    let place = place();
    make(&place.work, &["sub/.vscode/a"]);
    let mut child = another(&format!("plant:{}", place.base.display()));
    until("the program runs", || {
        assert_eq!(child.try_wait().unwrap(), None, "the child failed");
        std::fs::metadata(place.work.join("ready")).is_ok_and(|ready| ready.len() > 20)
    });
    child.kill().unwrap();
    child.wait().unwrap();
    // At once: the launcher may still be at work.
    let moved = taken(&place);
    assert!(moved == [".codex", ".envrc"] || moved == [".codex"], "{moved:?}");
    assert_eq!(names(&place.work), ["ready", "sub"]);
    assert!(place.work.join("sub/.vscode/a").exists());
    assert_eq!(names(&place.state.join("runs")), Vec::<String>::new());
}
