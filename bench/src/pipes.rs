//! A program at the other end of two pipes, spoken to in lines.
//!
//! The same code waits for every contender, so that what it costs falls on all alike.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use crate::failure::Failure;

/// More than a pipe holds, so that a long answer is taken as fast as it comes.
const BUFFER: usize = 256 << 10;

pub(crate) struct Pipes {
    pub(crate) who: &'static str,
    child: Child,
    /// Taken to say goodbye.
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    line: Vec<u8>,
}

impl Pipes {
    /// What the program complains about goes to a file among the data.
    pub(crate) fn start(
        who: &'static str,
        command: &mut Command,
        complaints: &Path,
    ) -> Result<Pipes, Failure> {
        let complaints = File::create(complaints).map_err(Failure::disk(complaints))?;
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(complaints)
            .spawn()
            .map_err(Failure::start(who))?;
        let lost = || Failure::wrong(who, "has no pipe", "");
        let input = child.stdin.take().ok_or_else(lost)?;
        let output = BufReader::with_capacity(BUFFER, child.stdout.take().ok_or_else(lost)?);
        Ok(Pipes { who, child, input: Some(input), output, line: Vec::with_capacity(BUFFER) })
    }

    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn last_length(&self) -> usize {
        self.line.len()
    }

    pub(crate) fn send(&mut self, line: &[u8]) -> Result<(), Failure> {
        let who = self.who;
        let gone = |problem: std::io::Error| Failure::wrong(who, "does not listen", &problem.to_string());
        match &mut self.input {
            Some(input) => input.write_all(line).map_err(gone),
            None => Err(Failure::wrong(who, "does not listen", "already told to end")),
        }
    }

    /// One line out, one line in: the answer and how long it took.
    pub(crate) fn exchange(&mut self, line: &[u8]) -> Result<(Duration, &[u8]), Failure> {
        let start = Instant::now();
        self.send(line)?;
        self.receive()?;
        Ok((start.elapsed(), &self.line))
    }

    /// The next line, whatever it answers.
    pub(crate) fn receive(&mut self) -> Result<&[u8], Failure> {
        self.line.clear();
        let who = self.who;
        let n_read = self
            .output
            .read_until(b'\n', &mut self.line)
            .map_err(|problem| Failure::wrong(who, "cannot be heard", &problem.to_string()))?;
        if n_read == 0 {
            return Err(Failure::wrong(who, "ended before it answered", "its output is closed"));
        }
        Ok(&self.line)
    }
}

impl Drop for Pipes {
    /// Closing its input is the polite way to end a server; the ones we start all understand it.
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.child.wait();
    }
}
