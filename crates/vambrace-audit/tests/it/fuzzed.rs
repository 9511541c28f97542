//! The corpus of the fuzz target `audit_folder`, replayed.

mod audit_folder;
#[path = "../../../../fuzz/replay.rs"]
mod replay;

#[test]
fn every_folder_of_the_corpus_is_read() {
    replay::replay("audit_folder", 10, audit_folder::check);
}
