//! Adds up what the test binaries say about themselves.

/// The counts of all `test result:` lines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    pub(crate) ignored: u64,
    /// Binaries (and doc-test runs) that reported.
    pub(crate) binaries: u64,
}

impl Counts {
    /// Takes in one line of output; any other line changes nothing.
    pub(crate) fn read_line(&mut self, line: &str) {
        let Some(rest) = line.strip_prefix("test result: ") else { return };
        // `ok. 5 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s`
        let Some((_, numbers)) = rest.split_once(". ") else { return };
        self.binaries += 1;
        for part in numbers.split("; ") {
            let Some((number, word)) = part.split_once(' ') else { continue };
            let Ok(number) = number.parse::<u64>() else { continue };
            match word {
                "passed" => self.passed += number,
                "failed" => self.failed += number,
                "ignored" => self.ignored += number,
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binaries_are_added_up() {
        let mut counts = Counts::default();
        for line in [
            "running 2 tests",
            "test a::test result: ... ok",
            "test result: ok. 5 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s",
            "test result: FAILED. 1 passed; 2 failed; 1 ignored; 0 measured; 3 filtered out; finished in 0.02s",
            "test result: odd",
        ] {
            counts.read_line(line);
        }
        assert_eq!(counts, Counts { passed: 6, failed: 2, ignored: 1, binaries: 2 });
    }
}
