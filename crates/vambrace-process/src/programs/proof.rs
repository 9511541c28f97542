//! The cage is attacked from inside before the first program, and what that found decides what is served from then on.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use vambrace_policy::Repository;
use vambrace_policy::command::{
    Command, CommandPlan, Join, Redirect, RedirectMode, Simple, Step, Stream, Target,
};
use vambrace_types::Enforcement;

use super::backends::{Built, nothing};
use super::factory::OURSELVES;
use super::keep::Kept;
use super::run::started;
use super::way_out::WayOut;
use super::{GRACE, Programs};
use crate::attack::plant::KEPT;
use crate::attack::row::Row;
use crate::cell::{self, Stdio, Watch};
use crate::environment::{Git, Reach};
use crate::order::{Order, ProgramFile};
use crate::posture::traps::Traps;
use crate::spec::Mount;
use crate::surroundings::{SpecParts, Surroundings};
use crate::workspace::View;
use crate::{Backend, Layer, Layers, Network, Posture, ProgramError, RowState};

/// What is known of the cage.
#[derive(Debug, Default)]
pub(super) struct Proving {
    /// Held while an attack is under way; nothing else is.
    turn: Mutex<()>,
    proof: Mutex<Option<Arc<Proof>>>,
    /// The last table, whatever it says.
    table: Mutex<Option<Posture>>,
    /// The names of what the attack that is under way makes in the service.
    scratch: Mutex<Vec<String>>,
    /// The rows that were broken, for ever.
    broken: OnceLock<String>,
    /// There was a whole cage.
    was_whole: AtomicBool,
}

/// An attack that was made in whole, and what stood around it.
#[derive(Debug)]
struct Proof {
    enforcement: Enforcement,
    missing: Vec<Layer>,
}

/// One attack.
struct Attempt {
    posture: Posture,
    layers: Layers,
    /// It succeeded only where somebody else could have caused that.
    may_be_people: bool,
}

impl Attempt {
    /// What succeeded says nothing.
    fn doubt(&mut self) {
        for row in self.posture.rows.iter_mut().filter(|row| row.state == RowState::Broken) {
            row.state = RowState::Untried;
            row.detail = format!("the workspace may have been changed meanwhile: {}", row.detail);
        }
    }
}

/// A cage that is ready to be attacked.
struct Attack {
    order: Order,
    kept: Kept,
    traps: Traps,
    /// Served as long as this lives.
    way_out: WayOut,
    /// As it was just before the cage was built.
    scene: Scene,
}

/// The names that the rows of `BROKEN_BY_PEOPLE` are about, and what lies there.
type Scene = Vec<(PathBuf, Option<(u64, u64, i64, u64)>)>;

/// Rows that break when somebody replaces a file of the workspace under its mount: the kernel takes the mount away with
/// the old one. Editors and git save so.
///
/// They are believed when they break at every attempt and nothing was seen to change.
const BROKEN_BY_PEOPLE: [Row; 4] =
    [Row::ReadHidden, Row::PlantHook, Row::MoveRepository, Row::PlantConfiguration];
const MOST_ATTEMPTS: usize = 3;

impl Programs {
    /// Runs the attacks inside a cage built from the live settings, until they were made in whole once. `told` hears of
    /// each attempt, from whichever caller made it.
    ///
    /// One success refuses everything from then on. What could not be attacked is tried again by the next caller: a full
    /// disk is not for ever.
    ///
    /// With a `network`, the attacks are made where there is a way out, and on it too.
    pub fn prove(&self, network: Option<&dyn Network>, told: &dyn Fn(&Posture)) -> Result<(), ProgramError> {
        let _turn = self.proving.turn.lock().unwrap_or_else(PoisonError::into_inner);
        if self.is_proved() {
            return Ok(());
        }
        for attempt in 1..=MOST_ATTEMPTS {
            let is_last = attempt == MOST_ATTEMPTS;
            let attacked = self.attack(network);
            self.proving.scratch.lock().unwrap_or_else(PoisonError::into_inner).clear();
            let mut found = match attacked {
                Err(ProgramError::Unsettled { .. }) if !is_last => continue,
                found => found?,
            };
            // THREAT: P07, walls that stood and stand no longer are no choice of the operator's.
            if self.proving.was_whole.load(Ordering::Relaxed) && !found.layers.is_whole() {
                let why = format!("it was whole and lacks now: {}", found.layers.describe_missing());
                return Err(ProgramError::Unproved { why });
            }
            if found.may_be_people && !is_last {
                found.doubt();
            }
            let is_over = self.believe(&found);
            told(&found.posture);
            if is_over {
                return Ok(());
            }
            let untried = found.posture.rows.iter().filter(|row| row.state == RowState::Untried);
            let rows: Vec<_> = untried.map(|row| format!("{} ({})", row.name, row.detail)).collect();
            let rows = rows.join(", ");
            *self.proving.table.lock().unwrap_or_else(PoisonError::into_inner) = Some(found.posture);
            if !found.may_be_people || is_last {
                return Err(ProgramError::Unproved { why: format!("not all attacks could be made: {rows}") });
            }
        }
        Err(ProgramError::Unproved { why: "it was not attacked".to_owned() })
    }

