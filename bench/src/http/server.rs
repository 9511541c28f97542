//! The servers, each in a process of its own, on a port that the kernel chose.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use super::Bench;
use super::request::Target;
use crate::failure::Failure;
use crate::place;
use crate::sample;

/// The limits are out of the way, the limiters are not.
const CONFIG: &str = "server: {rate_limit: {per_second: 1000000, burst: 1000000}}\n";

/// Ends the process that it started.
pub(super) struct Server {
    child: Child,
    pub(super) target: Target,
    /// Kept open, so that a server that says more is not told to stop.
    _output: BufReader<ChildStdout>,
}

impl Server {
    /// Ours, with a workspace of a file of 1 KB and a state folder of its own.
    pub(super) fn ours(bench: &Bench<'_>, name: &str) -> Result<Server, Failure> {
        let folder = bench.place.fresh(&format!("http-{name}"))?;
        let (workspace, state) = (folder.join("work"), folder.join("state"));
        place::write(&workspace.join("a.txt"), sample::text(1, 1024))?;
        let config = folder.join("operator.yaml");
        place::write(&config, CONFIG)?;
        let mut command = clean(bench, &bench.place.vambrace);
        command.current_dir(&workspace).arg("--state").arg(&state).arg("--config").arg(&config);
        command.args(["serve", "--listen", "127.0.0.1:0"]).stdin(Stdio::null());
        let mut server = Server::start("vambrace", command, &folder.join("stderr"))?;
        let token = state.join("token");
        let token = fs::read_to_string(&token).map_err(Failure::disk(&token))?;
        server.target.key = Some(token.trim().to_owned());
        Ok(server)
    }

    pub(super) fn echo(bench: &Bench<'_>) -> Result<Server, Failure> {
        let own = std::env::current_exe().map_err(Failure::start("the echo"))?;
        let mut command = clean(bench, &own);
        command.arg("--http-echo").stdin(Stdio::piped());
        Server::start("echo", command, &bench.place.data.join("http-echo.stderr"))
    }

    fn start(who: &'static str, mut command: Command, complaints: &Path) -> Result<Server, Failure> {
        let errors = File::create(complaints).map_err(Failure::disk(complaints))?;
        let mut child = command.stdout(Stdio::piped()).stderr(errors).spawn().map_err(Failure::start(who))?;
        let output = child.stdout.take().ok_or_else(|| Failure::wrong(who, "has no pipe", ""))?;
        let mut output = BufReader::new(output);
        let address = loop {
            let mut line = String::new();
            if !output.read_line(&mut line).is_ok_and(|n_bytes| n_bytes > 0) {
                let _ = child.wait();
                let told = fs::read_to_string(complaints).unwrap_or_default();
                return Err(Failure::wrong(who, "ended before it listened", &told));
            }
            let found = line.trim().rsplit_once("http://").and_then(|(_, address)| address.parse().ok());
            if let Some(address) = found {
                break address;
            }
        };
        Ok(Server { child, target: Target { address, key: None }, _output: output })
    }

    pub(super) fn process(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A command with nothing of the person's in its environment.
fn clean(bench: &Bench<'_>, program: &Path) -> Command {
    let mut command = Command::new(program);
    let path = std::env::var_os("PATH").unwrap_or_default();
    command.env_clear().env("PATH", path).env("HOME", &bench.place.data).env("LANG", "C.UTF-8");
    command
}
