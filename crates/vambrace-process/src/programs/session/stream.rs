//! Our ends of the pipes to a program. It knows bytes, limits and time; nothing of cages.

use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::pipe::PipeFlags;

/// Of what a program writes as errors, this much is kept.
const LONGEST_TAIL: usize = 64 << 10;
const CHUNK: usize = 16 << 10;

/// Why a session did not read or write.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SessionError {
    #[error("the program reads no more")]
    Ended,
    #[error("the program was not ready in time; {n_written} bytes were written")]
    TimedOut { n_written: usize },
    #[error("the program wrote a line of more than {largest} bytes")]
    LineTooLong { largest: usize },
    #[error("the pipe to the program failed: {why}")]
    Failed { why: String },
}

impl From<Errno> for SessionError {
    fn from(errno: Errno) -> SessionError {
        match errno {
            Errno::PIPE => SessionError::Ended,
            other => SessionError::Failed { why: other.to_string() },
        }
    }
}

/// The last of what a program wrote as errors.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tail {
    kept: VecDeque<u8>,
    /// Bytes before those that were kept.
    pub n_dropped: u64,
}

impl Tail {
    pub fn bytes(&self) -> Vec<u8> {
        self.kept.iter().copied().collect()
    }

    pub(super) fn add(&mut self, bytes: &[u8]) {
        self.kept.extend(bytes);
        let n_surplus = self.kept.len().saturating_sub(LONGEST_TAIL);
        self.kept.drain(..n_surplus);
        self.n_dropped += n_surplus as u64;
    }
}

/// The program's end, and ours.
pub(super) fn pipe_to_program() -> io::Result<(OwnedFd, Writer)> {
    let (read, write) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
    // Ours alone: the two ends have flags of their own.
    rustix::fs::fcntl_setfl(&write, OFlags::NONBLOCK)?;
    Ok((read, Writer(write)))
}

/// Ours, and the program's.
pub(super) fn pipe_from_program() -> io::Result<(Reader, OwnedFd)> {
    let (read, write) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
    rustix::fs::fcntl_setfl(&read, OFlags::NONBLOCK)?;
    Ok((Reader { end: Some(read), ..Reader::closed() }, write))
}

#[derive(Debug)]
pub(super) struct Writer(OwnedFd);

impl Writer {
    pub(super) fn write(&mut self, bytes: &[u8], most: Duration) -> Result<(), SessionError> {
        let (begun, mut n_written) = (Instant::now(), 0);
        while let Some(rest) = bytes.get(n_written..).filter(|rest| !rest.is_empty()) {
            match rustix::io::write(&self.0, rest) {
                Ok(n_more) => n_written += n_more,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    if !is_ready(&self.0, PollFlags::OUT, begun, most)? {
                        return Err(SessionError::TimedOut { n_written });
                    }
                }
                Err(errno) => return Err(errno.into()),
            }
        }
        Ok(())
    }
}

#[derive(Debug)]
pub(super) struct Reader {
    end: Option<OwnedFd>,
    /// Read and not given away yet; never more than the largest line and one piece.
    ahead: Vec<u8>,
    /// In the middle of a line that was too long.
    is_skipping: bool,
}

impl Reader {
    pub(super) fn closed() -> Reader {
        Reader { end: None, ahead: Vec::new(), is_skipping: false }
    }

    pub(super) fn read(&mut self, into: &mut [u8], most: Duration) -> Result<usize, SessionError> {
        if self.ahead.is_empty() && !self.fill(Instant::now(), most)? {
            return Ok(0);
        }
        let n_given = into.len().min(self.ahead.len());
        for (place, byte) in into.iter_mut().zip(self.ahead.drain(..n_given)) {
            *place = byte;
        }
        Ok(n_given)
    }

    pub(super) fn line(&mut self, largest: usize, most: Duration) -> Result<Option<Vec<u8>>, SessionError> {
        let (begun, mut n_seen) = (Instant::now(), 0);
        loop {
            let fresh = self.ahead.get(n_seen..).unwrap_or_default();
            if let Some(place) = fresh.iter().position(|byte| *byte == b'\n') {
                let mut line: Vec<u8> = self.ahead.drain(..=n_seen + place).collect();
                line.pop();
                n_seen = 0;
                match std::mem::take(&mut self.is_skipping) {
                    true => continue,
                    false if line.len() > largest => return Err(SessionError::LineTooLong { largest }),
                    false => return Ok(Some(line)),
                }
            }
            n_seen = self.ahead.len();
            if self.is_skipping || n_seen > largest {
                self.ahead.clear();
                n_seen = 0;
                if !std::mem::replace(&mut self.is_skipping, true) {
                    return Err(SessionError::LineTooLong { largest });
                }
            }
            if !self.fill(begun, most)? {
                let rest = std::mem::take(&mut self.ahead);
                return Ok((!rest.is_empty()).then_some(rest));
            }
        }
    }

