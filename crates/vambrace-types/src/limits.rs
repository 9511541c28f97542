//! Limits carry their unit in their type.

/// A number of bytes that something must not exceed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ByteLimit(u64);

/// What `read_file` reads unless it is told otherwise (specification 004).
pub const DEFAULT_READ: ByteLimit = ByteLimit(102_400);
/// What a model sees of one answer (specification 003).
pub const DEFAULT_REPLY: ByteLimit = ByteLimit(65_536);

impl ByteLimit {
    pub const fn new(bytes: u64) -> ByteLimit {
        ByteLimit(bytes)
    }

    pub const fn bytes(self) -> u64 {
        self.0
    }

    /// For in-memory lengths; saturates on targets whose `usize` is smaller.
    pub fn as_usize(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }

    pub fn allows(self, length: usize) -> bool {
        length as u64 <= self.0
    }
}
