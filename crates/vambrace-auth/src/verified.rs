//! Tokens whose signature was found good. One comes with every request of its hour, and a signature costs more than all
//! the rest of a call's admission.
//!
//! INVARIANT: kept beside the keys that verified them and gone with these. Only the signature is remembered; algorithm,
//! key, times, issuer and audience are looked at each time.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use sha2::{Digest as _, Sha256};

/// LIMIT: twice as many are remembered. Only good tokens are, so nobody without one makes us forget.
const MOST: usize = 2048;

type Digest = [u8; 32];

/// When the recent ones are many, they become the older ones, and those that nobody showed since are forgotten.
#[derive(Debug, Default)]
struct Kept {
    recent: HashSet<Digest>,
    older: HashSet<Digest>,
}

#[derive(Debug, Default)]
pub(crate) struct Verified(Mutex<Kept>);

impl Verified {
    /// Whether this very text, all three parts of it, was found good; `verify` finds out where it is not known.
    pub(crate) fn or_verify(&self, token: &str, verify: impl FnOnce() -> bool) -> bool {
        let digest: Digest = Sha256::digest(token).into();
        if self.kept().knows(digest) {
            return true;
        }
        // Without the lock: others need not wait for this one's arithmetic.
        let is_good = verify();
        if is_good {
            self.kept().add(digest);
        }
        is_good
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn knows(&mut self, digest: Digest) -> bool {
        if self.recent.contains(&digest) {
            return true;
        }
        let is_known = self.older.remove(&digest);
        if is_known {
            self.add(digest);
        }
        is_known
    }

    fn add(&mut self, digest: Digest) {
        if self.recent.len() >= MOST {
            self.older = std::mem::take(&mut self.recent);
        }
        self.recent.insert(digest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(verified: &Verified, token: &str, is_good: bool, expected: (bool, bool)) {
        let mut was_asked = false;
        let believed = verified.or_verify(token, || {
            was_asked = true;
            is_good
        });
        assert_eq!((believed, was_asked), expected, "{token}");
    }

    #[test]
    fn only_what_was_found_good_is_remembered() {
        let verified = Verified::default();
        check(&verified, "a.b.c", false, (false, true));
        check(&verified, "a.b.c", false, (false, true));
        check(&verified, "a.b.c", true, (true, true));
        check(&verified, "a.b.c", false, (true, false));
        for other in ["a.b.C", "a.b.c=", "a.b.", "a.bc", "a.b.c ", ""] {
            check(&verified, other, false, (false, true));
        }
    }

    #[test]
    fn what_is_shown_again_and_again_is_not_forgotten_and_the_rest_is() {
        let verified = Verified::default();
        check(&verified, "first", true, (true, true));
        check(&verified, "again", true, (true, true));
        for number in 0..3 * MOST {
            check(&verified, &format!("other {number}"), true, (true, true));
            check(&verified, "again", false, (true, false));
            let kept = verified.kept();
            assert!(kept.recent.len() <= MOST && kept.older.len() <= MOST);
        }
        check(&verified, "first", false, (false, true));
    }
}
