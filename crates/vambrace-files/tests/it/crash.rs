//! A process killed in the middle of an edit of several files leaves all of the old or all of the new.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::child::{Part, Running};
use crate::world::{Choices, World};

const FILES: [&str; 3] = ["a.txt", "d/b.txt", "d/e/c.txt"];
const ROUNDS: usize = 80;
/// A whole edit takes a few milliseconds on a disk that really syncs.
const LONGEST_DELAY: Duration = Duration::from_millis(12);

fn text(generation: u64) -> String {
    format!("{generation}\n{}", "x".repeat(1 << 16))
}

fn generation(text: &str) -> u64 {
    text.lines().next().unwrap().parse().unwrap()
}

/// The child's part.
pub(crate) fn edit_until_killed(folder: &Path) {
    let world = World::at(folder, &Choices::default());
    let mut out = std::io::stdout();
    loop {
        writeln!(out, "editing").unwrap();
        out.flush().unwrap();
        world.edit_with(&FILES, &mut |_, old| Ok(text(generation(old) + 1))).unwrap();
    }
}

#[test]
fn a_kill_at_any_moment_leaves_all_old_or_all_new() {
    let home = tempfile::tempdir().unwrap();
    let before = World::at(home.path(), &Choices::default());
    for path in FILES {
        before.put(path, text(1));
    }
    let mut n_interrupted = 0;
    let mut chance = 0x2545_f491_4f6c_dd1d_u64;
    for round in 0..ROUNDS {
        let mut child = Running::start(Part::Edit, home.path());
        child.wait_for("editing");
        chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        spin(LONGEST_DELAY.mul_f64((chance >> 40) as f64 / (1 << 24) as f64));
        child.kill();
        n_interrupted += usize::from(check_recovered(home.path(), round));
    }
    assert!(n_interrupted > 0, "no kill ever hit an edit");
}

/// Keeps the processor busy: a moment that no event marks cannot be waited for otherwise.
fn spin(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        std::hint::spin_loop();
    }
}

/// Whether there was anything to recover.
fn check_recovered(home: &Path, round: usize) -> bool {
    let world = World::at(home, &Choices::default());
    let recovery = world.files.recover().unwrap();
    assert_eq!(recovery.conflicts, Vec::<String>::new(), "round {round}");
    let generations: Vec<u64> = FILES.iter().map(|path| generation(&world.raw(path))).collect();
    assert!(generations.iter().all(|found| *found == generations[0]), "round {round}: {generations:?}");
    for path in FILES {
        assert_eq!(world.raw(path), text(generations[0]), "round {round}: {path} is torn");
    }
    // Neither copies nor locks are left of it.
    assert_eq!(world.litter(), Vec::<String>::new(), "round {round}");
    let (_, warnings) = world.edit_with(&FILES, &mut |_, old| Ok(text(generation(old) + 1))).unwrap();
    assert_eq!(warnings, Vec::<String>::new(), "round {round}");
    world.check_clean();
    assert_eq!(fs::read_dir(world.journal()).unwrap().count(), 0);
    !recovery.finished.is_empty() || !recovery.reverted.is_empty()
}
