//! The battery of attacks: what a taken-over model would try, tried by us inside a cage, with the host watching. It
//! knows what it was told on its command line and nothing of how cages are built.
//!
//! Every attack is harmless where it succeeds: files are opened and not written, calls carry arguments that the kernel
//! refuses after it has asked for permission, and what had to be made is removed at once.

mod absent;
mod call;
mod call_unsafe;
pub(crate) mod facts;
pub(crate) mod file;
mod network;
pub(crate) mod plant;
mod process;
mod proxy;
pub(crate) mod row;

use std::io::{Read, Write};
use std::process::ExitCode;

use rustix::io::Errno;

use facts::Facts;
use row::Row;

/// What became of one attempt, with a phrase for people.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Outcome {
    Held(String),
    Broken(String),
    /// It could not be made, so it says nothing.
    Untried(String),
}

/// As below, told on the standard input: arguments have a limit, and a workspace can hide many files.
pub fn attack_as_told() -> ExitCode {
    let mut told = String::new();
    if std::io::stdin().lock().read_to_string(&mut told).is_err() {
        return ExitCode::from(2);
    }
    attack(&told.split_terminator('\0').map(str::to_owned).collect::<Vec<_>>())
}

/// Runs the battery and writes one line for each row: name, `held`, `broken` or `untried`, and a phrase, with tabs between
/// them.
pub(crate) fn attack(arguments: &[String]) -> ExitCode {
    // The host counts every row that it does not find as not tried.
    let Some(facts) = Facts::parse(arguments) else { return ExitCode::from(2) };
    let mut code = ExitCode::SUCCESS;
    for row in Row::ALL {
        let (word, detail) = match attempt(row, &facts) {
            Outcome::Held(detail) => ("held", detail),
            Outcome::Broken(detail) => {
                code = ExitCode::FAILURE;
                ("broken", detail)
            }
            Outcome::Untried(detail) => {
                code = ExitCode::FAILURE;
                ("untried", detail)
            }
        };
        // Each line at once: what was found out must reach the host even if a later attack ends this process.
        let line = format!("{}\t{word}\t{}\n", row.as_str(), row::one_line(&detail));
        if std::io::stdout().write_all(line.as_bytes()).is_err() {
            return ExitCode::from(2);
        }
    }
    code
}

fn attempt(row: Row, facts: &Facts) -> Outcome {
    match row {
        Row::ReadOutside => file::read_outside(facts),
        Row::ReadTemporary => file::read_temporary(facts),
        Row::ReadPasswords => file::read_passwords(),
        Row::ReadHome => file::read_home(facts),
        Row::ReadHidden => file::read_hidden(facts),
        Row::WriteThroughLink => file::write_through_link(facts),
        Row::HardLink => file::hard_link(facts),
        Row::WriteOutside => file::write_outside(facts),
        Row::WriteSystem => file::write_system(facts),
        Row::KernelSettings => file::kernel_settings(),
        Row::KernelFiles => process::kernel_files(),
        Row::OpenDevice => file::open_device(),
        Row::MakeDevice => file::make_device(facts),
        Row::ChangeDevice => file::change_device(facts),
        Row::HandedIn => process::handed_in(),
        Row::PlantHook => plant::hook(facts),
        Row::MoveRepository => plant::move_repository(facts),
        Row::PlantConfiguration => plant::configuration(facts),
        Row::MakeProtected => absent::names(facts),
        Row::Tcp => network::tcp(facts),
        Row::Udp => network::udp(facts),
        Row::Route => network::route(),
        Row::Icmp => network::icmp(),
        Row::UnixPath => network::unix_path(facts),
        Row::UnixAbstract => network::unix_abstract(facts),
        Row::SystemSockets => network::system_sockets(),
        Row::OtherSockets => network::other_sockets(),
        Row::Proxy => proxy::dial(facts),
        Row::OwnEnvironment => process::own_environment(facts),
        Row::OtherEnvironments => process::other_environments(),
        Row::SignalHost => process::signal_host(facts),
        Row::SeeHost => process::see_host(facts),
        Row::Descriptors => process::descriptors(),
        Row::Capabilities => process::capabilities(),
        Row::NewPrivileges => process::new_privileges(),
        Row::Filter => process::filter(),
        Row::SetUid => process::set_uid(facts),
        Row::Trace => call::trace(),
        Row::ReadMemory => call::read_memory(facts),
        Row::Terminal => call::terminal(),
        Row::Namespaces => call::namespaces(),
        Row::Mount => call::mount(),
        Row::ChangeRoot => call::change_root(),
        Row::IoUring => call::io_uring(),
        Row::Bpf => call::bpf(),
        Row::Keys => call::keys(),
        Row::Perf => call::perf(),
        Row::UserFault => call::user_fault(),
        Row::Handles => call::handles(),
        Row::Module => call::module(),
        Row::CoreDumps => call::core_dumps(facts),
        Row::SharedLimits => call::shared_limits(),
        Row::WorkInService => plant::work_in_service(facts),
        Row::UseTemporary => plant::work_in("/tmp", facts),
        Row::RunProgram => process::run_program(),
    }
}

