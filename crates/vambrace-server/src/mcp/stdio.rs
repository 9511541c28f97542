//! MCP over standard input and output.

use rmcp::service::serve_server;
use rmcp::transport::stdio_pipes;

use crate::mcp::Gate;

/// Serves until the client closes its end.
pub async fn serve_stdio(gate: Gate) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let running = serve_server(gate, stdio_pipes()).await?;
    running.waiting().await?;
    Ok(())
}
