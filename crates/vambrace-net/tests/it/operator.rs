//! What the operator's configuration asks for: one place, one answer, of bounded size.

use crate::server::{Server, ok};
use crate::world::{Choices, World};

/// The body, or the words of the error.
async fn fetched(answer: impl Into<Vec<u8>>) -> Result<Vec<u8>, String> {
    let server = Server::once(answer);
    let world = World::new(Choices::default());
    let url = format!("http://127.0.0.1:{}/keys", server.port());
    world.web.fetch_for_operator(&url).await.map_err(|error| error.to_string())
}

#[track_caller]
fn check(told: &Result<Vec<u8>, String>, words: &str) {
    assert!(told.as_ref().is_err_and(|told| told.contains(words)), "{told:?}");
}

#[tokio::test]
async fn a_private_address_is_asked_and_answers() {
    assert_eq!(fetched(ok("{}")).await, Ok(b"{}".to_vec()));
}

#[tokio::test]
async fn what_is_no_answer_is_told() {
    check(&fetched("HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n").await, "302");
    check(&fetched("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n").await, "404");
    check(&fetched("nonsense\r\n\r\n").await, "not HTTP");
    check(&fetched("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{}").await, "ended");
    let limit = 1024 * 1024;
    assert_eq!(fetched(ok(&"x".repeat(limit))).await.map(|body| body.len()), Ok(limit));
    check(&fetched(ok(&"x".repeat(limit + 1))).await, "larger");
    let world = World::new(Choices::default());
    for url in ["file:///etc/passwd", "keys.json", "http://"] {
        assert!(world.web.fetch_for_operator(url).await.is_err(), "{url}");
    }
}