/// The first attempt that succeeded, with its name; else one that could not be made; else what the kernel said to the
/// first.
fn all<'n>(attempts: impl IntoIterator<Item = (&'n str, Outcome)>) -> Outcome {
    let (mut held, mut untried) = (None, None);
    for (name, outcome) in attempts {
        match outcome {
            Outcome::Broken(detail) => return Outcome::Broken(format!("{name}: {detail}")),
            Outcome::Untried(detail) => untried = untried.or(Some(format!("{name}: {detail}"))),
            Outcome::Held(detail) => held = held.or(Some(detail)),
        }
    }
    if let Some(detail) = untried {
        return Outcome::Untried(detail);
    }
    Outcome::Held(held.unwrap_or_else(|| "nothing of the kind is here".to_owned()))
}

/// For calls that must be refused by rank: any other answer means that the kernel has begun to do it.
fn refused<T>(result: Result<T, Errno>) -> Outcome {
    match result {
        Ok(_) => Outcome::Broken("it worked".to_owned()),
        Err(errno @ (Errno::PERM | Errno::ACCESS | Errno::NOSYS)) => Outcome::Held(words(errno)),
        Err(errno) => Outcome::Broken(format!("the kernel only said: {}", words(errno))),
    }
}

/// For attempts that must not succeed, whatever the reason.
fn failed<T>(result: Result<T, Errno>) -> Outcome {
    match result {
        Ok(_) => Outcome::Broken("it worked".to_owned()),
        Err(errno) => Outcome::Held(words(errno)),
    }
}

fn words(errno: Errno) -> String {
    let text = errno.to_string();
    text.split_once(" (os error").map_or(text.clone(), |(before, _)| before.to_owned()).to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(text: &str) -> Outcome {
        Outcome::Held(text.to_owned())
    }

    fn broken(text: &str) -> Outcome {
        Outcome::Broken(text.to_owned())
    }

    #[test]
    fn one_success_breaks_a_row() {
        assert_eq!(all([("a", held("x")), ("b", held("y"))]), held("x"));
        assert_eq!(all([("a", held("x")), ("b", broken("it worked"))]), broken("b: it worked"));
        let untried = |text: &str| Outcome::Untried(text.to_owned());
        assert_eq!(all([("a", untried("no")), ("b", held("y"))]), untried("a: no"));
        assert_eq!(all([("a", untried("no")), ("b", broken("it worked"))]), broken("b: it worked"));
        assert_eq!(all([]), held("nothing of the kind is here"));
    }

    #[test]
    fn only_a_refusal_by_rank_counts_for_calls() {
        assert_eq!(refused::<()>(Err(Errno::PERM)), held("operation not permitted"));
        assert_eq!(refused::<()>(Err(Errno::NOSYS)), held("function not implemented"));
        assert_eq!(refused::<()>(Err(Errno::INVAL)), broken("the kernel only said: invalid argument"));
        assert_eq!(refused(Ok(())), broken("it worked"));
        assert_eq!(failed::<()>(Err(Errno::NOENT)), held("no such file or directory"));
        assert_eq!(failed(Ok(())), broken("it worked"));
    }

    #[test]
    fn without_its_facts_the_battery_says_nothing() {
        assert_eq!(format!("{:?}", attack(&[])), format!("{:?}", ExitCode::from(2)));
    }
}
