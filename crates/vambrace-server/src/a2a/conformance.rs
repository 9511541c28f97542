//! What the public test kit (a2aproject/a2a-tck) asks an agent to do, by the beginning of a message's id. Only
//! there when the operator of a test asks for it.

use std::time::Duration;

use ::a2a::{Part, TaskState};
use serde_json::json;

use super::store::Piece;

pub(super) enum Step {
    Work,
    Add(Part, Piece),
    Wait(Duration),
}

pub(super) struct Script {
    pub(super) steps: Vec<Step>,
    pub(super) end: TaskState,
    pub(super) words: Option<&'static str>,
}

impl Script {
    pub(super) fn end(end: TaskState, words: &'static str) -> Script {
        Script { steps: Vec::new(), end, words: Some(words) }
    }
}

/// What a message of the kit gets.
pub(super) enum Fixture {
    Task(Script),
    Message(&'static str),
}

fn file() -> Part {
    Part::raw(b"tck".to_vec()).with_media_type("text/plain").with_filename("output.txt")
}

fn link() -> Part {
    Part::url("https://example.com/output.txt").with_media_type("text/plain").with_filename("output.txt")
}

/// The longest beginning that fits counts.
pub(super) fn fixture(message_id: &str) -> Fixture {
    let text = |words: &str| Step::Add(Part::text(words), Piece::Whole);
    let completed = |steps| Script { steps, end: TaskState::Completed, words: None };
    let starts = |prefix: &str| message_id.starts_with(prefix);
    let script = if starts("tck-message-response") || starts("tck-stream-002") {
        return Fixture::Message("Direct message response");
    } else if starts("tck-stream-artifact-chunked") {
        let chunk = |words, piece| Step::Add(Part::text(words), piece);
        completed(vec![Step::Work, chunk("chunk-1 ", Piece::First), chunk("chunk-2", Piece::Last)])
    } else if starts("tck-stream-artifact-text") {
        completed(vec![Step::Work, text("Streamed text content")])
    } else if starts("tck-stream-artifact-file") {
        completed(vec![Step::Work, Step::Add(file(), Piece::Whole)])
    } else if starts("tck-stream-ordering-001") {
        completed(vec![Step::Work, text("Ordered output")])
    } else if starts("tck-stream-001") {
        completed(vec![Step::Work, text("Stream hello from TCK")])
    } else if starts("tck-stream-003") {
        completed(vec![Step::Work, text("Stream task lifecycle")])
    } else if starts("test-resubscribe-message-id") {
        completed(vec![Step::Work, Step::Wait(Duration::from_secs(4))])
    } else if starts("tck-delayed-complete") {
        Script {
            words: Some("Done after delay"),
            ..completed(vec![Step::Work, Step::Wait(Duration::from_secs(2))])
        }
    } else if starts("tck-artifact-text") {
        completed(vec![text("Generated text content")])
    } else if starts("tck-artifact-file-url") {
        completed(vec![Step::Add(link(), Piece::Whole)])
    } else if starts("tck-artifact-file") {
        completed(vec![Step::Add(file(), Piece::Whole)])
    } else if starts("tck-artifact-data") {
        completed(vec![Step::Add(Part::data(json!({"key": "value", "count": 42})), Piece::Whole)])
    } else if starts("tck-input-required") {
        Script { end: TaskState::InputRequired, ..completed(Vec::new()) }
    } else if starts("tck-auth-required") {
        Script::end(TaskState::AuthRequired, "Sign in to go on.")
    } else if starts("tck-reject-task") {
        Script::end(TaskState::Rejected, "rejected")
    } else {
        Script::end(TaskState::Completed, "Hello from TCK")
    };
    Fixture::Task(script)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(message_id: &str, expected: Option<(usize, TaskState)>) {
        let found = match fixture(message_id) {
            Fixture::Task(script) => Some((script.steps.len(), script.end)),
            Fixture::Message(_) => None,
        };
        assert_eq!(found, expected, "{message_id}");
    }

    #[test]
    fn ids_of_the_kit() {
        check("tck-complete-task-1", Some((0, TaskState::Completed)));
        check("tck-delayed-complete-1", Some((2, TaskState::Completed)));
        check("tck-artifact-file-1", Some((1, TaskState::Completed)));
        check("tck-artifact-file-url-1", Some((1, TaskState::Completed)));
        check("tck-stream-001-1", Some((2, TaskState::Completed)));
        check("tck-stream-002-1", None);
        check("tck-stream-artifact-chunked-1", Some((3, TaskState::Completed)));
        check("tck-message-response-1", None);
        check("tck-input-required-1", Some((0, TaskState::InputRequired)));
        check("tck-reject-task-1", Some((0, TaskState::Rejected)));
        check("anything", Some((0, TaskState::Completed)));
    }
}
