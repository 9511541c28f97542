//! What stands around a program, layer by layer.

use borsh::{BorshDeserialize, BorshSerialize};
use vambrace_types::Enforcement;

/// One wall of the cage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, BorshSerialize, BorshDeserialize)]
pub enum Layer {
    UserNamespace,
    MountNamespace,
    PidNamespace,
    NetworkNamespace,
    IpcNamespace,
    UtsNamespace,
    CgroupNamespace,
    PrivateRoot,
    Landlock,
    Seccomp,
    NameGuard,
    NoCapabilities,
    NoNewPrivileges,
    ProcessLimit,
    MemoryLimit,
}

impl Layer {
    pub const ALL: [Layer; 15] = [
        Layer::UserNamespace,
        Layer::MountNamespace,
        Layer::PidNamespace,
        Layer::NetworkNamespace,
        Layer::IpcNamespace,
        Layer::UtsNamespace,
        Layer::CgroupNamespace,
        Layer::PrivateRoot,
        Layer::Landlock,
        Layer::Seccomp,
        Layer::NameGuard,
        Layer::NoCapabilities,
        Layer::NoNewPrivileges,
        Layer::ProcessLimit,
        Layer::MemoryLimit,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Layer::UserNamespace => "user namespace",
            Layer::MountNamespace => "mount namespace",
            Layer::PidNamespace => "pid namespace",
            Layer::NetworkNamespace => "network namespace",
            Layer::IpcNamespace => "ipc namespace",
            Layer::UtsNamespace => "uts namespace",
            Layer::CgroupNamespace => "cgroup namespace",
            Layer::PrivateRoot => "private root",
            Layer::Landlock => "Landlock",
            Layer::Seccomp => "seccomp filter",
            Layer::NameGuard => "guard of names",
            Layer::NoCapabilities => "no capabilities",
            Layer::NoNewPrivileges => "no new privileges",
            Layer::ProcessLimit => "process limit",
            Layer::MemoryLimit => "memory limit",
        }
    }
}

/// A layer that could not be had, and what the kernel said.
#[derive(Debug, Clone, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Missing {
    pub layer: Layer,
    pub why: String,
}

/// A namespace that a backend did not make.
pub(crate) const SAME_AS_OUTSIDE: &str = "the same as outside";
/// Why there is no guard of names where the operator wants none.
pub(crate) const UNGUARDED: &str = "sandbox.absent_names: sweep";
/// A root that a backend does not make private.
pub(crate) const SHOWS_THE_MACHINE: &str = "firejail shows the machine's own folders";

impl Missing {
    /// Whether the backend does without it, so that the kernel was never asked.
    pub fn is_left_out_by_the_backend(&self) -> bool {
        [SAME_AS_OUTSIDE, SHOWS_THE_MACHINE].contains(&self.why.as_str())
    }

    /// Whether the operator does without it.
    pub fn is_left_out_by_the_operator(&self) -> bool {
        self.layer == Layer::NameGuard && self.why == UNGUARDED
    }
}

/// What really stands around a cell.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Layers {
    pub missing: Vec<Missing>,
}

impl Layers {
    pub fn has(&self, layer: Layer) -> bool {
        self.missing.iter().all(|missing| missing.layer != layer)
    }

    /// Nothing is missing but what the operator does without.
    pub fn is_whole(&self) -> bool {
        self.missing.iter().all(Missing::is_left_out_by_the_operator)
    }

    /// Without any wall there is no cage; with some missing it is a part of one.
    pub fn enforcement(&self) -> Enforcement {
        match self.missing.len() {
            0 => Enforcement::Full,
            n_missing if n_missing >= Layer::ALL.len() => Enforcement::None,
            _ => Enforcement::Partial,
        }
    }

    pub fn describe_missing(&self) -> String {
        if let [first, rest @ ..] = self.missing.as_slice()
            && self.missing.len() == Layer::ALL.len()
            && rest.iter().all(|missing| missing.why == first.why)
        {
            return format!("any cage ({})", first.why);
        }
        let parts: Vec<_> = self
            .missing
            .iter()
            .map(|missing| format!("{} ({})", missing.layer.as_str(), missing.why))
            .collect();
        parts.join(", ")
    }
}
