//! The corpus of the fuzz target `config_file`, replayed.

#![expect(clippy::disallowed_methods, reason = "a test reads its files")]

mod config_file;
#[path = "../../../../fuzz/replay.rs"]
mod replay;

#[test]
fn every_configuration_of_the_corpus_holds() {
    replay::replay("config_file", 10, config_file::check);
}
