//! MCP over standard input and output.

use rmcp::service::{ServerInitializeError, serve_server};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::stdio_pipes;

use crate::mcp::Gate;
use crate::mcp::oversize::{Answering, LONGEST};
use crate::mcp::threshold::Threshold;

/// Serves until the client closes its end.
pub async fn serve_stdio(gate: Gate) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let (input, output) = stdio_pipes();
    let transport = AsyncRwTransport::new_server(Answering::new(input), output).with_max_line_length(LONGEST);
    let transport = Threshold::new(transport, gate.departure.clone());
    let running = match serve_server(gate, transport).await {
        // A client that leaves without a word wanted nothing.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        started => started?,
    };
    running.waiting().await?;
    Ok(())
}
