//! Every tool, one file each. A tool turns arguments into an action (`plan`) and, given a permit, does it with its
//! hands (`run`). It knows the doors and the edit engine; it knows no front end and no wire format but the schema of
//! its own arguments.

mod about;
mod catalog;
mod context;
mod file;
mod hands;
mod output;
mod tool;

pub use about::{About, Hints};
pub use catalog::{ALIASES, Visitor, visit_all};
pub use context::{CallContext, Limits};
pub use file::Change;
pub use hands::{Blocking, Hands, Instruments, Look, ProgressSink, Warrant};
pub use tool::Tool;
