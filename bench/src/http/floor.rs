//! The least that a call can cost in this design: the same server as the echo, and the system calls and digests of a
//! recorded `read_file`. No policy, no limiter, no redactor, no answer but the text. It ends when nobody listens.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, TryLockError};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::post;
use ring::digest::{SHA256, digest};
use rustix::fs::{AtFlags, Mode, OFlags, ResolveFlags, StatxFlags};
use serde_json::{Value, json};

use super::echo;
use crate::failure::Failure;

struct Floor {
    workspace: OwnedFd,
    /// Looked at before every call, as the list of those who are stopped.
    looked_at: PathBuf,
    record: Mutex<Record>,
}

struct Record {
    file: File,
    /// Of the line before.
    digest: String,
}

/// The lines of the record are about so long, beside the digest.
const INTENT: usize = 400;
const OUTCOME: usize = 570;

/// Serves the file of 1 KB in `workspace`, and writes its record beside that folder.
pub(crate) fn run(workspace: &str) -> Result<(), Failure> {
    let workspace = Path::new(workspace);
    let open = File::open(workspace).map_err(Failure::disk(workspace))?;
    let record = workspace.with_file_name("floor.jsonl");
    let file = File::options().append(true).create(true).open(&record).map_err(Failure::disk(&record))?;
    let floor = Floor {
        workspace: open.into(),
        looked_at: record,
        record: Mutex::new(Record { file, digest: String::new() }),
    };
    echo::serve("floor", Router::new().route("/", post(answer)).with_state(Arc::new(floor)))
}

impl Floor {
    fn call(&self, key: &[u8]) -> std::io::Result<String> {
        let known = digest(&SHA256, key);
        rustix::fs::lstat(&self.looked_at)?;
        self.append(INTENT)?;
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let within = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        let mut file =
            File::from(rustix::fs::openat2(&self.workspace, "a.txt", flags, Mode::empty(), within)?);
        let mut text = String::with_capacity(usize::try_from(file.metadata()?.len()).unwrap_or(0) + 1);
        file.read_to_string(&mut text)?;
        self.append(OUTCOME)?;
        // Somebody has to look at it.
        std::hint::black_box(known);
        Ok(text)
    }

    fn append(&self, n_bytes: usize) -> std::io::Result<()> {
        let mut record = loop {
            match self.record.try_lock() {
                Ok(record) => break record,
                Err(TryLockError::Poisoned(poisoned)) => break PoisonError::into_inner(poisoned),
                Err(TryLockError::WouldBlock) => std::hint::spin_loop(),
            }
        };
        let Record { file, digest: before } = &mut *record;
        rustix::fs::statx(&*file, c"", AtFlags::EMPTY_PATH, StatxFlags::NLINK)?;
        let line = format!("{before}{}\n", "x".repeat(n_bytes));
        file.write_all(line.as_bytes())?;
        *before =
            digest(&SHA256, line.as_bytes()).as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(())
    }
}

async fn answer(State(floor): State<Arc<Floor>>, headers: HeaderMap, body: Bytes) -> impl IntoResponse {
    let key = headers.get("x-api-key").map(|key| key.as_bytes()).unwrap_or_default();
    let request = serde_json::from_slice::<Value>(&body);
    let (Ok(mut request), Ok(content)) = (request, floor.call(key)) else {
        return (StatusCode::BAD_REQUEST, [(header::CONTENT_TYPE, "text/plain")], b"no".to_vec());
    };
    let id = request.get_mut("id").map_or(Value::Null, Value::take);
    let answer = json!({"jsonrpc": "2.0", "id": id, "result": {"content": content}});
    let text = serde_json::to_vec(&answer).unwrap_or_default();
    (StatusCode::OK, [(header::CONTENT_TYPE, "application/json")], text)
}
