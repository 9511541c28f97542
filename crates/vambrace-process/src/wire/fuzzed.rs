//! What must hold for every frame between this process, the launcher and the cells. Used by the fuzz target
//! `wire_message` and by the replay of its corpus.

use std::fmt::Debug;

use super::Garbled;
use super::message;

/// The first byte says which message; the rest is its body. A body that is read is written again as it was read, and
/// nothing that it says reserves more memory than it has bytes.
pub fn check_wire_message(input: &[u8]) -> Result<(), String> {
    let Some((kind, body)) = input.split_first() else { return Ok(()) };
    match kind % 5 {
        0 => survives(body, message::decode_spec, message::encode_spec),
        1 => survives(body, message::decode_confine, message::encode_confine),
        2 => survives(body, message::decode_command, |command| match command {
            message::Command::Run(order) => message::encode_run(order),
            message::Command::Terminate => message::TERMINATE.to_vec(),
            message::Command::Kill => message::KILL.to_vec(),
        }),
        3 => survives(body, message::decode_answer, message::encode_answer),
        _ => survives(body, message::decode_report, message::encode_report),
    }
}

fn survives<T: Debug + PartialEq>(
    body: &[u8],
    decode: impl Fn(&[u8]) -> Result<T, Garbled>,
    encode: impl Fn(&T) -> Vec<u8>,
) -> Result<(), String> {
    let Ok(message) = decode(body) else { return Ok(()) };
    match decode(&encode(&message)) {
        Ok(again) if again == message => Ok(()),
        Ok(again) => Err(format!("{message:?} is read again as {again:?}")),
        Err(Garbled) => Err(format!("{message:?} is not read again")),
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
