use crate::settings::AbsentNames;
use vambrace_policy::{HardLinks, Isolation, Kinds, OperatorRule, ScopeSettings, Subject, Symlinks, Verdict};
use vambrace_types::Bearings;

use super::*;
use crate::workspace::Walker;

struct Place {
    _root: tempfile::TempDir,
    base: PathBuf,
}

fn place(files: &[&str]) -> Place {
    let root = tempfile::tempdir().unwrap();
    let base = root.path().canonicalize().unwrap();
    for file in files {
        let path = base.join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        if !file.ends_with('/') {
            std::fs::write(path, "").unwrap();
        }
    }
    Place { _root: root, base }
}

fn scope(base: &Path, service: &str, isolation: Isolation) -> Arc<Scope> {
    let settings = ScopeSettings {
        bearings: Bearings::new(&[base.to_str().unwrap()], service, &["shared"]),
        isolation,
        block_patterns: vec!["*.pem".to_owned()],
        shared_inside_own: false,
        symlinks: Symlinks::Inside,
        hard_links: HardLinks::ReadOnly,
    };
    Arc::new(Scope::new(settings).unwrap())
}

fn spec(place: &Place, service: &str, isolation: Isolation, repository: Repository) -> CageSpec {
    spec_of(place, scope(&place.base, service, isolation), repository)
}

fn spec_of(place: &Place, scope: Arc<Scope>, repository: Repository) -> CageSpec {
    let view = Walker::new(place.base.clone(), Arc::clone(&scope)).walk().unwrap();
    let surroundings = Surroundings::new(SurroundingsSettings {
        workspace: place.base.clone(),
        spellings: vec![PathBuf::from("/elsewhere/link")],
        scope,
        user: User { name: "me".to_owned(), uid: 1000, gid: 1000 },
        toolchains: Toolchains::default(),
        read: Vec::new(),
        write: Vec::new(),
        author: None,
        absent_names: AbsentNames::Sweep,
        turns: PathBuf::new(),
        temporary_bytes: 1 << 20,
    })
    .unwrap();
    let parts = SpecParts {
        etc: &[],
        repository,
        further_writable: &[],
        fetched: &[],
        limits: CageLimits::default(),
        groups: &[],
        way_out: None,
    };
    surroundings.spec(&view, &parts).unwrap()
}

/// The mounts on the workspace in a short form, in their order.
fn short(spec: &CageSpec, base: &Path) -> Vec<String> {
    let inside = |path: &Path| path.strip_prefix(base).ok().map(|path| format!("/{}", path.display()));
    let mounts = spec.mounts.iter().filter_map(|mount| match mount {
        Mount::ReadOnly { at, .. } => inside(at).map(|at| format!("read {at}")),
        Mount::Writable { at, .. } => inside(at).map(|at| format!("write {at}")),
        Mount::Pin { at } => inside(at).map(|at| format!("pin {at}")),
        Mount::PinReadOnly { at } => inside(at).map(|at| format!("protect {at}")),
        Mount::PinLink { at } => inside(at).map(|at| format!("hold {at}")),
        Mount::EmptyFolder { at } => inside(at).map(|at| format!("empty {at}/")),
        Mount::EmptyFile { at } => inside(at).map(|at| format!("empty {at}")),
        Mount::Text { at, .. } => inside(at).map(|at| format!("text {at}")),
        Mount::Memory { .. } | Mount::Link { .. } | Mount::Processes | Mount::Devices => None,
    });
    mounts.collect()
}

#[track_caller]
fn check(files: &[&str], service: &str, isolation: Isolation, repository: Repository, expected: &[&str]) {
    let place = place(files);
    let spec = spec(&place, service, isolation, repository);
    assert_eq!(short(&spec, &place.base), expected, "{service} {isolation:?}");
}

#[test]
fn a_lone_project_is_writable_except_for_what_is_not() {
    check(
        &[
            "src/main.rs",
            ".env",
            "sub/.vscode/tasks.json",
            "secrets/key",
            "keys/a.pem",
            ".git/config",
            ".git/hooks/x",
        ],
        "",
        Isolation::Strict,
        Repository::ReadOnly,
        &[
            "write /",
            "pin /keys",
            "pin /sub",
            "protect /sub/.vscode",
            "protect /.git",
            "text /.git/config",
            "empty /.git/hooks/",
            "empty /.env",
            "empty /secrets/",
            "empty /keys/a.pem",
        ],
    );
}

