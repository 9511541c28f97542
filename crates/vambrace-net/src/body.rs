//! Bodies, decoded as they arrive and never larger than their limit.
//!
//! Knows packings and sizes; nothing of HTTP, text or time.

mod gzip;
#[cfg(test)]
mod tests;

use flate2::{Crc, Decompress, FlushDecompress, Status};

use gzip::{After, Header, Trailer};

/// How a body is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coding {
    Identity,
    Gzip,
    /// As it should be (zlib) or as many servers do it (raw); told apart by the first byte.
    Deflate,
}

impl Coding {
    /// The value of `Content-Encoding`. Several packings in each other are not offered and not taken: each
    /// one multiplies what a small body can become.
    pub fn parse(header: &str) -> Option<Coding> {
        let word = header.trim_matches([' ', '\t']);
        let is = |name: &str| word.eq_ignore_ascii_case(name);
        if word.is_empty() || is("identity") {
            Some(Coding::Identity)
        } else if is("gzip") || is("x-gzip") {
            Some(Coding::Gzip)
        } else if is("deflate") {
            Some(Coding::Deflate)
        } else {
            None
        }
    }
}

/// Why nothing more is taken. What was decoded before is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// More than the limit.
    Overflow,
    /// Not what its packing promises.
    Corrupt,
}

/// What a body means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decoded {
    pub bytes: Vec<u8>,
    /// There was more than the limit.
    pub truncated: bool,
    /// The packing is broken or ends too early; `bytes` is what came before.
    pub corrupt: bool,
}

/// Takes what arrives and holds what it means, up to the limit.
///
/// INVARIANT: never holds more than the limit and one small piece, whatever the ratio.
pub struct Decoder {
    stage: Stage,
    kept: Kept,
    inflater: Inflater,
    members: u32,
    /// Packed bytes that may still come.
    allowance: u64,
    started: bool,
    stopped: Option<Stop>,
}

/// THREAT: P09, a body without an end.
/// LIMIT: packed bytes beyond twice the limit. A body that is honestly packed is about as long as what it
/// means or shorter; one that goes on for ever and means nothing (empty blocks, empty members, padding) ends
/// here.
const PACKED_SLACK: u64 = 64 * 1024;

/// THREAT: P09, work out of proportion to the body.
/// LIMIT: each member costs the wiping of a window, so many tiny ones are dear. The largest format that
/// relies on members makes one for each 64 KiB.
const MOST_MEMBERS: u32 = 4096;

/// One window.
const PIECE_BYTES: usize = 32 * 1024;

enum Stage {
    Plain,
    /// Deflate, before its first byte.
    Choosing,
    Header(Header),
    Inflating(Framing),
    Trailer(Trailer),
    /// A member is over; another may follow.
    Between(After),
    /// Whole. What still comes is ignored, as browsers do.
    Ended,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Framing {
    Gzip,
    Deflate,
}

impl Decoder {
    pub fn new(coding: Coding, limit: u64) -> Decoder {
        let (stage, allowance) = match coding {
            // Its own length is what is limited.
            Coding::Identity => (Stage::Plain, u64::MAX),
            Coding::Gzip => (Stage::Header(Header::new()), packed_allowance(limit)),
            Coding::Deflate => (Stage::Choosing, packed_allowance(limit)),
        };
        Decoder {
            stage,
            kept: Kept { bytes: Vec::new(), limit, truncated: false },
            inflater: Inflater::new(),
            members: 1,
            allowance,
            started: false,
            stopped: None,
        }
    }

    /// The next bytes of the body. After a stop, only the same stop.
    pub fn push(&mut self, chunk: &[u8]) -> Result<(), Stop> {
        if let Some(stop) = self.stopped {
            return Err(stop);
        }
        self.started |= !chunk.is_empty();
        let outcome = self.take(chunk);
        self.stopped = outcome.err();
        outcome
    }

    pub fn finish(self) -> Decoded {
        let whole = match self.stage {
            Stage::Plain | Stage::Between(_) | Stage::Ended => true,
            // An answer without a body still names its coding.
            Stage::Choosing | Stage::Header(_) => !self.started,
            Stage::Inflating(_) | Stage::Trailer(_) => false,
        };
        let truncated = self.kept.truncated;
        let corrupt = self.stopped == Some(Stop::Corrupt) || (!whole && !truncated);
        Decoded { bytes: self.kept.bytes, truncated, corrupt }
    }

    fn take(&mut self, chunk: &[u8]) -> Result<(), Stop> {
        let allowed = usize::try_from(self.allowance).unwrap_or(usize::MAX).min(chunk.len());
        let (mut input, refused) = chunk.split_at_checked(allowed).unwrap_or((chunk, &[]));
        self.allowance = self.allowance.saturating_sub(allowed as u64);
        while !input.is_empty() {
            input = self.step(input)?;
        }
        if refused.is_empty() {
            return Ok(());
        }
        // Nothing of a whole body is lost when its tail of padding is not read.
        self.kept.truncated = !matches!(self.stage, Stage::Ended);
        Err(Stop::Overflow)
    }

