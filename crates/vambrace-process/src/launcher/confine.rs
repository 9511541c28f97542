//! What a process puts on itself for good: limits, no powers, Landlock, the filter. All of it is inherited by whatever it
//! starts, so a program needs nothing more than to be executed. It knows nothing of mounts and namespaces.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, CompatLevel, Compatible, PathBeneath, Ruleset, RulesetAttr, RulesetCreatedAttr,
    RulesetStatus, Scope,
};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::process::{Resource, Rlimit};
use rustix::thread::{CapabilitySet, CapabilitySets};
use seccompiler::BpfProgram;

use super::filter::{self, Naming};
use super::guard::{Guard, Judge, Listener};
use super::kernel_unsafe;
use super::pass_unsafe::Pass;
use crate::cage::{Layer, Missing};
use crate::guarded::Guarded;
use crate::spec::CageLimits;

/// The devices a program may write to.
const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// The rights of Landlock that are asked for; an older kernel gives those it knows.
const LANDLOCK: ABI = ABI::V6;

const MOST_FILES: u64 = 4096;
/// What a program outside of any cage finds; more than this surprises old ones.
const USUAL_FILES: u64 = 1024;
/// Signals that wait, and timers, each of which holds one: counted for each user, and here for this cell too.
const MOST_SIGNALS: u64 = 1024;
/// THREAT: P06, with 0 a program of the host that `core_pattern` names is started on a crash all the same, as root; only 1
/// says that it is not to be. The filter keeps it so.
const CORE: u64 = 1;
const LOCKED_MEMORY: u64 = 64 << 10;

/// A list of what could not be had.
#[derive(Debug, Default)]
pub(super) struct Gaps(pub(super) Vec<Missing>);

impl Gaps {
    pub(super) fn note(&mut self, layer: Layer, what: &str, errno: Errno) {
        self.add(layer, format!("{what}: {}", said(errno)));
    }

    pub(super) fn add(&mut self, layer: Layer, why: String) {
        if !self.0.iter().any(|missing| missing.layer == layer) {
            self.0.push(Missing { layer, why });
        }
    }
}

/// The kernel's words without the number.
pub(super) fn said(errno: Errno) -> String {
    let text = std::io::Error::from(errno).to_string();
    text.split(" (os error").next().unwrap_or_default().to_lowercase()
}

/// LIMIT: address space is not limited, because runtimes reserve far more of it than they use; private writable memory is.
pub(super) fn set_limits(limits: CageLimits) -> Result<(), Errno> {
    for (resource, most) in [
        (Resource::Nproc, limits.processes),
        (Resource::Data, limits.memory_bytes),
        (Resource::Fsize, limits.file_bytes),
        (Resource::Core, CORE),
        (Resource::Memlock, LOCKED_MEMORY),
        (Resource::Msgqueue, 0),
        (Resource::Sigpending, MOST_SIGNALS),
    ] {
        // Only root may raise what the operator has set lower.
        let most = rustix::process::getrlimit(resource).maximum.map_or(most, |held| held.min(most));
        rustix::process::setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })?;
    }
    Ok(())
}

/// Where the machine's limit is 0, only who may raise limits can set 1, and no longer in a
/// namespace of its own.
///
/// LIMIT: anybody else stays with 0 then, and is told: `core_dump`.
pub(super) fn prepare_core_limit() {
    if rustix::process::getrlimit(Resource::Core).maximum == Some(0) {
        let _raised =
            rustix::process::setrlimit(Resource::Core, Rlimit { current: Some(CORE), maximum: Some(CORE) });
    }
}

/// How many files a program may have open.
///
/// THREAT: P07, descriptors that are sent and not received are counted for each user, and who sends one is refused when they
/// are more than its own limit of open files. Programs have less of it than we, or one of them could keep us from building
/// cells.
pub(super) fn files(is_confined: bool) -> Rlimit {
    let held = rustix::process::getrlimit(Resource::Nofile).maximum;
    if is_confined {
        let most = Some(held.map_or(MOST_FILES, |held| MOST_FILES.min(held / 2)));
        return Rlimit { current: most, maximum: most };
    }
    Rlimit { current: Some(held.map_or(USUAL_FILES, |held| USUAL_FILES.min(held))), maximum: held }
}

/// Whatever is executed from here on and whoever owns it, it gains no capability. Those held stay, to build with.
pub(super) fn bound_powers(gaps: &mut Gaps) {
    // Who has no powers cannot change the sets either; then it is enough that none are held.
    let held = rustix::thread::capabilities(None).map(|sets| sets.effective.contains(CapabilitySet::SETPCAP));
    if held == Ok(false) {
        return;
    }
    if let Err(errno) = kernel_unsafe::drop_bounding_set() {
        gaps.note(Layer::NoCapabilities, "bounding set", errno);
    }
    if let Err(errno) = kernel_unsafe::lock_secure_bits() {
        gaps.note(Layer::NoCapabilities, "secure bits", errno);
    }
}

