//! Every tool, one file each. A tool turns arguments into an action (`plan`) and, given a permit, does it with its
//! hands (`run`). It knows the doors and the edit engine; it knows no front end and no wire format but the schema of
//! its own arguments.

mod about;
mod catalog;
mod confirmation;
mod context;
mod declared;
mod file;
mod git;
mod hands;
mod memory;
mod output;
mod posture;
mod render;
mod shell;
mod system;
pub mod thread;
mod tool;
mod toolbox;
mod way_out;
mod web;

pub use about::{About, Audience, Hints};
pub use catalog::{ALIASES, Visitor, built_in, declared, sub_agents};
pub use confirmation::{Confirmations, MakeKey};
pub use context::{CallContext, Limits};
pub use file::Change;
pub use hands::{Hands, Instruments, Look, Notes, ProgressSink, Warrant, sent_secrets};
pub use memory::Memories;
pub use render::{Reading, Tense};
pub use tool::Tool;
pub use toolbox::{
    AgentProtocol, Declared, DeclaredProgram, DeclaredRequest, Language, LegacyRunCommand, SubAgent, Toolbox,
    Toolchain, WebLimits,
};
pub use way_out::WayOut;
pub use web::NOTIFY;
pub use web::sample_url;
