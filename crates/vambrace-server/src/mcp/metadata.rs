//! Where a client that has no credential learns who gives them out (RFC 9728).

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use http::uri::Authority;
use http::{HeaderMap, header};
use serde_json::{Value, json};

use crate::http::Front;

pub(super) const METADATA: &str = "/.well-known/oauth-protected-resource";
const RESOURCE: &str = "/mcp";

pub(super) async fn metadata(State(front): State<Arc<Front>>, headers: HeaderMap) -> Json<Value> {
    let mut shape = json!({
        "resource": format!("{}{RESOURCE}", base(front.settings.public_url.as_deref(), &headers)),
        "bearer_methods_supported": ["header"],
        "resource_name": "Vambrace",
    });
    let servers = &front.settings.authorization_servers;
    if let (Value::Object(shape), false) = (&mut shape, servers.is_empty()) {
        shape.insert("authorization_servers".to_owned(), json!(servers));
    }
    Json(shape)
}

/// Where we are reached: as the operator says, or as the client wrote it. What is no host and port is not repeated.
fn base(public_url: Option<&str>, headers: &HeaderMap) -> String {
    if let Some(url) = public_url {
        return url.trim_end_matches('/').to_owned();
    }
    let host = headers.get(header::HOST).and_then(|value| Authority::try_from(value.as_bytes()).ok());
    match host {
        Some(host) if !host.as_str().contains('@') => format!("http://{host}"),
        Some(_) | None => "http://localhost".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    #[track_caller]
    fn check(public_url: Option<&str>, host: &str, expected: &str) {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, HeaderValue::from_str(host).unwrap());
        assert_eq!(base(public_url, &headers), expected, "{public_url:?} {host}");
    }

    #[test]
    fn the_base_is_the_operators_or_the_clients_own_word_for_us() {
        check(Some("https://hands.example.com/"), "127.0.0.1:8081", "https://hands.example.com");
        check(None, "127.0.0.1:8081", "http://127.0.0.1:8081");
        check(None, "[::1]:8081", "http://[::1]:8081");
        check(None, "a\"b", "http://localhost");
        check(None, "user@host", "http://localhost");
        check(None, "", "http://localhost");
    }
}
