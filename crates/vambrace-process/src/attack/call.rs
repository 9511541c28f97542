//! Attacks by system call. Each is made so that the kernel asks for permission first and then finds nothing to do.

use std::os::fd::AsFd;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::pipe::PipeFlags;
use rustix::process::{Resource, Rlimit};

use super::call_unsafe::{self, Child};
use super::facts::Facts;
use super::process::counts_as_the_host;
use super::{Outcome, all, failed, refused, words};

pub(super) fn trace() -> Outcome {
    // Reading from a process that is not traced: refused by rank, or because it is not traced.
    refused(call_unsafe::peek(1))
}

/// The first process, and one of the host under the number that it has there.
pub(super) fn read_memory(facts: &Facts) -> Outcome {
    let by_call = |pid: u32| match call_unsafe::read_nothing_from(pid) {
        // Nothing is mapped there: who may read finds a bad address.
        Err(Errno::FAULT) => Outcome::Broken("it may be read".to_owned()),
        result => failed(result),
    };
    let by_file = |pid: u32| {
        failed(rustix::fs::open(format!("/proc/{pid}/mem"), OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()))
    };
    // The number of a process of the host may be our own here.
    let of_host = |outcome: Outcome| match outcome {
        Outcome::Broken(_) if !counts_as_the_host(facts) => {
            Outcome::Held("the number is another process here".to_owned())
        }
        outcome => outcome,
    };
    all([
        ("process_vm_readv", by_call(1)),
        ("process_vm_readv", of_host(by_call(facts.pid))),
        ("/proc", by_file(1)),
        ("/proc", of_host(by_file(facts.pid))),
    ])
}

pub(super) fn terminal() -> Outcome {
    // Not the terminal itself: an attack that succeeds would type into it.
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    let null = match rustix::fs::open("/dev/null", flags, Mode::empty()) {
        Ok(null) => null,
        Err(errno) => return Outcome::Untried(format!("could not be tried: {}", words(errno))),
    };
    all([
        ("TIOCSTI", refused(call_unsafe::type_into(null.as_fd(), 0))),
        // THREAT: P06, the kernel looks at 32 bits of the request; a filter that looks at 64 sees another one.
        ("TIOCSTI with a high bit", refused(call_unsafe::type_into(null.as_fd(), 1 << 32))),
        ("/dev/tty", failed(rustix::fs::open("/dev/tty", flags, Mode::empty()))),
    ])
}

pub(super) fn namespaces() -> Outcome {
    let enter = rustix::fs::open("/proc/self/ns/net", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
    let enter = match enter {
        Ok(own) => refused(call_unsafe::enter(own.as_fd())),
        Err(errno) => Outcome::Held(words(errno)),
    };
    all([
        ("unshare", call_unsafe::in_child(Child::LeaveUserNamespace).map_or_else(could_not, failed)),
        ("unshare mounts", call_unsafe::in_child(Child::LeaveMountNamespace).map_or_else(could_not, failed)),
        ("clone", failed(call_unsafe::clone_into_user_namespace())),
        ("clone3", failed(call_unsafe::clone3_into_user_namespace())),
        ("setns", enter),
    ])
}

fn could_not(errno: Errno) -> Outcome {
    Outcome::Untried(format!("could not be tried: {}", words(errno)))
}

pub(super) fn mount() -> Outcome {
    all([
        ("mount", refused(call_unsafe::mount_nothing())),
        ("umount", refused(call_unsafe::unmount_nothing())),
        ("fsopen", refused(call_unsafe::open_no_file_system())),
        ("open_tree", refused(call_unsafe::copy_root_mount())),
    ])
}

pub(super) fn change_root() -> Outcome {
    all([
        ("chroot", refused(call_unsafe::change_root_to_root())),
        ("pivot_root", refused(call_unsafe::pivot_root_to_root())),
    ])
}

pub(super) fn io_uring() -> Outcome {
    refused(call_unsafe::make_ring())
}

pub(super) fn bpf() -> Outcome {
    refused(call_unsafe::make_bpf_map())
}

pub(super) fn keys() -> Outcome {
    all([
        ("keyctl", refused(call_unsafe::session_keyring())),
        ("request_key", refused(call_unsafe::request_no_key())),
    ])
}

pub(super) fn perf() -> Outcome {
    refused(call_unsafe::count_clock())
}

pub(super) fn user_fault() -> Outcome {
    refused(call_unsafe::make_fault_handler())
}

pub(super) fn handles() -> Outcome {
    refused(call_unsafe::open_stale_handle())
}

/// Only a limit of 1 keeps a handler behind a pipe from being started on what a crash leaves; 0 does not.
pub(super) fn core_dumps(facts: &Facts) -> Outcome {
    let held = rustix::process::getrlimit(Resource::Core);
    match held.current {
        Some(1) => {}
        // Whether a handler is started then, the host tells: `core_dump`.
        Some(0) if facts.without_cores => {
            return Outcome::Held("no file, because the machine's limit is 0".to_owned());
        }
        _ => return Outcome::Broken("the limit is not 1".to_owned()),
    }
    all([Some(0), Some(1 << 20), None].map(|wanted| {
        let _asked =
            rustix::process::setrlimit(Resource::Core, Rlimit { current: wanted, maximum: held.maximum });
        let outcome = match rustix::process::getrlimit(Resource::Core).current {
            Some(1) => Outcome::Held("the limit stays 1".to_owned()),
            _ => Outcome::Broken("the limit was changed".to_owned()),
        };
        ("setrlimit", outcome)
    }))
}

/// What the kernel counts for a user or for the machine, as far as a program can be kept from it.
pub(super) fn shared_limits() -> Outcome {
    const MOST_SIGNALS: u64 = 1024;
    const MOST_FILES: u64 = 4096;
    let below = |resource, most: u64| match rustix::process::getrlimit(resource).maximum {
        Some(held) if held <= most => Outcome::Held(format!("at most {held}")),
        _ => Outcome::Broken("as many as the user".to_owned()),
    };
    let larger_pipe = match rustix::pipe::pipe_with(PipeFlags::CLOEXEC) {
        Ok((_read, write)) => refused(rustix::pipe::fcntl_setpipe_size(&write, 1 << 20)),
        Err(errno) => could_not(errno),
    };
    all([
        ("io_setup", refused(call_unsafe::make_queue())),
        ("a larger pipe", larger_pipe),
        ("signals that wait", below(Resource::Sigpending, MOST_SIGNALS)),
        ("open files", below(Resource::Nofile, MOST_FILES)),
    ])
}

pub(super) fn module() -> Outcome {
    refused(call_unsafe::load_no_module())
}
