//! The front doors and their wire formats. A front end turns a message into an `Incoming`, hands it to the corridor and
//! renders the `Reply`; it decides nothing and composes nothing.

mod a2a;
pub mod http;
pub mod mcp;
mod render;
pub mod wire;

pub use a2a::A2aSettings;
pub use render::text;
