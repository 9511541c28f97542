//! What is remembered and who may use it: from the configuration to the lists and the store.

use std::path::Path;
use std::sync::Arc;

use vambrace_audit::Clock;
use vambrace_knowledge::{EmbeddedStore, Sharing};
use vambrace_policy::{Epoch, MemoryReads, Permission, PermissionList};
use vambrace_tools::Memories;
use vambrace_types::AccessLevel;

use crate::section::{self, Config};

pub(super) fn permissions(config: &Config) -> PermissionList {
    let entry = |entry: &section::Permission| Permission {
        value: entry.value.clone(),
        access: match entry.role {
            section::AccessName::Write => AccessLevel::Write,
            section::AccessName::Read => AccessLevel::Read,
        },
    };
    PermissionList {
        emails: config.permissions.allowed_emails.iter().map(entry).collect(),
        groups: config.permissions.allowed_groups.iter().map(entry).collect(),
        reads: match config.memory.reads {
            section::MemoryReads::Checked => MemoryReads::Checked,
            section::MemoryReads::Open => MemoryReads::Open,
        },
    }
}

/// Nothing is opened here: most runs never touch the memory.
pub(super) fn memories(config: &Config, state: &Path, epoch: Epoch, clock: &Arc<dyn Clock>) -> Memories {
    let sharing = match config.rag.knowledge_scope {
        section::KnowledgeScope::Shared => Sharing::Everybody,
        section::KnowledgeScope::Channel => Sharing::Channel,
        section::KnowledgeScope::User => Sharing::Person,
    };
    let results = u32::try_from(config.rag.max_results).unwrap_or(u32::MAX);
    let store = Arc::new(EmbeddedStore::new(state.join("memory.db")));
    Memories::new(store, sharing, results, epoch, Arc::clone(clock))
}
