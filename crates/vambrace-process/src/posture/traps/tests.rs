//! The battery against nothing at all, where its rows must break, and the host's judgment of forged reports.

use std::collections::BTreeMap;
use std::fs;
use std::process::{Command, Stdio};

use super::*;

struct World {
    _folder: tempfile::TempDir,
    state: PathBuf,
    service: PathBuf,
}

fn world() -> World {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    let service = folder.path().join("workspace/service");
    fs::create_dir(&state).unwrap();
    fs::create_dir_all(service.join(".git/hooks")).unwrap();
    fs::create_dir_all(folder.path().join("workspace/sibling")).unwrap();
    fs::write(service.join(".env"), "x").unwrap();
    World { _folder: folder, state, service }
}

fn traps(world: &World) -> Traps {
    Traps::set(&world.state, world.service.parent().unwrap(), &world.service).unwrap()
}

/// What a battery would print that met a wall everywhere.
fn all_held() -> String {
    Row::ALL.iter().map(|row| format!("{}\theld\tno\n", row.as_str())).collect()
}

fn judged(traps: &Traps, stdout: &str) -> BTreeMap<String, (bool, String)> {
    let rows = traps.judge(stdout.as_bytes());
    assert_eq!(rows.len(), Row::ALL.len());
    rows.into_iter().map(|row| (row.name, (row.state == RowState::Held, row.detail))).collect()
}

#[track_caller]
fn check(traps: &Traps, stdout: &str, broken_row: Option<(Row, &str)>) {
    for (name, (held, detail)) in judged(traps, stdout) {
        match broken_row {
            Some((row, expected)) if row.as_str() == name => {
                assert_eq!((held, detail.as_str()), (false, expected))
            }
            _ => assert!(held, "{name}: {detail}"),
        }
    }
}

#[test]
fn a_row_is_held_only_if_the_report_says_so_once() {
    let world = world();
    let traps = traps(&world);
    let name = Row::Keys.as_str();
    let line = format!("{name}\theld\tno\n");
    check(&traps, &all_held(), None);
    check(&traps, &format!("noise\n\n{}", all_held()), None);
    let without = all_held().replace(&line, "");
    check(&traps, &without, Some((Row::Keys, "the battery did not report it")));
    let rows = [
        (format!("{name}\tbroken\tit worked\n"), "it worked"),
        (format!("{name}\tbroken\tit worked\n{line}"), "the battery reported it more than once"),
        (format!("{line}{line}"), "the battery reported it more than once"),
        (format!("{name}\tHELD\tno\n"), "the report cannot be read"),
        (format!("{name}\theld\n"), "the report cannot be read"),
        (format!("{name}\theld\ta\tb\n"), "the report cannot be read"),
        (format!("{name} \theld\ta\n"), "the battery did not report it"),
    ];
    for (said, expected) in rows {
        check(&traps, &format!("{without}{said}"), Some((Row::Keys, expected)));
    }
    // What was not reported says nothing; only an attack that succeeded is a hole.
    assert!(traps.judge(b"").iter().all(|row| row.state == RowState::Untried));
    assert!(traps.judge(&[0xff, b'\t', 0, b'\n']).iter().all(|row| row.state == RowState::Untried));
    let said = format!("{without}{name}\tbroken\tit worked\n");
    assert_eq!(traps.judge(said.as_bytes())[Row::Keys as usize].state, RowState::Broken);
}

#[test]
fn what_the_host_sees_outweighs_the_report() {
    let world = world();
    let traps = traps(&world);
    let canary = traps.facts.canary.clone();
    fs::hard_link(&canary, world.state.join("second")).unwrap();
    check(&traps, &all_held(), Some((Row::HardLink, "a file of the host has a second name")));
    fs::remove_file(world.state.join("second")).unwrap();
    check(&traps, &all_held(), None);

    let scratch = traps.facts.scratch(&traps.facts.workspace);
    fs::write(&scratch, "").unwrap();
    let expected = format!("something was left in {}", traps.facts.workspace);
    check(&traps, &all_held(), Some((Row::WriteOutside, &expected)));
    fs::remove_file(&scratch).unwrap();

    fs::write(&canary, "changed").unwrap();
    check(&traps, &all_held(), Some((Row::WriteThroughLink, "a file of the host has changed")));
}

#[test]
fn callers_count_when_they_show_the_token() {
    let world = world();
    let traps = traps(&world);
    let call = |address: &SocketAddrV4, kind: SocketType, text: &str| {
        let socket = socket_with(AddressFamily::INET, kind, SocketFlags::CLOEXEC, None).unwrap();
        rustix::net::connect(&socket, address).unwrap();
        rustix::net::send(&socket, text.as_bytes(), rustix::net::SendFlags::NOSIGNAL).unwrap();
    };
    let tcp = SocketAddrV4::new(Ipv4Addr::LOCALHOST, traps.facts.tcp);
    let udp = SocketAddrV4::new(Ipv4Addr::LOCALHOST, traps.facts.udp);
    // Somebody else of this machine.
    call(&tcp, SocketType::STREAM, "GET / HTTP/1.1\r\n");
    call(&udp, SocketType::DGRAM, "hello");
    check(&traps, &all_held(), None);
    call(&tcp, SocketType::STREAM, "GET / HTTP/1.1\r\n");
    call(&tcp, SocketType::STREAM, &traps.facts.token);
    check(&traps, &all_held(), Some((Row::Tcp, "the host was called")));
    call(&udp, SocketType::DGRAM, "hello");
    call(&udp, SocketType::DGRAM, &traps.facts.token);
    check(&traps, &all_held(), Some((Row::Udp, "the host received it")));
}

