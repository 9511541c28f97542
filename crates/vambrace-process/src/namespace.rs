//! Which namespaces a process is in. The kernel numbers them once for the whole machine, so two processes can compare,
//! wherever they are.

use std::os::unix::fs::MetadataExt as _;

use borsh::{BorshDeserialize, BorshSerialize};

use crate::cage::Layer;

/// A layer and what `/proc/self/ns` calls it.
const NAMES: [(Layer, &str); 7] = [
    (Layer::UserNamespace, "user"),
    (Layer::MountNamespace, "mnt"),
    (Layer::PidNamespace, "pid"),
    (Layer::NetworkNamespace, "net"),
    (Layer::IpcNamespace, "ipc"),
    (Layer::UtsNamespace, "uts"),
    (Layer::CgroupNamespace, "cgroup"),
];

/// The numbers of this process's namespaces.
#[derive(Debug, Clone, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub(crate) struct Namespaces(pub(crate) Vec<u64>);

/// What cannot be told; two of them are not different.
const UNKNOWN: u64 = 0;

impl Namespaces {
    pub(crate) fn own() -> Namespaces {
        let number = |name: &str| std::fs::metadata(format!("/proc/self/ns/{name}")).map(|found| found.ino());
        Namespaces(NAMES.iter().map(|(_, name)| number(name).unwrap_or(UNKNOWN)).collect())
    }

    /// The layers in which these are not known to be others.
    pub(crate) fn shared_with(&self, outside: &Namespaces) -> Vec<Layer> {
        let number = |of: &Namespaces, place: usize| of.0.get(place).copied().unwrap_or(UNKNOWN);
        let is_shared = |place: usize| {
            let (inner, outer) = (number(self, place), number(outside, place));
            inner == outer || inner == UNKNOWN || outer == UNKNOWN
        };
        let shared = NAMES.iter().enumerate().filter(|(place, _)| is_shared(*place));
        shared.map(|(_, (layer, _))| *layer).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(inside: &[u64], outside: &[u64], expected: &[Layer]) {
        let of = |numbers: &[u64]| Namespaces(numbers.to_vec());
        assert_eq!(of(inside).shared_with(&of(outside)), expected, "{inside:?} {outside:?}");
    }

    #[test]
    fn only_different_numbers_are_different_namespaces() {
        let all = NAMES.map(|(layer, _)| layer);
        check(&[11, 12, 13, 14, 15, 16, 17], &[1, 2, 3, 4, 5, 6, 7], &[]);
        check(&[11, 12, 13, 14, 5, 16, 17], &[1, 2, 3, 4, 5, 6, 7], &[Layer::IpcNamespace]);
        check(&[11, 12, 13, 14, 15, 16, 0], &[1, 2, 3, 4, 5, 6, 7], &[Layer::CgroupNamespace]);
        check(&[11, 12, 13, 14, 15, 16, 17], &[0, 2, 3, 4, 5, 6, 7], &[Layer::UserNamespace]);
        check(&[], &[1, 2, 3, 4, 5, 6, 7], &all);
        check(&[11, 12, 13, 14, 15, 16, 17], &[], &all);
        let own = Namespaces::own();
        assert!(own.0.iter().all(|number| *number != UNKNOWN), "{own:?}");
        assert_eq!(own.shared_with(&own), all);
    }
}