    /// Whether this attempt says all that there is to know. It is believed before anybody is told.
    fn believe(&self, found: &Attempt) -> bool {
        let enforcement = found.layers.enforcement();
        let is_weak = self.accepts_weak(&found.layers);
        if found.posture.has(RowState::Broken) && !is_weak {
            self.proving.broken.get_or_init(|| found.posture.names(RowState::Broken));
        } else if found.posture.has(RowState::Untried) && !is_weak {
            return false;
        }
        self.proving.was_whole.fetch_or(found.layers.is_whole(), Ordering::Relaxed);
        let proof = Proof { enforcement, missing: layers(&found.layers) };
        *self.proving.table.lock().unwrap_or_else(PoisonError::into_inner) = Some(found.posture.clone());
        *self.proving.proof.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(proof));
        true
    }

    fn proof(&self) -> Option<Arc<Proof>> {
        self.proving.proof.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether the attacks were made, however they ended. Waits for nobody.
    pub fn is_proved(&self) -> bool {
        self.proof().is_some()
    }

    /// What the last attack found, if there was one.
    pub fn posture(&self) -> Option<Posture> {
        self.proving.table.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The names of what the attack makes in the service while it is under way, which it may be beside calls that need no
    /// program. None afterwards: who has seen a name could hide something behind it.
    pub fn self_test_names(&self) -> Vec<String> {
        self.proving.scratch.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether programs may be started at all.
    pub fn ready(&self) -> Result<(), ProgramError> {
        self.unbroken()?;
        match self.is_proved() {
            true => Ok(()),
            false => Err(ProgramError::Unproved { why: "it was not attacked yet".to_owned() }),
        }
    }

    /// Whether an attack succeeded in a cage that was thought whole: then nothing else of what we promise is to be
    /// believed either. Waits for nobody.
    pub fn unbroken(&self) -> Result<(), ProgramError> {
        match self.proving.broken.get() {
            Some(rows) => Err(ProgramError::PostureBroken { rows: rows.clone() }),
            None => Ok(()),
        }
    }

    /// What stands around a program, as far as is known.
    pub fn enforcement(&self) -> Enforcement {
        self.proof().map_or(Enforcement::None, |proof| proof.enforcement)
    }

    /// THREAT: P07, where the operator takes what there is, a cage with other walls than the attacked one may stand
    /// tomorrow; its proof is then made anew.
    pub(super) fn is_as_proved(&self, found: &Layers) -> bool {
        let mut proof = self.proving.proof.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = proof.as_ref().is_some_and(|proof| proof.missing == layers(found));
        if !is_same {
            *proof = None;
            *self.proving.table.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
        is_same
    }

    /// The live cage, with our own binary shown in it, and the order to attack.
    fn attack_cell(&self, traps: Traps, network: Option<&dyn Network>) -> Result<Attack, ProgramError> {
        let trusted = self.trusted_by(network);
        let view = self.view()?;
        let scene = scene(&view);
        let staged = self.staged()?;
        let parts = SpecParts {
            etc: &staged.mounts,
            repository: Repository::ReadOnly,
            further_writable: &[],
            fetched: &[],
            limits: self.limits(None),
            groups: &[],
            way_out: trusted.as_deref(),
        };
        let mut key = self.spec(&view, &parts)?;
        self.make_turns(&key)?;
        let ourselves = self.ourselves()?;
        if self.settings.backend == Backend::Native {
            key.mounts.push(Mount::ReadOnly { from: ourselves.clone(), at: PathBuf::from(OURSELVES) });
        }
        let Built { cell, layers, group, scratch } = self.build(&key)?;
        staged.check()?;
        let path = if layers.has(Layer::PrivateRoot) { PathBuf::from(OURSELVES) } else { ourselves };
        let mut kept = Kept { cell, layers, key, marks: Vec::new(), view, group, _scratch: scratch };
        let way_out = self.open_way_out(&mut kept, network)?;
        let environment = self.variables(&[], Git::Inside, Some(&way_out.reach))?;
        let is_proxied = match way_out.reach {
            Reach::Nothing | Reach::Machine => false,
            Reach::Proxy { .. } => true,
        };
        let Kept { key, layers, .. } = &kept;
        let traps = traps
            .with_proxy(is_proxied)
            .with_variables(environment.iter().map(|(name, _)| name.as_str()))
            .with_hidden(key.mounts.iter().filter_map(covered))
            .with_writable(self.settings.write.iter().map(PathBuf::as_path))
            .with_service(self.surroundings.as_ref().is_ok_and(Surroundings::service_is_writable))
            .with_guard(key.guarded.is_some() && layers.has(Layer::NameGuard));
        let order =
            Order { plan: attack_plan(&path, &self.ourselves()?)?, folder: self.service(), environment };
        Ok(Attack { order, kept, traps, scene, way_out })
    }

    /// The battery, in a cage that differs from the others only by showing our own binary.
    fn attack(&self, network: Option<&dyn Network>) -> Result<Attempt, ProgramError> {
        if !self.is_caging() {
            let layers = nothing("backend: none");
            let missing = layers.missing.clone();
            let posture = Posture { rows: Vec::new(), missing, backend: "none" };
            return Ok(Attempt { posture, layers, may_be_people: false });
        }
        let service = self.service();
        let present = KEPT.iter().filter(|name| service.join(name).symlink_metadata().is_ok());
        let traps = Traps::set(&self.settings.state, &self.settings.workspace, &service)
            .map_err(|error| ProgramError::Broken { why: format!("the traps of the self-test: {error}") })?
            .with_present(present.map(|name| (*name).to_owned()).collect());
        *self.proving.scratch.lock().unwrap_or_else(PoisonError::into_inner) = traps.inner_names();
        let Attack { order, mut kept, traps, scene: before, way_out } = self.attack_cell(traps, network)?;
        let layers = kept.layers.clone();
        self.weigh(&layers)?;
        let watch = Watch {
            time_limit: Duration::from_secs(30),
            grace: GRACE,
            output_bytes: 1 << 20,
            cancelled: &|| false,
        };
        let told = traps.told();
        let stdio = Stdio { input: cell::Input::Text(told.as_bytes()), output: cell::Output::Capture };
        let captured = kept.cell.run(&order, stdio, &watch).map_err(started)?;
        let is_disturbed = before != scene(self.view()?.as_ref());
        self.shelf.dissolve(kept);
        drop(way_out);
        let rows = traps.judge(&captured.stdout);
        let by_people = |name: &str| BROKEN_BY_PEOPLE.iter().any(|row| row.as_str() == name);
        let broken = || rows.iter().filter(|row| row.state == RowState::Broken);
        let may_be_people = broken().count() > 0 && broken().all(|row| by_people(&row.name));
        let backend = self.settings.backend.as_str();
        let posture = Posture { rows, missing: layers.missing.clone(), backend };
        let mut attempt = Attempt { posture, layers, may_be_people };
        if may_be_people && is_disturbed {
            attempt.doubt();
        }
        Ok(attempt)
    }
}

fn layers(found: &Layers) -> Vec<Layer> {
    let mut layers: Vec<_> = found.missing.iter().map(|missing| missing.layer).collect();
    layers.sort_unstable();
    layers
}

fn scene(view: &View) -> Scene {
    let seen = [&view.protected, &view.repositories, &view.git_files];
    let mut paths: Vec<&Path> = seen.into_iter().flatten().map(|seen| seen.path.as_path()).collect();
    paths.extend(view.masked.iter().map(|masked| masked.path.as_path()));
    let kept: Vec<_> = KEPT.iter().map(|name| view.service.join(name)).collect();
    paths.extend(kept.iter().map(PathBuf::as_path));
    paths.sort_unstable();
    paths.dedup();
    // With the time of the last change: what was moved away and back is still the same file.
    let look = |path: &Path| {
        let found = rustix::fs::lstat(path).ok()?;
        Some((found.st_dev, found.st_ino, found.st_ctime, found.st_ctime_nsec))
    };
    paths.into_iter().map(|path| (path.to_owned(), look(path))).collect()
}

/// What stands in the place of something that nobody may read: in the workspace, and of credentials
/// among toolchains.
fn covered(mount: &Mount) -> Option<&Path> {
    match mount {
        Mount::EmptyFolder { at } | Mount::EmptyFile { at } => Some(at),
        Mount::ReadOnly { .. }
        | Mount::Writable { .. }
        | Mount::Pin { .. }
        | Mount::PinReadOnly { .. }
        | Mount::PinLink { .. }
        | Mount::Text { .. }
        | Mount::Memory { .. }
        | Mount::Link { .. }
        | Mount::Processes
        | Mount::Devices => None,
    }
}

fn attack_plan(shown: &Path, ourselves: &Path) -> Result<CommandPlan<Command<ProgramFile>>, ProgramError> {
    let stat = rustix::fs::stat(ourselves)
        .map_err(|error| ProgramError::Broken { why: format!("our own binary: {error}") })?;
    let file = ProgramFile { path: shown.to_owned(), device: stat.st_dev, inode: stat.st_ino };
    let words = vec!["vambrace".to_owned(), "__attack".to_owned()];
    // So that the null device of the runner is attacked too, which programs get as their input.
    let redirects =
        vec![Redirect { stream: Stream::Err, mode: RedirectMode::Truncate, target: Target::Null }];
    let pipeline = vec![Command::Run(Simple { file, words, redirects })];
    Ok(CommandPlan { steps: vec![Step { join: Join::First, pipeline }] })
}
