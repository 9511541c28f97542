//! Looking through a project's files for secrets, on behalf of a person: what `search_file` sees, and no more.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use vambrace_files::{
    Chunk, Deadline, Files, FilesError, FilesSettings, Keeping, LockPolicy, Root, Stop, SweepReport, Vouchers,
};
use vambrace_policy::{Decision, Facts, Policy, SearchFiles, Standing, ToolMode};
use vambrace_redact::{Finding, Redactor};
use vambrace_types::{ByteLimit, Caller, ScopedPath, ToolError, ToolName};

use super::redacting::Place;
use super::{Redacting, ResolveError, scope};
use crate::Loaded;

pub struct Survey {
    files: Files,
    policy: Policy,
    redactor: Redactor,
    pub warnings: Vec<String>,
}

/// A finding in a file, with its bytes. They are for a fingerprint and nothing else.
pub struct Sighting<'a> {
    pub path: String,
    pub line: u64,
    pub finding: &'a Finding,
    pub value: &'a [u8],
}

impl Survey {
    /// The redactor is one without a baseline: what was accepted before is seen again.
    pub fn new(
        loaded: &Loaded,
        environment: &BTreeMap<String, String>,
        root: Root,
        spelled: &Path,
        state: &Path,
    ) -> Result<Survey, ResolveError> {
        let location = root.location().map_err(|errno| ResolveError::WorkspaceLost(errno.into()))?;
        let scope = scope(loaded, &location, spelled)?;
        let vouchers = Arc::new(Vouchers::of(state, &root, Keeping::Nothing));
        let place = Place { root: &root, scope: &scope, vouchers };
        let Redacting { redactor, warnings, .. } =
            Redacting::without_baseline(&loaded.config, environment, place)?;
        let policy = super::policy(&loaded.config, scope.clone(), ToolMode::ALL, None)?;
        let settings = FilesSettings {
            journal: state.join("journal"),
            lock: LockPolicy::default(),
            largest: ByteLimit::new(super::LARGEST_FILE),
        };
        let files = Files::new(root, Arc::new(scope), policy.epoch(), settings);
        Ok(Survey { files, policy, redactor, warnings })
    }

    /// Calls `visit` for every finding beneath `path`, and `passed` with the bytes of each piece that was looked at, both
    /// from several threads.
    pub fn run(
        &self,
        caller: &Caller,
        path: &str,
        stop: &Stop,
        visit: &(dyn Fn(&Sighting<'_>) + Sync),
        passed: &(dyn Fn(usize) + Sync),
    ) -> Result<SweepReport, ToolError> {
        let bearings = self.policy.scope().bearings();
        let outside = |_| {
            let message = format!("`{path}` is not a path inside the project.");
            ToolError::new(vambrace_types::ErrorCode::PathOutsideProject, message)
        };
        let path = ScopedPath::parse(path, bearings).map_err(outside)?;
        let action =
            SearchFiles { path, pattern: String::new(), recursive: true, include_ignored: false, limit: 0 };
        let tool = ToolName::of("search_file");
        let decision = self.policy.decide(caller, &Standing::Free, &tool, action, &Facts::default());
        let permit = match decision {
            Decision::Allow(permit) => permit,
            // The operator wants to be asked by whoever searches; the operator is who runs this command.
            Decision::Ask(pending) => return Err(pending.question().to_tool_error()),
            Decision::Deny(denial) => return Err(denial.to_tool_error()),
        };
        let deadline = Deadline::after(PATIENCE, stop.clone());
        let look = |chunk: &Chunk<'_>| {
            self.look(chunk, visit);
            passed(chunk.bytes.len());
        };
        self.files.search(permit, &deadline, &look).map_err(|error: FilesError| error.to_tool_error())
    }

    fn look(&self, chunk: &Chunk<'_>, visit: &(dyn Fn(&Sighting<'_>) + Sync)) {
        let mine = chunk.at..chunk.at + chunk.bytes.len();
        let lines_around = count_lines(chunk.around.get(..chunk.at).unwrap_or_default());
        for finding in &self.redactor.scan(chunk.around) {
            // Of a large file each finding belongs to the piece that it begins in.
            if !mine.contains(&finding.start) {
                continue;
            }
            let value = chunk.around.get(finding.start..finding.end).unwrap_or_default();
            let line = chunk.lines_before + (finding.line as u64).saturating_sub(lines_around);
            let path = chunk.path.spelled(self.policy.scope().bearings());
            visit(&Sighting { path, line, finding, value });
        }
    }
}

/// A person waits and can stop it.
const PATIENCE: Duration = Duration::from_secs(24 * 3600);

fn count_lines(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|byte| **byte == b'\n').count() as u64
}
