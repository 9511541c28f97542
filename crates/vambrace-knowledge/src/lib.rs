//! What was taught and remembered. So far: the memory.
//!
//! It knows callers only as owners of what is kept, and no policy: whoever asks here has been allowed to.

mod embedded;
mod memory;
mod outage;
mod owner;
mod words;

pub use embedded::EmbeddedStore;
pub use memory::{Kind, Memory, MemoryStore, NewMemory, StoreError};
pub use owner::{NoOwner, Owner, Sharing};