#[test]
fn nothing_is_left_of_the_traps() {
    let world = world();
    let traps = traps(&world);
    let facts = traps.facts.clone();
    let made: Vec<_> = [&facts.canary, &facts.temporary_canary].into_iter().chain(&facts.sockets).collect();
    assert_eq!(made.len(), 4);
    assert!(made.iter().all(|path| Path::new(path).exists()));
    drop(traps);
    assert!(made.iter().all(|path| fs::symlink_metadata(path).is_err()));
    assert_eq!(fs::read_dir(&world.state).unwrap().count(), 0);
    assert!(Traps::set(&world.state.join("absent"), &world.state, &world.state).is_err());
}

#[test]
fn only_what_has_our_form_is_removed() {
    let world = world();
    let gone = (2..).find(|pid| rustix::process::test_kill_process(Pid::from_raw(*pid).unwrap()).is_err());
    let token = format!("{}-{}", gone.unwrap(), "0a".repeat(RANDOM_BYTES));
    let ours = [format!("vambrace-attack-{token}"), format!("vambrace-canary-{token}")];
    let mine = format!("vambrace-attack-{}-{}", std::process::id(), "0a".repeat(RANDOM_BYTES));
    let theirs = [
        "traps-4001-summer".to_owned(),
        format!("traps-{token}"),
        format!("vambrace-attack-{token}-moved"),
        "vambrace-attack-1999999-x".to_owned(),
        format!("vambrace-attack-{}", token.to_uppercase()),
        mine,
    ];
    for name in ours.iter().chain(&theirs) {
        fs::write(world.service.join(name), "work of a person").unwrap();
    }
    // A folder of ours holds nothing but what we put there.
    let full = format!("vambrace-socket-{token}");
    fs::create_dir(world.service.join(&full)).unwrap();
    fs::write(world.service.join(&full).join("photo"), "").unwrap();
    fs::create_dir_all(world.state.join(format!("traps-{token}"))).unwrap();
    fs::write(world.state.join(format!("traps-{token}/canary")), "").unwrap();
    drop(traps(&world));
    assert!(ours.iter().all(|name| !world.service.join(name).exists()));
    assert!(theirs.iter().chain([&full]).all(|name| world.service.join(name).exists()));
    assert_eq!(fs::read_dir(&world.state).unwrap().count(), 0);
}

#[test]
fn homes_are_found_by_number() {
    #[track_caller]
    fn check(line: &str, expected: Option<&str>) {
        let passwords = format!("root:x:0:0:root:/root:/bin/sh\n{line}\n");
        assert_eq!(home(&passwords, 1000).as_deref(), expected, "{line}");
    }
    check("a:x:1000:1000:A,B:/home/a:/bin/sh", Some("/home/a"));
    check("a:x:1000:1000::/home/a:", Some("/home/a"));
    check("a:x:10000:1000::/home/a:/bin/sh", None);
    check("a:x:1000:1000::none:/bin/sh", None);
    check("a:x:1000", None);
    check("", None);
}

/// Rows that break on every machine when there is no cage, whoever the user is.
const BROKEN_WITHOUT_A_CAGE: [Row; 17] = [
    Row::ReadOutside,
    Row::ReadTemporary,
    Row::ReadHidden,
    Row::WriteThroughLink,
    Row::WriteOutside,
    Row::PlantHook,
    Row::MoveRepository,
    Row::PlantConfiguration,
    Row::Tcp,
    Row::Udp,
    Row::UnixPath,
    Row::UnixAbstract,
    Row::OtherSockets,
    Row::OwnEnvironment,
    Row::SignalHost,
    Row::SeeHost,
    Row::Descriptors,
];

const CONTROLS: [Row; 3] = [Row::WorkInService, Row::UseTemporary, Row::RunProgram];

const TOLD: &str = "VAMBRACE_TEST_ATTACK";

/// This test runs itself again, as the attacker.
#[test]
fn without_a_cage_the_battery_breaks() {
    #[expect(clippy::disallowed_methods, reason = "the test tells itself apart from its child")]
    if let Ok(told) = std::env::var(TOLD) {
        let arguments: Vec<_> = told.lines().map(str::to_owned).collect();
        // The harness may stand in the middle of a line.
        std::io::stdout().write_all(b"\n").unwrap();
        let _code = crate::attack::attack(&arguments);
        std::process::exit(0);
    }
    let world = world();
    let hidden = world.service.join(".env");
    let traps = traps(&world)
        .with_hidden([hidden.as_path()])
        .with_variables(["PATH"])
        .with_writable([Path::new("/absent")]);
    let output = Command::new("/bin/sh")
        .args(["-c", "exec \"$0\" \"$@\" 9</proc"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "posture::traps::tests::without_a_cage_the_battery_breaks", "--nocapture"])
        .env(TOLD, traps.told().trim_end_matches('\0').replace('\0', "\n"))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let rows = judged(&traps, &said);
    for row in BROKEN_WITHOUT_A_CAGE {
        assert!(!rows[row.as_str()].0, "{row:?} held: {said}");
    }
    for row in CONTROLS {
        assert!(rows[row.as_str()].0, "{row:?} broken: {said}");
    }
    assert!(rows.values().all(|(_, detail)| !detail.contains("did not report")), "{said}");
    let called =
        ["connect by TCP", "connect to a unix socket by its path", "connect to an abstract unix socket"];
    for name in called {
        assert_eq!(rows[name].1, "the host was called");
    }
    assert_eq!(rows["write through a link"].1, "a file of the host has changed");
    assert_eq!(rows["send by UDP"].1, "the host received it");
    // Harmless: what was made is gone again.
    let mut names: Vec<_> =
        fs::read_dir(&world.service).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, [".env", ".git"]);
    assert!(fs::symlink_metadata(traps.facts.scratch("/tmp")).is_err());
}
