//! What must hold for every frame between this process, the launcher and the cells. Used by the fuzz target
//! `wire_message` and by the replay of its corpus.

use std::fmt::Debug;

use borsh::{BorshDeserialize, BorshSerialize};

use super::message::{Answer, Confine, Report, Request};
use super::{Garbled, decode, encode};
use crate::spec::CageSpec;

/// The first byte says which message; the rest is its body. A body that is read is written again as it was read, and
/// nothing that it says reserves more memory than it has bytes.
pub fn check_wire_message(input: &[u8]) -> Result<(), String> {
    let Some((kind, body)) = input.split_first() else { return Ok(()) };
    match kind % 5 {
        0 => survives::<CageSpec>(body),
        1 => survives::<Confine>(body),
        2 => survives::<Request>(body),
        3 => survives::<Answer>(body),
        _ => survives::<Report>(body),
    }
}

fn survives<T: Debug + PartialEq + BorshSerialize + BorshDeserialize>(body: &[u8]) -> Result<(), String> {
    let Ok(message) = decode::<T>(body) else { return Ok(()) };
    match encode(&message).map(|bytes| decode::<T>(&bytes)) {
        Ok(Ok(again)) if again == message => Ok(()),
        Ok(Ok(again)) => Err(format!("{message:?} is read again as {again:?}")),
        Ok(Err(Garbled)) | Err(_) => Err(format!("{message:?} is not read again")),
    }
}

#[cfg(test)]
#[path = "../../../../fuzz/replay.rs"]
mod replay;

#[cfg(test)]
mod tests {
    use super::{check_wire_message, replay};

    #[test]
    fn every_message_of_the_corpus_holds() {
        replay::replay("wire_message", 10, check_wire_message);
    }
}
