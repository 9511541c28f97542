//! What can be done to memory. Whose memory it is, is settled by the caller alone and never by an argument.

use vambrace_types::{Caller, ScopedPath};

use super::{Access, Action, sealed};
use crate::{Capability, Denial, Judgement, Kinds, PolicySettings};

/// What becomes of the notes that stand already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Saving {
    /// A fact of its own (specification 001).
    Fact,
    /// One more note (specification 003).
    Append,
    /// The only note: those before it go. Facts stay.
    Overwrite,
}

#[derive(Debug, Clone)]
pub struct SaveMemory {
    pub content: String,
    pub category: Option<String>,
    pub saving: Saving,
}

#[derive(Debug, Clone)]
pub struct SearchMemory {
    /// Without one, everything, newest last.
    pub query: Option<String>,
    /// Without one, as many as the operator set.
    pub limit: Option<usize>,
}

#[derive(Debug, Clone)]
pub struct UpdateMemory {
    pub id: String,
    pub content: String,
}

#[derive(Debug, Clone)]
pub struct DeleteMemory {
    pub id: String,
}

macro_rules! memory_actions {
    ($($action:ident $capability:ident |$this:ident| $written:expr;)*) => { $(
        impl sealed::Sealed for $action {}
        impl Action for $action {
            const CAPABILITY: Capability = Capability::$capability;
            const KINDS: Kinds = Kinds::NONE;

            fn targets(&self) -> Vec<(&ScopedPath, Access)> {
                Vec::new()
            }

            fn written(&self) -> Vec<&str> {
                let $this = self;
                $written
            }

            fn judge(&self, settings: &PolicySettings, caller: &Caller) -> Result<Judgement, Denial> {
                match settings.permissions.ruling(caller, Self::CAPABILITY) {
                    Some(ruling) => Ok(Judgement::by(ruling?.rule())),
                    None => Ok(Judgement::default()),
                }
            }
        }
    )* };
}

memory_actions! {
    SaveMemory WriteMemory |this| {
        std::iter::once(this.content.as_str()).chain(this.category.as_deref()).collect()
    };
    SearchMemory ReadMemory |_this| Vec::new();
    UpdateMemory WriteMemory |this| vec![this.content.as_str()];
    DeleteMemory WriteMemory |_this| Vec::new();
}