    /// Takes at least one byte, or changes the stage; gives back what is left.
    fn step<'a>(&mut self, input: &'a [u8]) -> Result<&'a [u8], Stop> {
        let Some((&first, rest)) = input.split_first() else { return Ok(input) };
        match &mut self.stage {
            Stage::Plain => {
                self.kept.add(input)?;
                Ok(&[])
            }
            Stage::Choosing => {
                // The low half of zlib's first byte is always 8. Read as raw deflate, that is a stored block
                // with padding that is not zero, which no encoder writes.
                self.inflater.start(first & 0x0f == 8);
                self.stage = Stage::Inflating(Framing::Deflate);
                Ok(input)
            }
            Stage::Header(header) => {
                if header.push(first)? {
                    self.inflater.start(false);
                    self.stage = Stage::Inflating(Framing::Gzip);
                }
                Ok(rest)
            }
            Stage::Inflating(framing) => {
                let framing = *framing;
                let (left, status) = self.inflater.inflate(input, &mut self.kept)?;
                if status == Status::StreamEnd {
                    self.stage = match framing {
                        Framing::Gzip => Stage::Trailer(Trailer::new()),
                        Framing::Deflate => Stage::Ended,
                    };
                }
                Ok(left)
            }
            Stage::Trailer(trailer) => {
                if let Some(said) = trailer.push(first) {
                    if !said.fits(&self.inflater.sum) {
                        return Err(Stop::Corrupt);
                    }
                    self.stage = Stage::Between(After::new());
                }
                Ok(rest)
            }
            Stage::Between(after) => {
                match after.push(first) {
                    gzip::Next::Unclear => {}
                    gzip::Next::Padding => self.stage = Stage::Ended,
                    gzip::Next::Member(_) if self.members >= MOST_MEMBERS => {
                        self.kept.truncated = true;
                        return Err(Stop::Overflow);
                    }
                    gzip::Next::Member(header) => {
                        self.members = self.members.saturating_add(1);
                        self.stage = Stage::Header(header);
                    }
                }
                Ok(rest)
            }
            Stage::Ended => Ok(&[]),
        }
    }
}

fn packed_allowance(limit: u64) -> u64 {
    limit.saturating_mul(2).saturating_add(PACKED_SLACK)
}

/// What was decoded.
struct Kept {
    bytes: Vec<u8>,
    limit: u64,
    truncated: bool,
}

impl Kept {
    fn add(&mut self, piece: &[u8]) -> Result<(), Stop> {
        let limit = usize::try_from(self.limit).unwrap_or(usize::MAX);
        let room = limit.saturating_sub(self.bytes.len());
        let (fits, over) = piece.split_at_checked(room).unwrap_or((piece, &[]));
        let needed = self.bytes.len().saturating_add(fits.len());
        if needed > self.bytes.capacity() {
            // Doubling, as a vector does by itself, but never past the limit.
            let wanted = self.bytes.capacity().saturating_mul(2).clamp(needed, limit);
            self.bytes.reserve_exact(wanted.saturating_sub(self.bytes.len()));
        }
        self.bytes.extend_from_slice(fits);
        if over.is_empty() {
            return Ok(());
        }
        self.truncated = true;
        Err(Stop::Overflow)
    }
}

struct Inflater {
    /// Made when the first packed byte arrives; it owns a window.
    state: Option<Decompress>,
    piece: Vec<u8>,
    sum: Crc,
}

impl Inflater {
    fn new() -> Inflater {
        Inflater { state: None, piece: Vec::new(), sum: Crc::new() }
    }

    fn start(&mut self, zlib: bool) {
        match &mut self.state {
            Some(state) => state.reset(zlib),
            None => self.state = Some(Decompress::new(zlib)),
        }
        self.piece.resize(PIECE_BYTES, 0);
        self.sum.reset();
    }

    /// All that the input gives, or as far as the end of the stream; and the input behind it.
    fn inflate<'a>(&mut self, mut input: &'a [u8], kept: &mut Kept) -> Result<(&'a [u8], Status), Stop> {
        let state = self.state.as_mut().ok_or(Stop::Corrupt)?;
        loop {
            let (read, written) = (state.total_in(), state.total_out());
            let status = state.decompress(input, &mut self.piece, FlushDecompress::None);
            let n_read = usize::try_from(state.total_in().saturating_sub(read)).unwrap_or(usize::MAX);
            let n_written = usize::try_from(state.total_out().saturating_sub(written)).unwrap_or(usize::MAX);
            input = input.get(n_read..).unwrap_or_default();
            let piece = self.piece.get(..n_written).unwrap_or_default();
            self.sum.update(piece);
            kept.add(piece)?;
            // Only now: the piece may hold what came before the damage.
            // LIMIT: of the last window before it, what did not fit in the piece is lost.
            let status = status.map_err(|_| Stop::Corrupt)?;
            if status == Status::StreamEnd {
                return Ok((input, status));
            }
            // A piece that is not full means that nothing waits inside.
            if n_written < self.piece.len() && input.is_empty() {
                return Ok((input, status));
            }
            if n_read == 0 && n_written == 0 {
                return Err(Stop::Corrupt);
            }
        }
    }
}