#[test]
fn of_a_monorepo_the_scope_decides() {
    let files = ["a/x", "b/.env", "b/y", "shared/s", "shared/.env", ".git/config", ".claude/x"];
    check(
        &files,
        "a",
        Isolation::Strict,
        Repository::ReadOnly,
        &["read /shared", "write /a", "read /.git", "text /.git/config", "empty /shared/.env"],
    );
    check(
        &files,
        "a",
        Isolation::Shared,
        Repository::ReadOnly,
        &["read /", "write /a", "protect /.git", "text /.git/config", "empty /b/.env", "empty /shared/.env"],
    );
    check(
        &files,
        "a",
        Isolation::Strict,
        Repository::Writable,
        &["read /shared", "write /a", "write /.git", "text /.git/config", "empty /shared/.env"],
    );
}

#[test]
fn the_private_folders_come_before_the_workspace() {
    let place = place(&["x"]);
    let spec = spec(&place, "", Isolation::Strict, Repository::ReadOnly);
    let at = |wanted: &dyn Fn(&Mount) -> bool| spec.mounts.iter().position(wanted).unwrap();
    let memory = at(&|mount| matches!(mount, Mount::Memory { at, .. } if at == Path::new("/tmp")));
    let work = at(&|mount| matches!(mount, Mount::Writable { at, .. } if *at == place.base));
    assert!(memory < work);
    let link = Mount::Link { at: PathBuf::from("/elsewhere/link"), to: place.base.clone() };
    assert!(spec.mounts.contains(&link));
    assert_eq!(spec.writable, [PathBuf::from("/tmp"), PathBuf::from(CAGE_HOME), place.base.clone()]);
}

#[track_caller]
fn check_refused(path: &str, refused: bool) {
    assert_eq!(check_place(Path::new(path)).is_err(), refused, "{path}");
}

#[test]
fn a_link_to_a_part_of_the_system_is_one() {
    let folder = tempfile::tempdir().unwrap();
    let link = |name: &str, to: &Path| {
        let link = folder.path().join(name);
        std::os::unix::fs::symlink(to, &link).unwrap();
        link.to_str().unwrap().to_owned()
    };
    check_refused(&link("memory", Path::new("/dev/shm")), true);
    check_refused(&link("settings", Path::new("/etc")), true);
    check_refused(&link("nothing", Path::new("/nothing")), true);
    check_refused(&link("own", folder.path()), false);
}

#[test]
fn a_workspace_is_no_part_of_the_system() {
    for path in [
        "/",
        "/usr",
        "/usr/bin",
        "/etc",
        "/proc/self",
        "/tmp",
        "/home",
        "/home/agent",
        "relative",
        "/tmp/../etc",
    ] {
        check_refused(path, true);
    }
    check_refused("/var", false);
    check_refused("/home/agent/does-not-exist", true);
}

/// What nobody may change, programs may not change either: also the files that are there already.
#[test]
fn a_service_that_is_protected_as_a_whole_is_read_only() {
    #[track_caller]
    fn check(pattern: &str, service: &str, is_writable: bool) {
        let place = place(&["a/x", ".vambrace/log"]);
        let scope = Scope::clone(&scope(&place.base, service, Isolation::Strict));
        let edits = Subject::Tool { name: "edit_file".to_owned(), kinds: Kinds::CHANGES_AND_SHOWS };
        let rule = OperatorRule::new(edits, Some(pattern), Verdict::Deny, "", "").unwrap();
        let scope = Arc::new(scope.narrowed_by(&[rule]));
        let spec = spec_of(&place, scope, Repository::ReadOnly);
        let writes = short(&spec, &place.base).iter().any(|mount| mount.starts_with("write"));
        assert_eq!((writes, spec.guarded.is_some()), (is_writable, false), "{pattern} {service}");
        let hides_mirror = short(&spec, &place.base).contains(&"empty /.vambrace/".to_owned());
        assert_eq!(hides_mirror, service.is_empty(), "{pattern} {service}");
    }
    check("**", "", false);
    check("**", "a", false);
    check("a/**", "a", false);
    check("a/x", "a", true);
    check("b", "a", true);
}
