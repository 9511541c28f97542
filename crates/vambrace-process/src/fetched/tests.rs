use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};

use vambrace_policy::command::{Join, Redirect, RedirectMode, Step, Stream, Target};
use vambrace_types::ScopedPath;

use super::*;

const SERVICE: &str = "/w/svc";

fn program(line: &str) -> Job {
    let mut words = line.split_whitespace().map(str::to_owned);
    let top = ScopedPath::from_components(Vec::new()).unwrap();
    Job::program(&words.next().unwrap(), words.collect(), top)
}

/// Commands one after the other.
fn job(line: &str) -> Job {
    let mut parts = line.split(" && ");
    let mut job = program(parts.next().unwrap());
    for part in parts {
        let pipeline = match part.strip_prefix("cd ") {
            Some(folder) => vec![Command::Enter(folder.to_owned())],
            None => program(part).plan.steps.remove(0).pipeline,
        };
        job.plan.steps.push(Step { join: Join::IfOk, pipeline });
    }
    job
}

struct Place {
    _root: tempfile::TempDir,
    state: PathBuf,
}

/// `ID` stands for the folder of the service.
fn place(folders: &[&str]) -> Place {
    let root = tempfile::tempdir().unwrap();
    let state = root.path().canonicalize().unwrap().join("state");
    for folder in folders {
        std::fs::create_dir_all(state.join(folder.replace("ID", &id(Path::new(SERVICE))))).unwrap();
    }
    // As we make them, whatever the mask of whoever runs the tests.
    let own = state.join(FOLDER).join(id(Path::new(SERVICE)));
    for folder in [state.join(FOLDER), own.clone(), own.join("cargo"), own.join("go-mod")] {
        if folder.exists() {
            std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700)).unwrap();
        }
    }
    Place { _root: root, state }
}

impl Place {
    fn own(&self, rest: &str) -> PathBuf {
        self.state.join(FOLDER).join(id(Path::new(SERVICE))).join(rest)
    }

    /// Which folders a job is shown and how, by their last name.
    fn shown(&self, job: &Job, line: Line) -> Vec<String> {
        let found = of(job, line, Rustup::Absent, &self.state, Path::new(SERVICE));
        for (name, value) in &found.variables {
            let is_place = ["CARGO_HOME", "GOMODCACHE"].contains(&name.as_str());
            assert!(!is_place || found.shown.iter().any(|shown| shown.path == Path::new(value)), "{name}");
        }
        let shown = found.shown.iter().map(|shown| {
            let rest = shown.path.strip_prefix(self.own("")).unwrap();
            format!("{} {:?}", rest.display(), shown.access)
        });
        shown.collect()
    }
}

#[track_caller]
fn check(folders: &[&str], line: Line, command: &str, expected: &[&str]) {
    assert_eq!(place(folders).shown(&job(command), line), expected, "{command} {line:?} {folders:?}");
}

#[test]
fn only_a_job_that_is_nothing_but_a_download_may_write() {
    let cargo = &["cargo Write"];
    check(&[], Line::Up, "cargo fetch --locked", cargo);
    check(&[], Line::Up, "cargo fetch", cargo);
    check(&[], Line::Up, "go mod download", &["go-mod Write"]);
    check(&[], Line::Down, "cargo fetch --locked", &[]);
    check(&[], Line::Down, "go mod download", &[]);
    for line in [
        "npm ci",
        "cargo",
        "cargo build",
        "cargo build fetch",
        "cargo +nightly fetch",
        "cargo fetch --config build.rustc-wrapper='./x'",
        "cargo fetch --locked x",
        "cargo fetch && cargo fetch",
        "cargo fetch && sh x",
        "sh x && cargo fetch",
        "cargo fetch && cd x",
        "./cargo fetch",
        "/bin/cargo fetch",
        "go mod",
        "go mod vendor",
        "go mod download -x",
        "go build",
    ] {
        check(&[], Line::Up, line, &[]);
        check(&["fetched/ID/cargo/registry/cache"], Line::Up, line, &["cargo Read"]);
    }
    let mut redirected = job("cargo fetch");
    let Command::Run(run) = &mut redirected.plan.steps[0].pipeline[0] else { panic!() };
    let (mode, target) = (RedirectMode::Truncate, Target::File("x".to_owned()));
    run.redirects.push(Redirect { stream: Stream::Out, mode, target });
    assert_eq!(place(&[]).shown(&redirected, Line::Up), Vec::<String>::new());
}

#[test]
fn others_read_it_once_something_is_there() {
    // Made by an attempt that brought nothing in.
    check(&["fetched/ID/cargo/registry/index"], Line::Down, "cargo build", &[]);
    check(&["fetched/ID/cargo/registry/cache"], Line::Down, "cargo build", &["cargo Read"]);
    check(&["fetched/ID/cargo/git/db"], Line::Down, "make", &["cargo Read"]);
    check(&["fetched/ID/go-mod/cache"], Line::Down, "make", &[]);
    check(&["fetched/ID/go-mod/cache/download"], Line::Down, "make", &["go-mod Read"]);
    let both = ["fetched/ID/go-mod/cache/download", "fetched/ID/cargo/git/db"];
    check(&both, Line::Down, "make", &["cargo Read", "go-mod Read"]);
    check(&both, Line::Up, "cargo fetch", &["cargo Write", "go-mod Read"]);
    check(&["fetched/00/cargo/registry/cache"], Line::Down, "cargo build", &[]);
}

