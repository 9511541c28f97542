//! The rows of the table, in the order in which people read them. Inside and host agree on their names here.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Row {
    ReadOutside,
    ReadTemporary,
    ReadPasswords,
    ReadHome,
    ReadHidden,
    WriteThroughLink,
    HardLink,
    WriteOutside,
    WriteSystem,
    KernelSettings,
    KernelFiles,
    OpenDevice,
    MakeDevice,
    ChangeDevice,
    HandedIn,
    PlantHook,
    MoveRepository,
    PlantConfiguration,
    MakeProtected,
    Tcp,
    Udp,
    Route,
    Icmp,
    UnixPath,
    UnixAbstract,
    SystemSockets,
    OtherSockets,
    Proxy,
    OwnEnvironment,
    OtherEnvironments,
    SignalHost,
    SeeHost,
    Descriptors,
    Capabilities,
    NewPrivileges,
    Filter,
    SetUid,
    Trace,
    ReadMemory,
    Terminal,
    Namespaces,
    Mount,
    ChangeRoot,
    IoUring,
    Bpf,
    Keys,
    Perf,
    UserFault,
    Handles,
    Module,
    CoreDumps,
    SharedLimits,
    WorkInService,
    UseTemporary,
    RunProgram,
}

impl Row {
    pub(crate) const ALL: [Row; 55] = [
        Row::ReadOutside,
        Row::ReadTemporary,
        Row::ReadPasswords,
        Row::ReadHome,
        Row::ReadHidden,
        Row::WriteThroughLink,
        Row::HardLink,
        Row::WriteOutside,
        Row::WriteSystem,
        Row::KernelSettings,
        Row::KernelFiles,
        Row::OpenDevice,
        Row::MakeDevice,
        Row::ChangeDevice,
        Row::HandedIn,
        Row::PlantHook,
        Row::MoveRepository,
        Row::PlantConfiguration,
        Row::MakeProtected,
        Row::Tcp,
        Row::Udp,
        Row::Route,
        Row::Icmp,
        Row::UnixPath,
        Row::UnixAbstract,
        Row::SystemSockets,
        Row::OtherSockets,
        Row::Proxy,
        Row::OwnEnvironment,
        Row::OtherEnvironments,
        Row::SignalHost,
        Row::SeeHost,
        Row::Descriptors,
        Row::Capabilities,
        Row::NewPrivileges,
        Row::Filter,
        Row::SetUid,
        Row::Trace,
        Row::ReadMemory,
        Row::Terminal,
        Row::Namespaces,
        Row::Mount,
        Row::ChangeRoot,
        Row::IoUring,
        Row::Bpf,
        Row::Keys,
        Row::Perf,
        Row::UserFault,
        Row::Handles,
        Row::Module,
        Row::CoreDumps,
        Row::SharedLimits,
        Row::WorkInService,
        Row::UseTemporary,
        Row::RunProgram,
    ];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Row::ReadOutside => "read a file outside the workspace",
            Row::ReadTemporary => "read a file in the host's /tmp",
            Row::ReadPasswords => "read the machine's passwords and keys",
            Row::ReadHome => "read private files in the user's home",
            Row::ReadHidden => "read a hidden file of the workspace",
            Row::WriteThroughLink => "write through a link",
            Row::HardLink => "make a hard link to a file outside",
            Row::WriteOutside => "write outside the service",
            Row::WriteSystem => "write to a system folder",
            Row::KernelSettings => "change a setting of the kernel",
            Row::KernelFiles => "read what the kernel tells of the machine",
            Row::OpenDevice => "open a device of the machine",
            Row::MakeDevice => "make a device file",
            Row::ChangeDevice => "change who may use a device of the machine",
            Row::HandedIn => "change an object that was handed in",
            Row::PlantHook => "plant a git hook",
            Row::MoveRepository => "move the repository away",
            Row::PlantConfiguration => "plant an agent's or editor's configuration",
            Row::MakeProtected => "make a protected name that is not there",
            Row::Tcp => "connect by TCP",
            Row::Udp => "send by UDP",
            Row::Route => "find a way to another network",
            Row::Icmp => "send by ICMP",
            Row::UnixPath => "connect to a unix socket by its path",
            Row::UnixAbstract => "connect to an abstract unix socket",
            Row::SystemSockets => "see the sockets of system services",
            Row::OtherSockets => "open a netlink, packet or vsock socket",
            Row::Proxy => "dial a private address through the proxy",
            Row::OwnEnvironment => "find a variable that was not given",
            Row::OtherEnvironments => "read another process's environment",
            Row::SignalHost => "signal a host process",
            Row::SeeHost => "see host processes",
            Row::Descriptors => "use a descriptor that was left open",
            Row::Capabilities => "hold a capability",
            Row::NewPrivileges => "gain privileges by executing",
            Row::Filter => "run without a system call filter",
            Row::SetUid => "use a set-uid file",
            Row::Trace => "trace another process",
            Row::ReadMemory => "read another process's memory",
            Row::Terminal => "type into the terminal",
            Row::Namespaces => "make or enter a namespace",
            Row::Mount => "mount a file system",
            Row::ChangeRoot => "change the root folder",
            Row::IoUring => "use io_uring",
            Row::Bpf => "load something for bpf",
            Row::Keys => "use the kernel's keyrings",
            Row::Perf => "open a performance counter",
            Row::UserFault => "handle page faults",
            Row::Handles => "open a file by its handle",
            Row::Module => "load a kernel module",
            Row::CoreDumps => "hand a core dump to the host",
            Row::SharedLimits => "use up what all programs of the user share",
            Row::WorkInService => "control: work in the service",
            Row::UseTemporary => "control: work in the private /tmp",
            Row::RunProgram => "control: run a program",
        }
    }
}

/// A phrase that fits into one short line of the table.
pub(crate) fn one_line(detail: &str) -> String {
    detail.chars().map(|c| if c.is_control() { ' ' } else { c }).take(160).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_row_has_a_name_of_its_own() {
        let names: HashSet<_> = Row::ALL.iter().map(|row| row.as_str()).collect();
        assert_eq!(names.len(), Row::ALL.len());
        assert!(Row::ALL.iter().enumerate().all(|(place, row)| *row as usize == place));
        assert_eq!(Row::RunProgram as usize + 1, Row::ALL.len());
    }

    #[test]
    fn details_stay_in_their_line() {
        assert_eq!(one_line("a\tb\nc"), "a b c");
        assert_eq!(one_line(&"ä".repeat(500)).chars().count(), 160);
    }
}
