//! The bare echo: what axum and serde_json cost, and nothing else. It ends when nobody listens.

use std::io::{Read as _, Write as _};

use axum::Router;
use axum::body::Bytes;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::{get, post};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::failure::Failure;

/// Until nobody holds the other end of standard input.
pub(crate) fn run() -> Result<(), Failure> {
    let app = Router::new().route("/", post(answer)).route("/health", get(async || "ok"));
    std::thread::spawn(|| {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        std::process::exit(0);
    });
    let lost = |problem: std::io::Error| Failure::wrong("echo", "cannot serve", &problem.to_string());
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(lost)?;
    runtime.block_on(async {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.map_err(lost)?;
        let address = listener.local_addr().map_err(lost)?;
        println!("listening on http://{address}");
        std::io::stdout().flush().map_err(lost)?;
        // As ours: an answer goes out when it is there.
        let listener = axum::serve::ListenerExt::tap_io(listener, |stream| {
            let _ = stream.set_nodelay(true);
        });
        axum::serve(listener, app).await.map_err(lost)
    })
}

async fn answer(body: Bytes) -> impl IntoResponse {
    let Ok(mut request) = serde_json::from_slice::<Value>(&body) else {
        return (StatusCode::BAD_REQUEST, [(header::CONTENT_TYPE, "text/plain")], b"no JSON".to_vec());
    };
    let mut take = |name: &str| request.get_mut(name).map_or(Value::Null, Value::take);
    let answer = json!({"jsonrpc": "2.0", "id": take("id"), "result": take("params")});
    let text = serde_json::to_vec(&answer).unwrap_or_default();
    (StatusCode::OK, [(header::CONTENT_TYPE, "application/json")], text)
}
