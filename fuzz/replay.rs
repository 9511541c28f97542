//! Replays the corpus of one fuzz target in a plain test: what a search found stays found. Each input is a file of
//! `testdata/fuzz/TARGET`.

use std::path::Path;

pub(crate) fn replay(target: &str, at_least: usize, check: impl Fn(&[u8]) -> Result<(), String>) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/fuzz").join(target);
    let mut n_inputs = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let input = std::fs::read(&path).unwrap();
        assert_eq!(check(&input), Ok(()), "{}", path.display());
        n_inputs += 1;
    }
    assert!(n_inputs >= at_least, "only {n_inputs} inputs");
}