#[test]
fn each_service_has_its_own() {
    let ids = ["/w", "/w/svc", "/w/svc2", "/v/svc"].map(|service| id(Path::new(service)));
    for (index, one) in ids.iter().enumerate() {
        assert!(one.len() == 32 && one.bytes().all(|byte| byte.is_ascii_hexdigit()), "{one}");
        assert!(ids.iter().skip(index + 1).all(|other| other != one), "{one}");
    }
}

#[test]
fn what_is_made_is_closed_to_others_and_made_through_no_link() {
    let fetch = job("cargo fetch");
    let made = place(&[]);
    assert_eq!(made.shown(&fetch, Line::Up), ["cargo Write"]);
    for path in [made.state.clone(), made.state.join(FOLDER), made.own(""), made.own("cargo")] {
        assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, 0o700, "{}", path.display());
    }
    for name in ["fetched", "fetched/ID", "fetched/ID/cargo"] {
        let place = place(&["elsewhere/registry/cache"]);
        let link = place.state.join(name.replace("ID", &id(Path::new(SERVICE))));
        let above = link.parent().unwrap();
        std::fs::create_dir_all(above).unwrap();
        symlink(place.state.join("elsewhere"), &link).unwrap();
        for line in [Line::Up, Line::Down] {
            assert_eq!(place.shown(&fetch, line), Vec::<String>::new(), "{name}");
        }
        assert_eq!(std::fs::read_dir(place.state.join("elsewhere")).unwrap().count(), 1, "{name}");
    }
    let open = place(&["fetched/ID/cargo/registry/cache"]);
    std::fs::set_permissions(open.own("cargo"), std::fs::Permissions::from_mode(0o777)).unwrap();
    assert_eq!(open.shown(&fetch, Line::Down), Vec::<String>::new());
}

#[test]
fn the_state_may_be_spelled_through_a_link() {
    let place = place(&["fetched/ID/cargo/git/db"]);
    let spelled = place.state.with_file_name("spelled");
    symlink(&place.state, &spelled).unwrap();
    let found = of(&job("make"), Line::Down, Rustup::Absent, &spelled, Path::new(SERVICE));
    assert_eq!(found.shown, [Shown { path: place.own("cargo"), access: Access::Read }]);
}

/// What rustup is told, and whether the job can write.
#[track_caller]
fn check_rustup(command: &str, line: Line, rustup: Rustup<'_>, told: Option<&str>, is_writable: bool) {
    let place = place(&["fetched/ID/cargo/registry/cache"]);
    let found = of(&job(command), line, rustup, &place.state, Path::new(SERVICE));
    let mut values = found.variables.iter().filter(|(name, _)| name == "RUSTUP_TOOLCHAIN");
    assert_eq!(values.next().map(|(_, value)| value.as_str()), told, "{command} {line:?} {rustup:?}");
    let is_written = found.shown.iter().any(|shown| shown.access == Access::Write);
    assert_eq!(is_written, is_writable, "{command} {line:?} {rustup:?}");
}

#[test]
fn a_download_has_the_default_toolchain_or_writes_nothing() {
    let default = Rustup::Default("stable-x86_64");
    for command in ["cargo fetch", "cargo fetch --locked"] {
        check_rustup(command, Line::Up, default, Some("stable-x86_64"), true);
        check_rustup(command, Line::Up, Rustup::Unknown, None, false);
        check_rustup(command, Line::Up, Rustup::Absent, None, true);
        check_rustup(command, Line::Down, default, None, false);
    }
    for command in ["cargo build", "cargo fetch && cargo build", "sh x"] {
        check_rustup(command, Line::Up, default, None, false);
    }
    for rustup in [default, Rustup::Unknown, Rustup::Absent] {
        check_rustup("go mod download", Line::Up, rustup, None, true);
    }
}

#[test]
fn packages_are_searched_after_a_download_only() {
    let files = ["cargo/registry/src/p/.git", "cargo/git/checkouts/p/.git", "go-mod/m@v1/.git"];
    let left = |command: &str, bounds: unpacked::Bounds| {
        let place = place(&["fetched/ID/cargo/registry/cache", "fetched/ID/go-mod/cache/download"]);
        files.iter().for_each(|file| std::fs::create_dir_all(place.own(file)).unwrap());
        let found = of(&job(command), Line::Up, Rustup::Absent, &place.state, Path::new(SERVICE));
        let cleaned = clean_within(&found, bounds);
        let left: Vec<bool> = files.iter().map(|file| place.own(file).exists()).collect();
        assert_eq!(place.own("").exists(), cleaned.is_ok());
        assert!(place.state.join(FOLDER).exists());
        (left, cleaned.err())
    };
    assert_eq!(left("cargo fetch", unpacked::BOUNDS), (vec![false, true, true], None));
    assert_eq!(left("go mod download", unpacked::BOUNDS), (vec![true, true, false], None));
    assert_eq!(left("cargo build", unpacked::BOUNDS), (vec![true, true, true], None));
    let (left, why) = left("cargo fetch", unpacked::Bounds { entries: 1, levels: 64 });
    assert_eq!(left, [false, false, false]);
    assert!(why.unwrap().ends_with("so all that was fetched for this service was removed"));
}
