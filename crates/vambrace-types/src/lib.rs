//! The words every other crate speaks: data that is valid by construction.
//!
//! This crate knows no I/O, no clock, no wire format and no policy. What can be wrong about a value is settled by
//! the one function that makes it.

mod caller;
mod chain;
mod enforcement;
mod error;
mod ids;
mod json;
mod limits;
mod output;
mod result;
mod role;
mod scoped_path;
mod secret;
mod time;
mod tool_mode;
mod tool_name;

pub use caller::{Caller, Door, Narrowed, Rank, Voice, credential_of, owner_of};
pub use chain::{Chain, ChainRules, Endless};
pub use enforcement::{Enforcement, TooWeak};
pub use error::{ErrorCode, Family, ToolError};
pub use ids::{CallId, IdError, SessionId, VolumeId};
pub use json::{json_text_len, write_json_text};
pub use limits::{ByteLimit, DEFAULT_READ, DEFAULT_REPLY};
pub use output::{RawOutput, Tree, clean_controls, is_invisible};
pub use result::{Metadata, SecurityChecks, Status};
pub use role::{AccessLevel, Role, UnknownRole};
pub use scoped_path::{Bearings, PathProblem, ScopedPath};
pub use secret::Secret;
pub use time::Timestamp;
pub use tool_mode::{Effect, ToolMode, UnknownMode};
pub use tool_name::ToolName;
