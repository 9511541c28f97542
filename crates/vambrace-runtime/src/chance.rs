//! Randomness for identifiers.

use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};

/// The system's randomness, fetched for many identifiers at once; no byte is given out twice.
struct Chance {
    bytes: [u8; Chance::FETCHED],
    n_used: usize,
}

impl Chance {
    const FETCHED: usize = 512;

    fn draw<const N: usize>(&mut self) -> Result<[u8; N], getrandom::Error> {
        if self.n_used.saturating_add(N) > self.bytes.len() {
            getrandom::fill(&mut self.bytes)?;
            self.n_used = 0;
        }
        let mut drawn = [0; N];
        for (byte, fetched) in drawn.iter_mut().zip(self.bytes.iter_mut().skip(self.n_used)) {
            // What was given out is nowhere else to be found.
            *byte = std::mem::take(fetched);
        }
        self.n_used += N;
        Ok(drawn)
    }
}

/// Randomness for identifiers. A system without it gets a counter.
pub fn chance<const N: usize>() -> [u8; N] {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    thread_local! {
        static CHANCE: RefCell<Chance> =
            const { RefCell::new(Chance { bytes: [0; Chance::FETCHED], n_used: Chance::FETCHED }) };
    }
    const { assert!(N <= Chance::FETCHED) };
    CHANCE.with_borrow_mut(Chance::draw).unwrap_or_else(|_| {
        let count = COUNTER.fetch_add(1, Ordering::Relaxed).to_le_bytes();
        let mut bytes = [0; N];
        bytes.iter_mut().zip(count).for_each(|(byte, digit)| *byte = digit);
        bytes
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn identifiers_differ_across_fetches_and_threads() {
        let draw = || (0..500).map(|_| chance::<10>()).collect::<Vec<_>>();
        let others: Vec<_> = (0..4).map(|_| std::thread::spawn(draw)).collect();
        let mut drawn: Vec<[u8; 10]> = draw();
        drawn.extend(others.into_iter().flat_map(|other| other.join().unwrap()));
        assert_eq!(drawn.iter().collect::<HashSet<_>>().len(), 2500);
        assert!(drawn.iter().all(|id| *id != [0; 10]));
    }

    #[test]
    fn as_much_as_was_fetched_is_given_out_and_forgotten() {
        let mut chance = Chance { bytes: [7; Chance::FETCHED], n_used: 0 };
        assert_eq!(chance.draw::<500>(), Ok([7; 500]));
        assert_eq!(chance.bytes[..500], [0; 500]);
        assert_eq!(chance.draw::<12>(), Ok([7; 12]));
        assert_ne!(chance.draw::<16>(), Ok([7; 16]));
        assert_eq!(chance.n_used, 16);
    }
}
