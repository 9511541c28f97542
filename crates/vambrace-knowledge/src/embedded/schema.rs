//! How the file comes to be, and what it looks like.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags, OptionalExtension as _, TransactionBehavior};
use vambrace_files::{StateOpen, make_private, make_state_folder, open_state_file};

use crate::StoreError;

const VERSION: i64 = 1;
/// LIMIT: how long another process may hold the file; of opening it, all tries together.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// `number` orders by age and joins the index. The triggers keep the index true, whoever changes the table.
const TABLES: &str = "
CREATE TABLE schema_version (version INTEGER NOT NULL);
CREATE TABLE memory (
  number   INTEGER PRIMARY KEY AUTOINCREMENT,
  owner    TEXT NOT NULL,
  id       TEXT NOT NULL UNIQUE,
  kind     INTEGER NOT NULL,
  text     TEXT NOT NULL,
  author   TEXT NOT NULL,
  category TEXT,
  changed  INTEGER NOT NULL
) STRICT;
CREATE INDEX memory_by_owner ON memory (owner, number);
CREATE VIRTUAL TABLE memory_words USING fts5 (
  text, category, content = 'memory', content_rowid = 'number',
  tokenize = 'porter unicode61 remove_diacritics 2'
);
INSERT INTO memory_words (memory_words, rank) VALUES ('secure-delete', 1);
CREATE TRIGGER memory_saved AFTER INSERT ON memory BEGIN
  INSERT INTO memory_words (rowid, text, category) VALUES (new.number, new.text, new.category);
END;
CREATE TRIGGER memory_gone AFTER DELETE ON memory BEGIN
  INSERT INTO memory_words (memory_words, rowid, text, category)
  VALUES ('delete', old.number, old.text, old.category);
END;
CREATE TRIGGER memory_changed AFTER UPDATE ON memory BEGIN
  INSERT INTO memory_words (memory_words, rowid, text, category)
  VALUES ('delete', old.number, old.text, old.category);
  INSERT INTO memory_words (rowid, text, category) VALUES (new.number, new.text, new.category);
END;
INSERT INTO schema_version (version) VALUES (1);
";

/// `patience` is for all of it: whoever waits here holds up everybody else who wants the store.
#[expect(clippy::disallowed_methods, reason = "a bound on waiting, which decides nothing else")]
pub(super) fn open(file: &Path, patience: Duration) -> Result<Connection, StoreError> {
    make(file)?;
    let file = &unlinked(file)?;
    let start = Instant::now();
    loop {
        let left = patience.saturating_sub(start.elapsed());
        match attempt(file, left) {
            // Two processes that both want to turn a new file over to its journal are told so at once.
            Err(StoreError::Busy) if start.elapsed() < patience => std::thread::yield_now(),
            Ok(connection) => {
                connection.busy_timeout(PATIENCE)?;
                return Ok(connection);
            }
            Err(other) => return Err(other),
        }
    }
}

/// The database refuses every link on its way; the way to a home folder may have some.
fn unlinked(file: &Path) -> Result<PathBuf, StoreError> {
    let (Some(folder), Some(name)) = (file.parent(), file.file_name()) else { return Ok(file.to_owned()) };
    Ok(std::fs::canonicalize(folder)?.join(name))
}

/// Two statements in it may wait, so each gets half.
fn attempt(file: &Path, patience: Duration) -> Result<Connection, StoreError> {
    let flags =
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let mut connection = Connection::open_with_flags(file, flags)?;
    connection.busy_timeout(patience / 2)?;
    connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
    // What was answered survives our own end, however it comes. What was forgotten is overwritten.
    connection.execute_batch(
        "PRAGMA synchronous = NORMAL; PRAGMA secure_delete = ON; PRAGMA temp_store = MEMORY;
         PRAGMA trusted_schema = OFF; PRAGMA journal_size_limit = 16777216;",
    )?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let there: bool = transaction.query_row(
        "SELECT count(*) FROM sqlite_schema WHERE name = 'schema_version'",
        [],
        |row| row.get(0),
    )?;
    if there {
        let version = transaction
            .query_row("SELECT version FROM schema_version", [], |row| row.get::<_, i64>(0))
            .optional()?;
        match version {
            Some(VERSION) => {}
            found => return Err(StoreError::Newer { found: found.unwrap_or_default() }),
        }
    } else {
        transaction.execute_batch(TABLES)?;
    }
    transaction.commit()?;
    Ok(connection)
}

/// An empty file for its owner's eyes only; the database gives its journal the same mode. It is put in place
/// finished: closing it there would take away the locks of a connection that is quicker than we are.
fn make(file: &Path) -> Result<(), StoreError> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    // THREAT: P03, a link in the place of one of them leads the database, or a change of its mode, elsewhere.
    for ending in ["-wal", "-shm", "-journal"] {
        let mut beside = file.as_os_str().to_owned();
        beside.push(ending);
        make_private(Path::new(&beside))?;
    }
    if make_private(file)? {
        return Ok(());
    }
    if let Some(folder) = file.parent() {
        make_state_folder(folder)?;
    }
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let aside = file.with_extension(format!("new-{}-{number}", std::process::id()));
    // What a process of this number has left.
    let _ = std::fs::remove_file(&aside);
    drop(open_state_file(&aside, StateOpen::New)?);
    let placed = std::fs::hard_link(&aside, file);
    std::fs::remove_file(&aside)?;
    match placed {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error.into()),
        Ok(()) | Err(_) => Ok(()),
    }
}
