//! MCP over standard input and output.

use rmcp::service::serve_server;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::stdio_pipes;

use crate::mcp::Gate;
use crate::mcp::oversize::{Answering, LONGEST};

/// Serves until the client closes its end.
pub async fn serve_stdio(gate: Gate) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let (input, output) = stdio_pipes();
    let transport = AsyncRwTransport::new_server(Answering::new(input), output).with_max_line_length(LONGEST);
    let running = serve_server(gate, transport).await?;
    running.waiting().await?;
    Ok(())
}
