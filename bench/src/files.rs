//! The benchmark `files`: reading, starting, searching, editing and recording, beside peers and limits.

mod edit;
mod read;
mod record;
mod search;
mod start;

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::Failure;
use crate::mcp::Server;
use crate::peers::{self, Echo, Peer, REFERENCE};
use crate::place::Place;
use crate::report::{self, Circumstances};
use crate::table;

const NOTES: &str = "\
Reads, edits and searches go through MCP over pipes, with policy, redaction and the record on, as a client has them. The
pipe echo answers a line with a line as long as our answer (which carries the text twice, plain and structured, as the
reference server's does), or as long as the file alone. Start is from spawn to the answer of the first `tools/list`.
ripgrep is started for each search and keeps to the same `.gitignore`. The limit of an edit reads the file, writes a copy,
syncs it, renames it and syncs the folder; the reference server does not sync. A record is one line of the chained log.
";

type Part = fn(&Bench<'_>) -> Result<Vec<table::Row>, Failure>;

/// Everything the parts need.
pub(crate) struct Bench<'a> {
    place: &'a Place,
    reference: Peer,
    ripgrep: Peer,
    grep: Peer,
    echo: Echo,
}

pub(crate) fn run(place: &Place) -> Result<(), Failure> {
    println!("Building the release binary.");
    peers::vambrace(place)?;
    let bench = Bench {
        place,
        reference: peers::reference(place)?,
        ripgrep: peers::ripgrep(),
        grep: peers::grep(),
        echo: peers::echo(place)?,
    };
    let mut rows = Vec::new();
    let parts: [(&str, Part); 5] = [
        ("read_file over MCP", read::run),
        ("start and memory", start::run),
        ("search", search::run),
        ("durable edits", edit::run),
        ("the record", record::run),
    ];
    let mut failed = Vec::new();
    for (what, part) in parts {
        println!("Measuring: {what}.");
        match part(&bench) {
            Ok(measured) => rows.extend(measured),
            Err(failure) => {
                println!("Not measured: {failure}");
                failed.push(what);
            }
        }
    }
    let table = table::markdown(&rows);
    println!("\n{table}");
    if !failed.is_empty() {
        return Err(Failure::new(
            format!("not measured, so docs/performance.md is as it was: {}", failed.join(", ")),
            "Read the messages above.",
        ));
    }
    let around = Circumstances::now(bench.peers());
    let path = place.root.join("docs/performance.md");
    report::write(&path, "files", &report::section("files", &around, &table, NOTES))?;
    println!("Written to docs/performance.md.");
    Ok(())
}

impl Bench<'_> {
    fn peers(&self) -> Vec<String> {
        let programs = [&self.reference, &self.ripgrep, &self.grep];
        programs.into_iter().map(Peer::described).chain([self.echo.described()]).collect()
    }

    /// Our server as a client starts it, with a state folder of the bench's own and nothing of the person's.
    fn ours(&self, workspace: &Path, state: &Path) -> Command {
        let mut command = self.clean(&self.place.vambrace);
        command.current_dir(workspace).args(["mcp", "--quiet", "--workspace"]).arg(workspace);
        command.arg("--state").arg(state);
        command
    }

    /// The reference server, if it is here.
    fn theirs(&self, workspace: &Path) -> Option<Command> {
        let program = self.reference.program()?;
        let mut command = self.clean(Path::new("node"));
        command.current_dir(workspace).arg(program).arg(workspace);
        Some(command)
    }

    fn clean(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        let path = std::env::var_os("PATH").unwrap_or_default();
        command.env_clear().env("PATH", path).env("HOME", &self.place.data).env("LANG", "C.UTF-8");
        command
    }

    fn complaints(&self, who: &str) -> PathBuf {
        self.place.data.join(format!("{}.stderr", who.replace(' ', "-")))
    }

    fn start_ours(&self, workspace: &Path, state: &Path) -> Result<Server, Failure> {
        Server::start("vambrace", &mut self.ours(workspace, state), &self.complaints("vambrace"))
    }

    fn start_theirs(&self, workspace: &Path) -> Result<Option<Server>, Failure> {
        let start = |mut command| Server::start(REFERENCE, &mut command, &self.complaints(REFERENCE));
        self.theirs(workspace).map(start).transpose()
    }
}
