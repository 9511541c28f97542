//! What the secret scan of a text to be written means (decision C44).

use crate::{Facts, Verdict};

/// What is done about each kind of finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OnWrite {
    pub known: Verdict,
    pub pattern: Verdict,
    /// Of what is let pass. Random text always is: it is wrong too often to stop anybody.
    pub notice: Notice,
}

impl OnWrite {
    pub const REFUSE: OnWrite = OnWrite { known: Verdict::Deny, pattern: Verdict::Ask, notice: Notice::Warn };
    pub const WARN: OnWrite =
        OnWrite { known: Verdict::Allow, pattern: Verdict::Allow, notice: Notice::Warn };
    pub const OFF: OnWrite =
        OnWrite { known: Verdict::Allow, pattern: Verdict::Allow, notice: Notice::Silent };

    /// Need anybody look at all?
    pub fn scans(&self) -> bool {
        *self != OnWrite::OFF
    }

    /// What to tell the caller about what was let pass.
    pub(crate) fn warnings(&self, facts: &Facts) -> Vec<String> {
        // LIMIT: a warning names so many places.
        const MOST: usize = 5;
        let passes = |verdict: Verdict| match verdict {
            Verdict::Allow => true,
            // A person who said yes knows.
            Verdict::Ask | Verdict::Deny => false,
        };
        let told: Vec<String> = facts
            .sightings
            .iter()
            .filter(|sighting| match sighting.kind {
                SightingKind::Known => passes(self.known),
                SightingKind::Pattern => passes(self.pattern),
                SightingKind::Entropy => true,
            })
            .map(|sighting| format!("{}, line {}", sighting.rule, sighting.line))
            .collect();
        if told.is_empty() || self.notice == Notice::Silent {
            return Vec::new();
        }
        let mut places = told.iter().take(MOST).map(String::as_str).collect::<Vec<_>>().join("; ");
        if let n_more @ 1.. = told.len().saturating_sub(MOST) {
            places.push_str(&format!("; {n_more} more"));
        }
        vec![format!(
            "The text written looks as if it holds a secret ({places}); if it does, refer to it by the name of its \
             variable instead."
        )]
    }
}

/// Whether the caller hears of what is let pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notice {
    Warn,
    Silent,
}

/// Something in a text to be written that is or may be a secret: where, and by which rule, never what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sighting {
    pub kind: SightingKind,
    pub rule: String,
    /// Counted from one, in the text that is put in.
    pub line: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SightingKind {
    Known,
    Pattern,
    Entropy,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(on_write: OnWrite, kinds: &[SightingKind], expected: Option<&str>) {
        let sightings = kinds.iter().zip(1..).map(|(kind, line)| {
            let rule = format!("{kind:?}").to_lowercase();
            Sighting { kind: *kind, rule, line }
        });
        let facts = Facts { sightings: sightings.collect(), ..Facts::default() };
        let warnings = on_write.warnings(&facts);
        let expected: Vec<String> = expected
            .map(|places| format!("The text written looks as if it holds a secret ({places});"))
            .into_iter()
            .collect();
        assert_eq!(warnings.len(), expected.len(), "{warnings:?}");
        for (warning, begin) in warnings.iter().zip(expected) {
            assert!(warning.starts_with(&begin), "{warning}");
        }
    }

    #[test]
    fn what_is_let_pass_is_told() {
        use SightingKind::{Entropy, Known, Pattern};
        check(OnWrite::REFUSE, &[Known, Pattern], None); // refused or asked about
        check(OnWrite::REFUSE, &[Known, Entropy], Some("entropy, line 2"));
        check(OnWrite::WARN, &[Known, Pattern], Some("known, line 1; pattern, line 2"));
        check(OnWrite::WARN, &[], None);
        check(OnWrite::OFF, &[Known, Pattern, Entropy], None);
        let many = [Entropy; 7];
        let five = (1..=5).map(|n| format!("entropy, line {n}")).collect::<Vec<_>>().join("; ");
        check(OnWrite::REFUSE, &many, Some(&format!("{five}; 2 more")));
    }
}
