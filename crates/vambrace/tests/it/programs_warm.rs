//! Calls of one session share a prepared cage and nothing else.

use std::os::unix::fs::MetadataExt as _;

use serde_json::json;

use crate::mcp_client::Client;
use crate::programs_host::{alive, has, has_shared_memory, marker};
use crate::support::World;

/// The operator lets agents start any script of the workspace, which shows the inside of the cage.
const ANY_SCRIPT: &str = "tools: {command_policy: {allowlist: [sh, ps, grep], argument_rules: \"off\"}}\n";

const LOOK: &str = "find /tmp /dev/shm /dev/mqueue /home/agent $(dirname $PWD) -path $PWD -prune -o -print 2>/dev/null | sort
                    ipcs -m -q -s | grep -c ^0x; set -- /proc/[0-9]*; echo $#; umask; ulimit -n; hostname; pwd; env | sort
                    cat /proc/self/oom_score_adj /proc/self/coredump_filter; nice";
/// Everything that a process can write to, and what it can change about itself.
const LEAVE: &str = "for folder in / /dev /etc /home /proc /run /sys /usr /var /var/tmp /tmp /dev/shm /home/agent .. ../..; do
                         echo x > $folder/left; mkdir $folder/made; echo x > $folder/made/left; done 2>/dev/null
                     ipcmk -M 64; ipcmk -Q; ipcmk -S 1; umask 0; ulimit -n 20; hostname other; touch $TMPDIR/.hidden
                     echo 1 > /proc/self/oom_score_adj; cd /tmp; echo left";

struct Session {
    world: World,
    client: Client,
}

impl Session {
    fn open(config: &str) -> Session {
        let world = World::new();
        world.file("look.sh", LOOK).file("leave.sh", LEAVE).file("true.sh", "true");
        let config = world.beside("tools.yaml", config);
        let client = Client::open(&world, &["--config", &config]);
        Session { world, client }
    }

    #[track_caller]
    fn run(&mut self, line: &str) -> String {
        let result = self.client.call("exec_shell", &json!({"command": line}));
        let data = &result["structuredContent"]["data"];
        data["stdout"].as_str().unwrap_or_else(|| panic!("{result}")).to_owned()
    }

    /// Two namespaces, which are new in a new cage.
    #[track_caller]
    fn cage(&mut self) -> String {
        self.run("ps -o netns,pidns").lines().last().unwrap().to_owned()
    }

    #[track_caller]
    fn close(self) {
        assert_eq!(self.client.close().0, 0);
    }
}

/// The machine empties its shared memory of what belongs to a user who has logged out.
#[test]
fn the_settings_of_the_system_come_back_when_the_machine_removed_them() {
    if !has_shared_memory("settings that the machine removed from memory") {
        return;
    }
    let mut session = Session::open(ANY_SCRIPT);
    session.world.file("name.sh", "cat /etc/hostname");
    for _ in 0..2 {
        assert_eq!(session.run("sh name.sh"), "cage\n");
        let user = std::fs::metadata(session.world.state()).unwrap().uid();
        let staged = std::fs::read_dir("/dev/shm").unwrap().map(Result::unwrap);
        let ours = format!("vambrace-{user}-etc-{}-", session.client.pid());
        let ours = staged.filter(|entry| entry.file_name().to_str().unwrap().starts_with(&ours));
        assert_eq!(ours.map(|entry| std::fs::remove_dir_all(entry.path()).unwrap()).count(), 1);
    }
    session.close();
}

/// A name that is taken away on the host takes what was mounted on it along, and comes back without.
#[test]
fn a_masked_file_that_gets_its_name_back_is_masked_again() {
    let mut session = Session::open(ANY_SCRIPT);
    session.world.file("sub/.env", "A_WORD=aaa\n").file("sub/plain", "B_WORD=bbb\n");
    for _ in 0..2 {
        assert_eq!(session.run("grep -r _WORD sub"), "sub/plain:B_WORD=bbb\n");
    }
    let place = |name: &str| session.world.work().join("sub").join(name);
    std::fs::hard_link(place(".env"), place("second")).unwrap();
    std::fs::remove_file(place(".env")).unwrap();
    std::fs::rename(place("second"), place(".env")).unwrap();
    assert_eq!(session.run("grep -r _WORD sub"), "sub/plain:B_WORD=bbb\n");
    session.close();
}

#[test]
fn a_call_finds_nothing_of_the_one_before() {
    let mut session = Session::open(ANY_SCRIPT);
    let first = session.run("sh look.sh");
    assert!(first.contains("/dev/shm\n") && first.contains("PATH="), "{first}");
    let left = session.run("sh leave.sh");
    assert!(left.ends_with("left\n"), "{left}");
    assert_eq!(session.run("sh look.sh"), first);
    let sleep = marker();
    session
        .world
        .file("stay.sh", format!("setsid sleep {sleep} > /dev/null 2>&1 & sleep {sleep} & echo started"));
    assert_eq!(session.run("sh stay.sh"), "started\n");
    assert_eq!(alive(&sleep), [0; 0], "nothing goes on running between calls");
    assert_eq!(session.run("sh look.sh"), first);
    session.close();
}

