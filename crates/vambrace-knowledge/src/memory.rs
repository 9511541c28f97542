//! What a place that keeps memory must be able to do.

use std::fmt::Debug;

use vambrace_state::Answer;
use vambrace_types::Timestamp;

use crate::Owner;

/// The two faces of one store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Saved one by one (specification 001).
    Fact,
    /// Part of the notes that are written and overwritten as one text (specification 003).
    Note,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewMemory {
    pub kind: Kind,
    pub text: String,
    pub author: String,
    pub category: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Memory {
    pub id: String,
    pub text: String,
    /// Who wrote it last.
    pub author: String,
    pub category: Option<String>,
    /// When it was last changed.
    pub changed: Timestamp,
}

/// Every function takes the owner and sees nothing of any other: what belongs to somebody else is
/// not found. Each change must be atomic across replicas: it is made as a whole or not at all, and
/// counting an owner's memories is part of it.
pub trait MemoryStore: Debug + Send + Sync {
    /// Returns the new id.
    fn save(&self, owner: &Owner, new: &NewMemory, now: Timestamp) -> Answer<'_, Result<String, StoreError>>;

    /// Removes the owner's notes and saves this one, at once. Returns the new id and how many went.
    fn overwrite(
        &self,
        owner: &Owner,
        new: &NewMemory,
        now: Timestamp,
    ) -> Answer<'_, Result<(String, usize), StoreError>>;

    /// The best first.
    fn search(&self, owner: &Owner, query: &str, limit: u32) -> Answer<'_, Result<Vec<Memory>, StoreError>>;

    /// The newest, the oldest of them first.
    fn newest(&self, owner: &Owner, limit: u32) -> Answer<'_, Result<Vec<Memory>, StoreError>>;

    fn find(&self, owner: &Owner, id: &str) -> Answer<'_, Result<Memory, StoreError>>;

    fn update(
        &self,
        owner: &Owner,
        id: &str,
        text: &str,
        author: &str,
        now: Timestamp,
    ) -> Answer<'_, Result<(), StoreError>>;

    fn delete(&self, owner: &Owner, id: &str) -> Answer<'_, Result<(), StoreError>>;
}

/// What a store says that did answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    #[error("no such memory")]
    NotFound,
    #[error("there are {most} memories already")]
    Full { most: u32 },
    #[error("there are {most} bytes of memories already")]
    FullOfBytes { most: u64 },
    #[error("another process holds the store for too long")]
    Busy,
    #[error("the store was written by a newer version (schema {found})")]
    Newer { found: i64 },
    #[error("the store cannot be read or written: {why}")]
    Broken { why: String },
}
