//! How long the engine may work, asked of the caller: there is no clock in this crate.

/// Asked between bounded steps. The caller's implementation usually compares a clock with a deadline
/// (specification 004: 100 ms).
pub trait Budget {
    fn exhausted(&self) -> bool;
}

impl<F: Fn() -> bool> Budget for F {
    fn exhausted(&self) -> bool {
        self()
    }
}

/// The budget ran out, or a step would have been too large to start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the search was stopped because it took too long")]
pub struct OutOfTime;

pub(crate) fn check(budget: &dyn Budget) -> Result<(), OutOfTime> {
    if budget.exhausted() { Err(OutOfTime) } else { Ok(()) }
}