/// Message queues live in the kernel and need no file system to be seen.
#[test]
fn a_message_queue_is_not_found_by_the_next_call() {
    if !has("python3", "message queues between calls") {
        return;
    }
    let config = "tools: {command_policy: {allowlist: [python3], argument_rules: \"off\"}}\n";
    let mut session = Session::open(config);
    let open = "import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
found = libc.mq_open(b'/left', int(sys.argv[1]), 0o600, None)
print('opened' if found >= 0 else os.strerror(ctypes.get_errno()))
";
    session.world.file("queue.py", open);
    let made = session.run(&format!("python3 queue.py {}", 0o100 | 2));
    assert_ne!(session.run("python3 queue.py 2"), "opened\n", "the first said {made}");
    session.close();
}

#[test]
fn a_cage_is_used_again_until_something_changes() {
    let mut session = Session::open(ANY_SCRIPT);
    let first = session.cage();
    assert_eq!(session.cage(), first, "the first call left nothing");
    session.run("sh true.sh");
    assert_eq!(session.cage(), first);
    session.run("sh leave.sh");
    let second = session.cage();
    assert_ne!(second, first, "the one before left something");
    assert_eq!(session.cage(), second);
    // What has to be hidden now was not hidden when the cage was made.
    session.world.file(".env", "KEY=HIDDEN");
    assert_eq!(session.run("grep -rs HIDDEN . --include=.env"), "");
    session.close();
}

#[test]
fn no_cage_is_used_again_if_the_operator_says_so() {
    let mut session = Session::open("sandbox: {reuse: false}\n");
    assert_ne!(session.cage(), session.cage());
    session.close();
}

/// Two sessions are two callers' worth of cages even in one workspace.
#[test]
fn two_sessions_share_no_cage() {
    let mut one = Session::open("");
    let mut other = Session { client: Client::open(&one.world, &[]), world: World::new() };
    assert_ne!(one.cage(), other.cage());
    one.close();
    other.close();
}

/// A person logs in anew while a prepared cage waits: tools write such files beside the old one and rename.
#[test]
fn credentials_among_toolchains_stay_hidden_when_they_are_replaced_or_made() {
    const TREE: &str = "plugins\nshims\nversions\n";
    let mut session = Session::open(ANY_SCRIPT);
    session.client = {
        let tools = session.world.home().join(".pyenv");
        std::fs::create_dir_all(tools.join("shims")).unwrap();
        std::fs::write(tools.join(".pypirc"), "OLD-LOGIN").unwrap();
        for deep in ["versions/3.12.1/pip.conf", "plugins/update/.git/FETCH_HEAD"] {
            std::fs::create_dir_all(tools.join(deep).parent().unwrap()).unwrap();
            std::fs::write(tools.join(deep), "DEEP-LOGIN").unwrap();
        }
        let config = session.world.beside("tools.yaml", ANY_SCRIPT);
        Client::open(&session.world, &["--config", &config])
    };
    let tools = session.world.home().join(".pyenv");
    session.world.file(
        "look.sh",
        format!(
            "cd {} && ls && cat .pypirc .netrc */*/pip.conf */*/.git/* 2>/dev/null; true",
            tools.display()
        ),
    );
    assert_eq!(session.run("sh look.sh"), TREE);
    std::fs::write(tools.join("new"), "NEW-LOGIN").unwrap();
    std::fs::rename(tools.join("new"), tools.join(".pypirc")).unwrap();
    assert_eq!(session.run("sh look.sh"), TREE);
    std::fs::write(tools.join(".netrc"), "LATER-LOGIN").unwrap();
    assert_eq!(session.run("sh look.sh"), TREE);
    session.close();
}

/// A prepared cage shows the folder that has the name, not the one that had it.
#[test]
fn a_folder_that_the_operator_opened_is_the_one_that_is_there_now() {
    let mut session = Session::open("");
    let out = session.world.dir().join("out");
    std::fs::create_dir(&out).unwrap();
    let config = format!("{ANY_SCRIPT}sandbox: {{write: [{}]}}\n", out.display());
    let config = session.world.beside("write.yaml", &config);
    session.client = Client::open(&session.world, &["--config", &config]);
    session.world.file("write.sh", format!("echo x > {}/made; echo done", out.display()));
    assert_eq!(session.run("sh write.sh"), "done\n");
    let moved = session.world.dir().join("moved");
    std::fs::rename(&out, &moved).unwrap();
    std::fs::remove_file(moved.join("made")).unwrap();
    std::fs::create_dir(&out).unwrap();
    assert_eq!(session.run("sh write.sh"), "done\n");
    assert!(out.join("made").exists() && !moved.join("made").exists());
    session.close();
}
