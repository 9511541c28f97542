//! Turns `rules/*.rules` into the table of rules. What is wrong with a file is told with its name
//! and the line.

#![expect(
    clippy::disallowed_methods,
    reason = "a build script reads files and its settings, and no agent runs it"
)]

#[path = "src/index/buckets.rs"]
mod buckets;
#[path = "src/class.rs"]
mod class;
#[path = "build/class_of.rs"]
mod class_of;
#[path = "src/index/gram.rs"]
mod gram;
#[path = "build/index.rs"]
mod index;
#[path = "build/names.rs"]
mod names;
#[path = "build/read.rs"]
mod read;
#[path = "build/write.rs"]
mod write;

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

fn main() -> ExitCode {
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rerun-if-changed=rules");
    println!("cargo::rerun-if-changed=src/class.rs");
    println!("cargo::rerun-if-changed=src/index");
    match build() {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            println!("cargo::error={problem}");
            ExitCode::FAILURE
        }
    }
}

fn build() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR")?).join("rules");
    let order = fs::read_to_string(folder.join("order"))?;
    let areas = read::areas(&order);
    refuse_unlisted(&folder, &areas)?;
    let mut rules = Vec::new();
    for area in &areas {
        let name = format!("rules/{area}.rules");
        let text = fs::read_to_string(folder.join(format!("{area}.rules")))
            .map_err(|error| format!("{name}, named in rules/order: {error}"))?;
        rules.extend(read::rules(&name, &text)?);
    }
    read::refuse_doubles(&rules)?;
    let out = PathBuf::from(std::env::var("OUT_DIR")?).join("rules.rs");
    fs::write(out, write::table(&rules)? + &index::table(&rules)?)?;
    Ok(())
}

/// A file that nobody names would be rules that nobody applies.
fn refuse_unlisted(folder: &Path, areas: &[&str]) -> Result<(), Box<dyn Error>> {
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        let area = name.strip_suffix(".rules");
        if area.is_some_and(|area| !areas.contains(&area)) {
            return Err(format!("rules/{name} is not named in rules/order").into());
        }
    }
    Ok(())
}
