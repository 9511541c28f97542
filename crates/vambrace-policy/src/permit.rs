//! A permit: the proof that policy looked at exactly this action and said yes, good for one use.

use vambrace_types::ScopedPath;

use crate::{Action, Obligations, PathPattern};

/// Which policy made a decision. Each door is wired to one epoch and refuses permits of any other, so neither a
/// policy built on the side nor one from before a reload can open it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Epoch(pub u64);

/// INVARIANT: made only by `Policy::decide`, or from such a permit, which it uses up, for a part of the same action. Not
/// `Clone`, not `Default`, no public field, no test constructor.
#[derive(Debug)]
#[must_use = "a permit that is not used means a call that was decided and never done"]
pub struct Permit<A: Action> {
    action: A,
    epoch: Epoch,
    rule: String,
    obligations: Obligations,
    withheld: Withheld,
}

/// Paths that the action may come across and must pass over, because the operator's rules refuse them by name.
#[derive(Debug, Clone, Default)]
pub struct Withheld(pub(crate) Vec<WithheldPaths>);

/// What one rule withholds.
#[derive(Debug, Clone)]
pub(crate) struct WithheldPaths {
    pub(crate) pattern: PathPattern,
    /// What the call named itself where the rule only asks: the permit exists because a person has said yes to exactly
    /// these. A link that leads elsewhere beneath the pattern is still withheld.
    pub(crate) approved: Vec<ScopedPath>,
}

impl Withheld {
    pub fn covers(&self, components: &[String]) -> bool {
        self.0.iter().any(|rule| {
            // What lies in it, and the folders on the way to it.
            let is_approved = |named: &ScopedPath| {
                components.starts_with(named.components()) || named.components().starts_with(components)
            };
            rule.pattern.covers(components) && !rule.approved.iter().any(is_approved)
        })
    }
}

/// The permit belongs to another policy than the door.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stale;

impl<A: Action> Permit<A> {
    pub(crate) fn mint(
        action: A,
        epoch: Epoch,
        rule: String,
        obligations: Obligations,
        withheld: Withheld,
    ) -> Permit<A> {
        Permit { action, epoch, rule, obligations, withheld }
    }

    /// The same permit, for a part of what was decided about.
    pub(crate) fn map<B: Action>(self, part: impl FnOnce(A) -> B) -> Permit<B> {
        let Permit { action, epoch, rule, obligations, withheld } = self;
        Permit { action: part(action), epoch, rule, obligations, withheld }
    }

    pub fn action(&self) -> &A {
        &self.action
    }

    pub(crate) fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// The rule that allowed it.
    pub fn rule(&self) -> &str {
        &self.rule
    }

    pub fn obligations(&self) -> &Obligations {
        &self.obligations
    }

    pub fn withheld(&self) -> &Withheld {
        &self.withheld
    }

    /// Uses the permit up. The door hands in the epoch it is wired to.
    pub fn redeem(self, door: Epoch) -> Result<A, Stale> {
        if self.epoch == door { Ok(self.action) } else { Err(Stale) }
    }
}
