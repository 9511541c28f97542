//! Starts the side-by-side benchmarks. What they measure is theirs to know.

use std::path::Path;

use crate::failure::Failure;
use crate::run;

pub(crate) fn run(root: &Path, names: &[&str]) -> Result<(), Failure> {
    if !root.join("bench/Cargo.toml").is_file() {
        return Err(Failure::new(
            "there is no bench package in this tree",
            "Take a revision that has the folder `bench`.",
        ));
    }
    let mut command = run::cargo(root);
    command.args(["run", "--quiet", "--release", "--package", "vambrace-bench", "--"]).args(names);
    run::run(&mut command, "Read the message above; `cargo xtask bench` without a name lists the benchmarks.")
}