pub(super) fn drop_powers(gaps: &mut Gaps) {
    let none = CapabilitySets {
        effective: CapabilitySet::empty(),
        permitted: CapabilitySet::empty(),
        inheritable: CapabilitySet::empty(),
    };
    if let Err(errno) = rustix::thread::set_capabilities(None, none) {
        gaps.note(Layer::NoCapabilities, "capset", errno);
    }
    if let Err(errno) = rustix::thread::set_no_new_privs(true) {
        gaps.note(Layer::NoNewPrivileges, "prctl", errno);
    }
}

/// Read and execute everywhere in sight, write beneath these paths and to the harmless devices.
///
/// THREAT: P07, programs of two cages that meet at a socket give each other descriptors of folders, and once its cage is
/// gone nothing covers what is masked or read-only in such a folder. So sockets are made in private folders only. A right
/// holds for all that lies beneath a folder; where that is a shared one too, a guard tells them apart, or there is none.
pub(super) fn restrict_files(writable: &[PathBuf], private: &[PathBuf], is_guarded: bool, gaps: &mut Gaps) {
    let is_shared = |folder: &Path| writable.iter().any(|path| path != folder && path.starts_with(folder));
    let sockets: Vec<&Path> =
        private.iter().map(PathBuf::as_path).filter(|folder| is_guarded || !is_shared(folder)).collect();
    match try_restrict_files(writable, private, &sockets) {
        Ok(RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced) => {}
        Ok(RulesetStatus::NotEnforced) => {
            gaps.add(Layer::Landlock, "the kernel does not offer it".to_owned())
        }
        Err(why) => gaps.add(Layer::Landlock, why),
    }
}

fn try_restrict_files(
    writable: &[PathBuf],
    private: &[PathBuf],
    sockets: &[&Path],
) -> Result<RulesetStatus, String> {
    let all = AccessFs::from_all(LANDLOCK);
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(all)
        .and_then(|rules| rules.scope(Scope::from_all(LANDLOCK)))
        .and_then(Ruleset::create)
        .map_err(|error| error.to_string())?;
    let file_write = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev;
    let devices = DEVICES.iter().map(|device| (Path::new(device), file_write));
    let mut places: Vec<&Path> = writable.iter().chain(private).map(PathBuf::as_path).collect();
    places.sort_unstable();
    places.dedup();
    let access = |path: &Path| if sockets.contains(&path) { all } else { all & !AccessFs::MakeSock };
    let places = places.into_iter().map(|path| (path, access(path)));
    let root = std::iter::once((Path::new("/"), AccessFs::from_read(LANDLOCK)));
    for (path, access) in root.chain(places).chain(devices) {
        let opened = match open_path(path) {
            Ok(opened) => opened,
            // What is not there needs no rule.
            Err(Errno::NOENT) => continue,
            Err(errno) => return Err(format!("`{}`: {}", path.display(), said(errno))),
        };
        let is_folder = rustix::fs::fstat(&opened)
            .is_ok_and(|found| rustix::fs::FileType::from_raw_mode(found.st_mode).is_dir());
        let access = if is_folder { access } else { access & AccessFs::from_file(LANDLOCK) };
        rules = rules.add_rule(PathBeneath::new(opened, access)).map_err(|error| error.to_string())?;
    }
    let status = rules.restrict_self().map_err(|error| error.to_string())?;
    Ok(status.ruleset)
}

fn open_path(path: &Path) -> Result<OwnedFd, Errno> {
    rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())
}

pub(super) fn filter_calls(program: &BpfProgram, gaps: &mut Gaps) {
    if let Err(error) = seccompiler::apply_filter(program) {
        gaps.add(Layer::Seccomp, error.to_string());
    }
}

/// The same, with a guard who opens files and makes names for programs. Where there can be none, the kernel's filter still
/// stands.
pub(super) fn filter_and_guard(
    guarded: Guarded,
    turns: Option<OwnedFd>,
    private: &[PathBuf],
    gaps: &mut Gaps,
) -> Option<Guard> {
    let made = Guard::is_possible().and_then(|()| {
        let pass = Pass::draw().map_err(said)?;
        let judge = Judge::new(guarded, turns, private);
        let listener = Listener::install(&filter::program(Naming::Guarded(pass))).map_err(said)?;
        Ok(Guard::new(listener, pass, judge))
    });
    match made {
        Ok(guard) => Some(guard),
        Err(why) => {
            gaps.add(Layer::NameGuard, why);
            filter_calls(&filter::program(Naming::Free), gaps);
            None
        }
    }
}
