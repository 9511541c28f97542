//! The memory in one SQLite file of our own, with full-text search.
//!
//! INVARIANT: every statement about memories compares the owner (`owner = ?1`), so there is no place where
//! another's could be left in by mistake.

mod schema;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rusqlite::{
    Connection, ErrorCode, OptionalExtension as _, Row, Transaction, TransactionBehavior, params,
};
use vambrace_state::{Answer, ready};
use vambrace_types::Timestamp;

use crate::words::{Fit, expression};
use crate::{Kind, Memory, MemoryStore, NewMemory, Owner, StoreError};

/// LIMIT: of memories that one owner has.
const MOST: u32 = 100_000;
/// LIMIT: of the bytes of one owner's memories, all together.
const MOST_BYTES: u64 = 256 << 20;
/// LIMIT: how many of the newest are looked through for a piece of a word, which the index does not know.
const LOOKED_THROUGH: u32 = 1000;

#[derive(Debug)]
pub struct EmbeddedStore {
    file: PathBuf,
    most: u32,
    most_bytes: u64,
    patience: Duration,
    /// Opened when it is first needed: most runs never touch the memory.
    connection: Mutex<Option<Connection>>,
}

impl EmbeddedStore {
    pub fn new(file: PathBuf) -> EmbeddedStore {
        EmbeddedStore {
            file,
            most: MOST,
            most_bytes: MOST_BYTES,
            patience: schema::PATIENCE,
            connection: Mutex::new(None),
        }
    }

    /// For tests of what happens when it is full.
    #[must_use]
    pub fn with_at_most(self, most: u32) -> EmbeddedStore {
        EmbeddedStore { most, ..self }
    }

    #[must_use]
    pub fn with_at_most_bytes(self, most_bytes: u64) -> EmbeddedStore {
        EmbeddedStore { most_bytes, ..self }
    }

    pub fn file(&self) -> &Path {
        &self.file
    }

    /// For what changes something: the file is made if it is not there.
    fn change<T>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut held = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let connection = match held.take() {
            Some(connection) => connection,
            None => schema::open(&self.file, self.patience)?,
        };
        let connection = held.insert(connection);
        // Immediate: whoever counts and then adds is alone.
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let done = work(&transaction)?;
        transaction.commit()?;
        Ok(done)
    }

    /// For what only looks: where there is no file there is nothing, and none is made.
    fn look<T>(
        &self,
        nothing: T,
        work: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut held = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let connection = match held.take() {
            Some(connection) => connection,
            None if !self.file.try_exists()? => return Ok(nothing),
            None => schema::open(&self.file, self.patience)?,
        };
        work(held.insert(connection))
    }

    fn insert(
        &self,
        transaction: &Transaction<'_>,
        owner: &Owner,
        new: &NewMemory,
        now: Timestamp,
    ) -> Result<String, StoreError> {
        let n_there: u32 = transaction
            .prepare_cached("SELECT count(*) FROM memory WHERE owner = ?1")?
            .query_row([owner.as_str()], |row| row.get(0))?;
        if n_there >= self.most {
            return Err(StoreError::Full { most: self.most });
        }
        let n_added = new.text.len() + new.author.len() + new.category.as_ref().map_or(0, String::len);
        self.demand_room(transaction, owner, "", n_added)?;
        // The database draws the id; it needs to be different, not secret.
        let id = transaction
            .prepare_cached(
                "INSERT INTO memory (owner, id, kind, text, author, category, changed)
                 VALUES (?1, 'm-' || lower(hex(randomblob(8))), ?2, ?3, ?4, ?5, ?6) RETURNING id",
            )?
            .query_row(
                params![
                    owner.as_str(),
                    kind_number(new.kind),
                    new.text,
                    new.author,
                    new.category,
                    now.millis()
                ],
                |row| row.get(0),
            )?;
        Ok(id)
    }
}

