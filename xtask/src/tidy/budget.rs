//! What the product pulls in: each package is someone else's code in a security product, and build time.

use std::collections::BTreeMap;
use std::path::Path;

use super::Finding;
use crate::failure::Failure;
use crate::run;

/// The default graph of the binary, our own crates included.
pub(super) const MOST_PACKAGES: usize = 390;

/// Name with version, and license.
pub(super) fn packages(root: &Path) -> Result<Vec<(String, String)>, Failure> {
    let mut command = run::cargo(root);
    command.args(["tree", "--package", "vambrace", "--edges", "normal,build", "--prefix", "none"]);
    command.args(["--format", "{p}\t{l}"]);
    let listing = run::output_of(&mut command, "Run `cargo tree -p vambrace` and fix what it says.")?;
    Ok(parse(&listing))
}

pub(super) fn check(n_packages: usize) -> Option<Finding> {
    (n_packages > MOST_PACKAGES).then(|| {
        let message = format!("the product has {n_packages} packages, and the budget is {MOST_PACKAGES}");
        Finding::stop("Cargo.lock", 0, message)
    })
}

/// One package a line, `name vX.Y.Z (path)`, tab, license, and a star when it was listed before.
fn parse(listing: &str) -> Vec<(String, String)> {
    let mut packages = BTreeMap::new();
    for (package, license) in listing.lines().filter_map(|line| line.split_once('\t')) {
        let name = package.split_whitespace().take(2).collect::<Vec<_>>().join(" ");
        packages.insert(name, license.trim_end_matches("(*)").trim().to_owned());
    }
    packages.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_counts_once_per_version() {
        let listing = "vambrace v0.1.0 (/x)\tMIT\nsyn v2.0.1\tMIT OR ISC\nsyn v1.0.1\tMIT\nsyn v2.0.1\tMIT OR ISC (*)\n\n";
        let packages = parse(listing);
        let rows: Vec<_> = packages.iter().map(|(name, license)| (name.as_str(), license.as_str())).collect();
        assert_eq!(rows, [("syn v1.0.1", "MIT"), ("syn v2.0.1", "MIT OR ISC"), ("vambrace v0.1.0", "MIT")]);
        assert_eq!(check(MOST_PACKAGES), None);
        assert!(check(MOST_PACKAGES + 1).is_some());
    }
}
