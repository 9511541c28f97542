//! Answers that were too long to show, kept in the state folder so that `read_output` can give the rest.
//!
//! INVARIANT: what is kept has been redacted; the type of `keep`'s argument at the caller sees to it.

use std::fs;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::PathBuf;
use std::time::SystemTime;

use crate::FilesError;
use crate::state::{StateOpen, make_state_folder, open_state_file};

/// LIMIT: the oldest are dropped beyond this many, or beyond this many bytes.
const MOST_OUTPUTS: usize = 200;
const MOST_BYTES: u64 = 256 << 20;
const HANDLE: &str = "out_";

#[derive(Debug)]
pub struct Outputs {
    folder: PathBuf,
}

#[derive(Debug)]
pub struct OutputPart {
    pub text: String,
    pub offset: u64,
    pub total_bytes: u64,
}

impl Outputs {
    pub fn new(folder: PathBuf) -> Outputs {
        Outputs { folder }
    }

    /// Keeps a text for its owner; `chance` makes the handle unguessable.
    pub fn keep(&self, owner: &str, text: &str, chance: [u8; 12]) -> std::io::Result<String> {
        make_state_folder(&self.folder)?;
        let handle = chance.iter().fold(String::from(HANDLE), |text, byte| format!("{text}{byte:02x}"));
        let mut file = open_state_file(&self.folder.join(&handle), StateOpen::New)?;
        // The owner is written first, so that nobody reads another caller's output by its handle.
        file.write_all(format!("{}\n", one_line(owner)).as_bytes())?;
        file.write_all(text.as_bytes())?;
        self.drop_oldest()?;
        Ok(handle)
    }

    /// `None` when there is no such output of this owner. A limit below four bytes counts as four: whoever reads on from
    /// where he is must come past every character.
    pub fn read(
        &self,
        owner: &str,
        handle: &str,
        offset: u64,
        limit: u64,
    ) -> Result<Option<OutputPart>, FilesError> {
        let io = |error: std::io::Error| crate::read::io("the kept output", &error);
        let digits = handle.strip_prefix(HANDLE).unwrap_or_default();
        if digits.len() != 24 || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Ok(None);
        }
        let mut file = match open_state_file(&self.folder.join(handle), StateOpen::Read) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(io(error)),
        };
        let header = format!("{}\n", one_line(owner));
        let mut start = vec![0; header.len()];
        if file.read_exact(&mut start).is_err() || start != header.as_bytes() {
            return Ok(None);
        }
        let header = header.len() as u64;
        let total_bytes = file.metadata().map_err(io)?.len().saturating_sub(header);
        file.seek(SeekFrom::Start(header.saturating_add(offset.min(total_bytes)))).map_err(io)?;
        let mut bytes = Vec::new();
        file.take(limit.max(4)).read_to_end(&mut bytes).map_err(io)?;
        // An offset in the middle of a character moves to the next; an end in the middle moves back.
        let skipped = bytes.iter().take(3).take_while(|byte| (0x80..0xc0).contains(*byte)).count();
        bytes.drain(..skipped);
        if let Err(error) = std::str::from_utf8(&bytes) {
            bytes.truncate(error.valid_up_to());
        }
        let text = String::from_utf8(bytes).unwrap_or_default();
        Ok(Some(OutputPart { text, offset: offset.min(total_bytes) + skipped as u64, total_bytes }))
    }

    fn drop_oldest(&self) -> std::io::Result<()> {
        let mut kept: Vec<(SystemTime, u64, PathBuf)> = Vec::new();
        for entry in fs::read_dir(&self.folder)?.flatten() {
            // Another process may have dropped it meanwhile.
            let Ok(metadata) = entry.metadata() else { continue };
            kept.push((metadata.modified()?, metadata.len(), entry.path()));
        }
        kept.sort();
        kept.reverse();
        let mut n_bytes = 0;
        for (place, (_, length, path)) in kept.iter().enumerate() {
            n_bytes += length;
            // The newest stays whatever its size: somebody was just told its handle.
            if place > 0 && (place >= MOST_OUTPUTS || n_bytes > MOST_BYTES) {
                let _ = fs::remove_file(path);
            }
        }
        Ok(())
    }
}

/// INVARIANT: no two owners are one line; what separates a caller from the person it speaks for is such a character.
fn one_line(owner: &str) -> String {
    let is_plain = |c: char| !c.is_control() && c != '\\';
    owner.chars().map(|c| if is_plain(c) { c.to_string() } else { c.escape_default().to_string() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_is_read_back_in_parts_by_its_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let outputs = Outputs::new(folder.path().join("outputs"));
        let handle = outputs.keep("me", "äbc", [7; 12]).unwrap();
        let read = |owner, offset, limit| {
            outputs
                .read(owner, &handle, offset, limit)
                .unwrap()
                .map(|part| (part.text, part.offset, part.total_bytes))
        };
        assert_eq!(read("me", 0, 100), Some(("äbc".into(), 0, 4)));
        assert_eq!(read("me", 1, 100), Some(("bc".into(), 2, 4))); // inside the first character
        assert_eq!(read("me", 0, 1), Some(("äbc".into(), 0, 4))); // too small for it, and still it goes on
        assert_eq!(read("me", 9, 100), Some((String::new(), 4, 4)));
        assert_eq!(read("you", 0, 100), None);
        let rows = [("bridge\u{1f}x", "bridgex"), ("a\nb", "ab"), ("a\nb", "a\\nb"), ("a\\b", "ab")];
        for ((owner, other), number) in rows.into_iter().zip(20..) {
            let handle = outputs.keep(owner, "text", [number; 12]).unwrap();
            let reads = |owner| outputs.read(owner, &handle, 0, 9).unwrap().is_some();
            assert_eq!((reads(owner), reads(other)), (true, false), "{owner:?}");
        }
        for wrong in ["out_zz", "../me", "out_../../../../etc/passwd00", ""] {
            assert!(outputs.read("me", wrong, 0, 10).unwrap().is_none(), "{wrong}");
        }
    }

    #[test]
    fn old_outputs_are_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let outputs = Outputs::new(folder.path().to_path_buf());
        for place in 0..=255u8 {
            outputs.keep("me", "text", [place; 12]).unwrap();
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), MOST_OUTPUTS);
    }
}