impl EmbeddedStore {
    /// For `n_added` bytes in the place of the memory `instead`, if there is one.
    fn demand_room(
        &self,
        transaction: &Transaction<'_>,
        owner: &Owner,
        instead: &str,
        n_added: usize,
    ) -> Result<(), StoreError> {
        let n_there: i64 = transaction
            .prepare_cached(
                "SELECT coalesce(sum(octet_length(text) + octet_length(author)
                   + coalesce(octet_length(category), 0)), 0) FROM memory WHERE owner = ?1 AND id <> ?2",
            )?
            .query_row([owner.as_str(), instead], |row| row.get(0))?;
        let n_together = u64::try_from(n_there).unwrap_or(0).saturating_add(n_added as u64);
        if n_together > self.most_bytes {
            return Err(StoreError::FullOfBytes { most: self.most_bytes });
        }
        Ok(())
    }
}

/// What the database does, while the thread waits for it.
impl EmbeddedStore {
    fn save(&self, owner: &Owner, new: &NewMemory, now: Timestamp) -> Result<String, StoreError> {
        self.change(|transaction| self.insert(transaction, owner, new, now))
    }

    fn overwrite(
        &self,
        owner: &Owner,
        new: &NewMemory,
        now: Timestamp,
    ) -> Result<(String, usize), StoreError> {
        self.change(|transaction| {
            let n_gone = transaction
                .prepare_cached("DELETE FROM memory WHERE owner = ?1 AND kind = ?2")?
                .execute(params![owner.as_str(), kind_number(Kind::Note)])?;
            Ok((self.insert(transaction, owner, new, now)?, n_gone))
        })
    }

    fn search(&self, owner: &Owner, query: &str, limit: u32) -> Result<Vec<Memory>, StoreError> {
        self.look(Vec::new(), |connection| {
            for fit in [Fit::Whole, Fit::Beginning] {
                let Some(expression) = expression(query, fit) else { break };
                let found = ranked(connection, owner, &expression, limit)?;
                if !found.is_empty() {
                    return Ok(found);
                }
            }
            holding(connection, owner, query.trim(), limit)
        })
    }

    fn newest(&self, owner: &Owner, limit: u32) -> Result<Vec<Memory>, StoreError> {
        self.look(Vec::new(), |connection| {
            let mut statement = connection.prepare_cached(
                "SELECT id, text, author, category, changed FROM memory WHERE owner = ?1
                 ORDER BY number DESC LIMIT ?2",
            )?;
            let mut found = collect(statement.query_map(params![owner.as_str(), limit], read)?)?;
            found.reverse();
            Ok(found)
        })
    }

    fn find(&self, owner: &Owner, id: &str) -> Result<Memory, StoreError> {
        let found = self.look(None, |connection| {
            let mut statement = connection.prepare_cached(
                "SELECT id, text, author, category, changed FROM memory WHERE owner = ?1 AND id = ?2",
            )?;
            Ok(statement.query_row([owner.as_str(), id], read).optional()?)
        })?;
        found.ok_or(StoreError::NotFound)
    }

    fn update(
        &self,
        owner: &Owner,
        id: &str,
        text: &str,
        author: &str,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.change(|transaction| {
            self.demand_room(transaction, owner, id, text.len() + author.len())?;
            let n_changed = transaction
                .prepare_cached(
                    "UPDATE memory SET text = ?3, author = ?4, changed = ?5 WHERE owner = ?1 AND id = ?2",
                )?
                .execute(params![owner.as_str(), id, text, author, now.millis()])?;
            if n_changed == 0 { Err(StoreError::NotFound) } else { Ok(()) }
        })
    }

    fn delete(&self, owner: &Owner, id: &str) -> Result<(), StoreError> {
        self.change(|transaction| {
            let n_gone = transaction
                .prepare_cached("DELETE FROM memory WHERE owner = ?1 AND id = ?2")?
                .execute([owner.as_str(), id])?;
            if n_gone == 0 { Err(StoreError::NotFound) } else { Ok(()) }
        })
    }
}

