//! A memory that is out of order, for tests of what happens then.

use vambrace_state::{Answer, Outage};
use vambrace_types::Timestamp;

use crate::{Memory, MemoryStore, NewMemory, Owner, StoreError};

impl MemoryStore for Outage {
    fn save(&self, _: &Owner, _: &NewMemory, _: Timestamp) -> Answer<'_, Result<String, StoreError>> {
        self.answer()
    }

    fn overwrite(
        &self,
        _: &Owner,
        _: &NewMemory,
        _: Timestamp,
    ) -> Answer<'_, Result<(String, usize), StoreError>> {
        self.answer()
    }

    fn search(&self, _: &Owner, _: &str, _: u32) -> Answer<'_, Result<Vec<Memory>, StoreError>> {
        self.answer()
    }

    fn newest(&self, _: &Owner, _: u32) -> Answer<'_, Result<Vec<Memory>, StoreError>> {
        self.answer()
    }

    fn find(&self, _: &Owner, _: &str) -> Answer<'_, Result<Memory, StoreError>> {
        self.answer()
    }

    fn update(
        &self,
        _: &Owner,
        _: &str,
        _: &str,
        _: &str,
        _: Timestamp,
    ) -> Answer<'_, Result<(), StoreError>> {
        self.answer()
    }

    fn delete(&self, _: &Owner, _: &str) -> Answer<'_, Result<(), StoreError>> {
        self.answer()
    }
}
