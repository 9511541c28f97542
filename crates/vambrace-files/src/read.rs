//! Bounded reading of text.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read};

use rustix::io::Errno;
use vambrace_policy::{Lines, ReadFile};
use vambrace_redact::FARTHEST;
use vambrace_types::ByteLimit;

use crate::open::Opener;
use crate::{Deadline, FilesError};

/// Text of a file, or of a run of its lines.
#[derive(Debug)]
pub struct Text {
    pub content: String,
    pub total_bytes: u64,
    /// Lines were asked for, and more bytes than allowed stood in them.
    pub truncated: bool,
    /// With lines: the number of the first line after what is shown, if there is one.
    pub next_line: Option<u64>,
    /// With lines: what stands around them, for the redactor and nobody else.
    pub around: Around,
}

/// Bytes before and after a run of lines: a secret that begins or ends outside is recognized only with them.
#[derive(Debug, Default)]
pub struct Around {
    pub before: Vec<u8>,
    pub after: Vec<u8>,
}

pub(crate) fn read(opener: Opener<'_>, action: &ReadFile, deadline: &Deadline) -> Result<Text, FilesError> {
    let opened = opener.file(&action.path)?;
    let path = opener.spelled(&action.path);
    let total_bytes = u64::try_from(opened.stat.st_size).unwrap_or(0);
    let file = File::from(opened.handle);
    match action.lines {
        None => {
            let content = whole(file, total_bytes, action.max_bytes, &path)?;
            Ok(Text { content, total_bytes, truncated: false, next_line: None, around: Around::default() })
        }
        Some(lines) => some_lines(file, total_bytes, lines, action.max_bytes, &path, deadline),
    }
}

/// All of it, or an error that tells the size.
pub(crate) fn whole(file: File, size: u64, limit: ByteLimit, path: &str) -> Result<String, FilesError> {
    let too_large = |bytes| FilesError::TooLarge { path: path.to_owned(), bytes, limit: limit.bytes() };
    if size > limit.bytes() {
        return Err(too_large(size));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0).saturating_add(1));
    // One read is enough for a file that is as long as it said: the byte behind its end would have come with it.
    let n_read = loop {
        match rustix::io::read(&file, rustix::buffer::spare_capacity(&mut bytes)) {
            Err(Errno::INTR) => {}
            read => break read.map_err(|errno| FilesError::os(path, "read", errno))?,
        }
    };
    // The file may have changed since its size was asked; one byte past the limit tells "full" from "more".
    if n_read as u64 != size {
        let room = limit.bytes().saturating_add(1).saturating_sub(n_read as u64);
        file.take(room).read_to_end(&mut bytes).map_err(|error| io(path, &error))?;
    }
    if bytes.len() as u64 > limit.bytes() {
        return Err(too_large(bytes.len() as u64));
    }
    text(bytes, path)
}

/// UTF-8 without NUL, or it counts as binary.
pub(crate) fn text(bytes: Vec<u8>, path: &str) -> Result<String, FilesError> {
    let binary = || FilesError::Binary { path: path.to_owned() };
    if memchr::memchr(0, &bytes).is_some() {
        return Err(binary());
    }
    String::from_utf8(bytes).map_err(|_| binary())
}

fn some_lines(
    file: File,
    total_bytes: u64,
    lines: Lines,
    limit: ByteLimit,
    path: &str,
    deadline: &Deadline,
) -> Result<Text, FilesError> {
    let mut reader = BufReader::with_capacity(1 << 16, file);
    let mut around = Around::default();
    for _ in 1..lines.first {
        if !skip_line(&mut reader, &mut around.before, path, deadline)? {
            let content = String::new();
            return Ok(Text {
                content,
                total_bytes,
                truncated: false,
                next_line: None,
                around: Around::default(),
            });
        }
    }
    let mut bytes = Vec::new();
    let mut n_lines = 0;
    let mut truncated = false;
    while n_lines < lines.count {
        if deadline.is_over() {
            return Err(FilesError::Stopped);
        }
        let before = bytes.len();
        let room = limit.bytes().saturating_sub(before as u64);
        let n_read = reader
            .by_ref()
            .take(room.saturating_add(1))
            .read_until(b'\n', &mut bytes)
            .map_err(|error| io(path, &error))?;
        if n_read == 0 {
            break;
        }
        if n_read as u64 > room {
            // Whole lines only, unless the very first is longer than the limit.
            around.after =
                bytes.split_off(if n_lines == 0 { limit.as_usize().min(bytes.len()) } else { before });
            truncated = true;
            break;
        }
        n_lines += 1;
    }
    if truncated {
        // What is left of a character belongs to what follows, or the redactor would see a text with a hole.
        let rest = cut_to_character(&mut bytes);
        around.after.splice(..0, rest);
    }
    let room = FARTHEST.saturating_sub(around.after.len()) as u64;
    reader.take(room).read_to_end(&mut around.after).map_err(|error| io(path, &error))?;
    // Behind a line that is itself too long comes the next one: the same number again would be asked for again.
    let n_passed = if truncated { n_lines.max(1) } else { n_lines };
    let next_line = (!around.after.is_empty()).then(|| lines.first.saturating_add(n_passed));
    Ok(Text { content: text(bytes, path)?, total_bytes, truncated, next_line, around })
}

/// `false` at the end of the file. Long lines are passed over in pieces, so memory stays bounded; a NUL on the way
/// means binary, so a sparse file of a gigabyte ends at its first block.
fn skip_line(
    reader: &mut BufReader<File>,
    passed: &mut Vec<u8>,
    path: &str,
    deadline: &Deadline,
) -> Result<bool, FilesError> {
    loop {
        if deadline.is_over() {
            return Err(FilesError::Stopped);
        }
        let buffer = reader.fill_buf().map_err(|error| io(path, &error))?;
        if buffer.is_empty() {
            return Ok(false);
        }
        let (end, used) = match memchr::memchr2(b'\n', 0, buffer) {
            Some(place) if buffer.get(place) == Some(&0) => {
                return Err(FilesError::Binary { path: path.to_owned() });
            }
            Some(place) => (true, place + 1),
            None => (false, buffer.len()),
        };
        passed.extend_from_slice(buffer.get(..used).unwrap_or_default());
        reader.consume(used);
        // Trimmed now and then, not for every line.
        if passed.len() > 4 * FARTHEST {
            passed.drain(..passed.len() - FARTHEST);
        }
        if end {
            return Ok(true);
        }
    }
}

fn cut_to_character(bytes: &mut Vec<u8>) -> Vec<u8> {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => bytes.split_off(error.valid_up_to()),
        Ok(_) | Err(_) => Vec::new(),
    }
}

pub(crate) fn io(path: &str, error: &std::io::Error) -> FilesError {
    let errno = error.raw_os_error().map_or(Errno::IO, Errno::from_raw_os_error);
    FilesError::os(path, "read", errno)
}