/// INVARIANT: the work is done before the answer is returned, because it holds the thread.
impl MemoryStore for EmbeddedStore {
    fn save(&self, owner: &Owner, new: &NewMemory, now: Timestamp) -> Answer<'_, Result<String, StoreError>> {
        ready(EmbeddedStore::save(self, owner, new, now))
    }

    fn overwrite(
        &self,
        owner: &Owner,
        new: &NewMemory,
        now: Timestamp,
    ) -> Answer<'_, Result<(String, usize), StoreError>> {
        ready(EmbeddedStore::overwrite(self, owner, new, now))
    }

    fn search(&self, owner: &Owner, query: &str, limit: u32) -> Answer<'_, Result<Vec<Memory>, StoreError>> {
        ready(EmbeddedStore::search(self, owner, query, limit))
    }

    fn newest(&self, owner: &Owner, limit: u32) -> Answer<'_, Result<Vec<Memory>, StoreError>> {
        ready(EmbeddedStore::newest(self, owner, limit))
    }

    fn find(&self, owner: &Owner, id: &str) -> Answer<'_, Result<Memory, StoreError>> {
        ready(EmbeddedStore::find(self, owner, id))
    }

    fn update(
        &self,
        owner: &Owner,
        id: &str,
        text: &str,
        author: &str,
        now: Timestamp,
    ) -> Answer<'_, Result<(), StoreError>> {
        ready(EmbeddedStore::update(self, owner, id, text, author, now))
    }

    fn delete(&self, owner: &Owner, id: &str) -> Answer<'_, Result<(), StoreError>> {
        ready(EmbeddedStore::delete(self, owner, id))
    }
}

/// LIMIT: how rare a word is, is counted over all owners, so others can shift the order of one's own; never
/// what is in it.
fn ranked(
    connection: &Connection,
    owner: &Owner,
    expression: &str,
    limit: u32,
) -> Result<Vec<Memory>, StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT m.id, m.text, m.author, m.category, m.changed
         FROM memory_words AS w JOIN memory AS m ON m.number = w.rowid
         WHERE m.owner = ?1 AND memory_words MATCH ?2
         ORDER BY bm25(memory_words), m.changed DESC, m.number DESC LIMIT ?3",
    )?;
    collect(statement.query_map(params![owner.as_str(), expression, limit], read)?)
}

/// Texts that hold the question itself, also in the middle of a word: not every script has spaces.
fn holding(
    connection: &Connection,
    owner: &Owner,
    query: &str,
    limit: u32,
) -> Result<Vec<Memory>, StoreError> {
    if query.is_empty() {
        return Ok(Vec::new());
    }
    let mut statement = connection.prepare_cached(
        "SELECT id, text, author, category, changed FROM
           (SELECT * FROM memory WHERE owner = ?1 ORDER BY number DESC LIMIT ?4)
         WHERE instr(lower(text), lower(?2)) > 0 ORDER BY changed DESC, number DESC LIMIT ?3",
    )?;
    collect(statement.query_map(params![owner.as_str(), query, limit, LOOKED_THROUGH], read)?)
}

fn read(row: &Row<'_>) -> rusqlite::Result<Memory> {
    Ok(Memory {
        id: row.get(0)?,
        text: row.get(1)?,
        author: row.get(2)?,
        category: row.get(3)?,
        changed: Timestamp::from_millis(row.get(4)?),
    })
}

fn collect(rows: impl Iterator<Item = rusqlite::Result<Memory>>) -> Result<Vec<Memory>, StoreError> {
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

fn kind_number(kind: Kind) -> i64 {
    match kind {
        Kind::Fact => 0,
        Kind::Note => 1,
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> StoreError {
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Busy,
            // The library's own words, without a statement or a value in them.
            Some(code) => StoreError::Broken { why: format!("{code:?}") },
            None => StoreError::Broken { why: error.to_string() },
        }
    }
}

impl From<std::io::Error> for StoreError {
    fn from(error: std::io::Error) -> StoreError {
        // Words of our own name no path; those of the system are left at their kind.
        let why = error.get_ref().map_or_else(|| error.kind().to_string(), ToString::to_string);
        StoreError::Broken { why }
    }
}

#[cfg(test)]
mod tests;
