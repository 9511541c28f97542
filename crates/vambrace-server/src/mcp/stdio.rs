//! MCP over standard input and output.

use rmcp::service::{ServerInitializeError, serve_server};
use rmcp::transport::stdio_pipes;
use vambrace_audit::{Event, EventKind, Severity};
use vambrace_redact::{RedactedText, RedactedTree};
use vambrace_runtime::{Corridor, Level, LogLine};

use crate::mcp::Gate;
use crate::mcp::pipe::Pipe;
use crate::mcp::threshold::Threshold;

/// Serves until the client closes its end.
pub async fn serve_stdio(gate: Gate) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let (input, output) = stdio_pipes();
    let corridor = gate.corridor();
    let transport = Pipe::new(input, output, move || tell(&corridor));
    let transport = Threshold::new(transport, gate.departure.clone());
    let running = match serve_server(gate, transport).await {
        // A client that leaves without a word wanted nothing.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        started => started?,
    };
    running.waiting().await?;
    Ok(())
}

/// What could not be read is no call. THREAT: P03, that it was made to harm us is told all the same.
fn tell(corridor: &Corridor) {
    const WORDS: &str = "Request refused: its JSON is made to harm whoever reads it";
    let message = || RedactedText::fixed(WORDS);
    corridor.log().line(&LogLine { level: Level::Warn, message: message(), fields: Vec::new() });
    let event = Event {
        kind: EventKind::AuthFailed,
        severity: Severity::Warning,
        caller: None,
        by: None,
        call_id: None,
        message: message(),
        details: RedactedTree::map(Vec::new()),
    };
    if let Ok(audit) = corridor.audit() {
        // A record that cannot be written is met by the calls.
        let _ = audit.event(&event).wait();
    }
}
