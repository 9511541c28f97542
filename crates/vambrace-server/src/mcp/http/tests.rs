use vambrace_state::{Outage, ServerState};

use super::*;
use crate::http::testing::{RATE, World, key, request as post, told};

/// What a message gets, in this session if there is one.
async fn check(state: ServerState, session: Option<&str>, method: &str, expected: (u16, Option<&str>, &str)) {
    let world = World::new(state);
    let endpoint = Endpoint::new(&world.front);
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let mut request = post("/mcp", &key(), &message);
    if let Some(session) = session {
        request.headers_mut().insert(SESSION, HeaderValue::from_str(session).unwrap());
    }
    let answer = endpoint.serve(&world.front, world.admitted().await, request).await;
    let (status, again, code) = told(answer).await;
    assert_eq!((status, again.as_deref(), code.as_str()), expected, "{session:?} {method}");
}

#[tokio::test(start_paused = true)]
async fn without_its_store_a_session_is_neither_opened_nor_denied() {
    let local = || ServerState::local(RATE);
    check(local(), None, "initialize", (200, None, "")).await;
    check(local(), Some("unknown"), "tools/list", (404, None, "RouteNotFound")).await;
    for outage in Outage::ALL {
        let state = ServerState { sessions: outage.server_state().sessions, ..local() };
        let away = (503, Some("5"), "StateUnavailable");
        check(state.clone(), None, "initialize", away).await;
        check(state, Some("unknown"), "tools/list", away).await;
    }
}
