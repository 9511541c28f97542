//! The corpora of the fuzz targets `command_line` and `url`, replayed.

#![expect(clippy::disallowed_methods, reason = "a test reads its files")]

mod command_line;
#[path = "../../../../fuzz/replay.rs"]
mod replay;
mod url;

#[test]
fn every_command_line_of_the_corpus_holds() {
    replay::replay("command_line", 10, command_line::check);
}

#[test]
fn every_url_of_the_corpus_holds() {
    replay::replay("url", 10, url::check);
}