    /// Whether there was more.
    fn fill(&mut self, begun: Instant, most: Duration) -> Result<bool, SessionError> {
        let mut chunk = [0u8; CHUNK];
        loop {
            let Some(end) = &self.end else { return Ok(false) };
            match rustix::io::read(end, &mut chunk) {
                Ok(0) => self.end = None,
                Ok(n_read) => {
                    self.ahead.extend_from_slice(chunk.get(..n_read).unwrap_or_default());
                    return Ok(true);
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    if !is_ready(end, PollFlags::IN, begun, most)? {
                        return Err(SessionError::TimedOut { n_written: 0 });
                    }
                }
                Err(errno) => return Err(errno.into()),
            }
        }
    }
}

/// An end that is gone is ready too: the next call tells.
fn is_ready(end: &OwnedFd, wanted: PollFlags, begun: Instant, most: Duration) -> Result<bool, Errno> {
    loop {
        let left = most.saturating_sub(begun.elapsed());
        // As long as the kernel waits at once; who wants to wait longer comes back here.
        let wait = Timespec::try_from(left.min(Duration::from_secs(3600))).map_err(|_| Errno::INVAL)?;
        match rustix::event::poll(&mut [PollFd::new(end, wanted)], Some(&wait)) {
            Ok(0) if left.is_zero() => return Ok(false),
            Ok(0) | Err(Errno::INTR) => {}
            Ok(_) => return Ok(true),
            Err(errno) => return Err(errno),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOON: Duration = Duration::from_millis(20);

    #[track_caller]
    fn check(text: &[u8], largest: usize, expected: &[Result<Option<&str>, SessionError>]) {
        let (mut reader, writes) = pipe_from_program().unwrap();
        rustix::io::write(&writes, text).unwrap();
        drop(writes);
        for expected in expected {
            let line =
                reader.line(largest, SOON).map(|line| line.map(|line| String::from_utf8(line).unwrap()));
            assert_eq!(line.as_ref().map(Option::as_deref), expected.as_ref().copied(), "{text:?}");
        }
    }

    #[test]
    fn lines_are_whole_or_too_long() {
        let too_long = || Err(SessionError::LineTooLong { largest: 4 });
        check(b"one\n\ntwo\n", 4, &[Ok(Some("one")), Ok(Some("")), Ok(Some("two")), Ok(None)]);
        check(b"one\nrest", 4, &[Ok(Some("one")), Ok(Some("rest")), Ok(None)]);
        check(b"four\nfives\nok\n", 4, &[Ok(Some("four")), too_long(), Ok(Some("ok")), Ok(None)]);
        check(b"far too long", 4, &[too_long(), Ok(None)]);
        let long = [&[b'x'; 40_000][..], b"\nok\n"].concat();
        check(&long, 4, &[too_long(), Ok(Some("ok")), Ok(None)]);
        check(b"", 4, &[Ok(None), Ok(None)]);
    }

    #[test]
    fn nobody_waits_longer_than_asked() {
        let (mut reader, writes) = pipe_from_program().unwrap();
        rustix::io::write(&writes, b"begin").unwrap();
        assert_eq!(reader.line(100, SOON), Err(SessionError::TimedOut { n_written: 0 }));
        rustix::io::write(&writes, b" end\n").unwrap();
        assert_eq!(reader.line(100, SOON), Ok(Some(b"begin end".to_vec())), "nothing is lost by waiting");
        let (reads, mut writer) = pipe_to_program().unwrap();
        let written = writer.write(&vec![0; 1 << 20], SOON);
        assert!(matches!(written, Err(SessionError::TimedOut { n_written: 4096.. })), "{written:?}");
        drop(reads);
        assert_eq!(writer.write(b"x", SOON), Err(SessionError::Ended));
    }

    #[test]
    fn of_errors_the_last_are_kept() {
        let mut tail = Tail::default();
        tail.add(&vec![b'a'; LONGEST_TAIL]);
        tail.add(b"end");
        assert_eq!((tail.bytes().len(), tail.n_dropped), (LONGEST_TAIL, 3));
        assert!(tail.bytes().ends_with(b"aend"));
    }
}
