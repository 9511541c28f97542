//! Whether the machine's own handler of core dumps is kept from what programs of a sandbox leave
//! when they crash. It is started by the kernel, outside every namespace, and reads what a program
//! wrote into its memory.

use rustix::process::{Resource, getrlimit};
use rustix::thread::CapabilitySet;

/// What the machine does that no limit of ours stops, and what helps; nothing where cores stay inside.
pub fn leaving_core_dumps() -> Option<String> {
    let pattern = std::fs::read_to_string("/proc/sys/kernel/core_pattern").unwrap_or_default();
    let may_raise = rustix::thread::capabilities(None)
        .is_ok_and(|held| held.effective.contains(CapabilitySet::SYS_RESOURCE));
    leaving(&pattern, getrlimit(Resource::Core).maximum == Some(0) && !may_raise)
}

/// The kernel starts a handler behind a pipe unless the limit is 1, and connects to one at a socket
/// whatever the limit is.
fn leaving(pattern: &str, is_held_at_zero: bool) -> Option<String> {
    let pattern = pattern.trim();
    let (what, help) = if pattern.starts_with('@') {
        ("sends core dumps to a socket", "set it to a pattern that begins with `|`, or is a plain name")
    } else if pattern.starts_with('|') && is_held_at_zero {
        (
            "starts a handler for core dumps",
            "raise the hard limit where Vambrace is started (systemd: `LimitCORE=1`, Docker: `--ulimit core=1`)",
        )
    } else {
        return None;
    };
    Some(format!("kernel.core_pattern {what} that gets the memory of crashed sandboxed programs; {help}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pattern: &str, is_held_at_zero: bool, expected: bool) {
        let leaves = leaving(pattern, is_held_at_zero);
        assert_eq!(leaves.is_some(), expected, "{pattern:?}, {is_held_at_zero}: {leaves:?}");
    }

    #[test]
    fn a_socket_gets_every_core_and_a_pipe_those_of_limit_zero() {
        check("core\n", true, false);
        check("", true, false);
        check("/var/cores/%e", true, false);
        check("|/usr/lib/handler %p\n", false, false);
        check("|/usr/lib/handler %p\n", true, true);
        check("@/run/cores.sock\n", false, true);
        check("@@/run/cores.sock\n", true, true);
    }
}
