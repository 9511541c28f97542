//! What stands around a gzip member: its header, its trailer, and what may follow (RFC 1952).
//!
//! Fed byte by byte, because a body arrives in pieces of any size. Nothing of a header is kept.

use flate2::Crc;

use super::Stop;

const MAGIC: [u8; 3] = [0x1f, 0x8b, 8];

const HAS_CHECKSUM: u8 = 0x02;
const HAS_EXTRA: u8 = 0x04;
const HAS_NAME: u8 = 0x08;
const HAS_COMMENT: u8 = 0x10;
const RESERVED: u8 = 0xe0;

pub(super) struct Header {
    place: Place,
    flags: u8,
}

/// Which byte comes next.
enum Place {
    Magic(u8),
    Flags,
    /// Time, level, system: so many bytes to pass over.
    Fixed(u8),
    ExtraLow,
    ExtraHigh(u8),
    Extra(u16),
    Name,
    Comment,
    /// LIMIT: the header's own checksum is passed over, as everyone does.
    Checksum(u8),
}

impl Header {
    pub(super) fn new() -> Header {
        Header { place: Place::Magic(0), flags: 0 }
    }

    fn after_magic() -> Header {
        Header { place: Place::Flags, flags: 0 }
    }

    /// True with the header's last byte.
    pub(super) fn push(&mut self, byte: u8) -> Result<bool, Stop> {
        let next = match self.place {
            Place::Magic(n) => {
                if MAGIC.get(usize::from(n)) != Some(&byte) {
                    return Err(Stop::Corrupt);
                }
                Some(if n < 2 { Place::Magic(n.saturating_add(1)) } else { Place::Flags })
            }
            Place::Flags => {
                if byte & RESERVED != 0 {
                    return Err(Stop::Corrupt);
                }
                self.flags = byte;
                Some(Place::Fixed(6))
            }
            Place::Fixed(0 | 1) if self.has(HAS_EXTRA) => Some(Place::ExtraLow),
            Place::Fixed(0 | 1) => self.after_extra(),
            Place::Fixed(left) => Some(Place::Fixed(left.saturating_sub(1))),
            Place::ExtraLow => Some(Place::ExtraHigh(byte)),
            Place::ExtraHigh(low) => match u16::from_le_bytes([low, byte]) {
                0 => self.after_extra(),
                length => Some(Place::Extra(length)),
            },
            Place::Extra(0 | 1) => self.after_extra(),
            Place::Extra(left) => Some(Place::Extra(left.saturating_sub(1))),
            Place::Name if byte == 0 => self.after_name(),
            Place::Name => Some(Place::Name),
            Place::Comment if byte == 0 => self.after_comment(),
            Place::Comment => Some(Place::Comment),
            Place::Checksum(0 | 1) => None,
            Place::Checksum(left) => Some(Place::Checksum(left.saturating_sub(1))),
        };
        match next {
            Some(place) => {
                self.place = place;
                Ok(false)
            }
            None => Ok(true),
        }
    }

    fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    fn after_extra(&self) -> Option<Place> {
        if self.has(HAS_NAME) { Some(Place::Name) } else { self.after_name() }
    }

    fn after_name(&self) -> Option<Place> {
        if self.has(HAS_COMMENT) { Some(Place::Comment) } else { self.after_comment() }
    }

    fn after_comment(&self) -> Option<Place> {
        self.has(HAS_CHECKSUM).then_some(Place::Checksum(2))
    }
}

/// The eight bytes at a member's end, as they arrive.
pub(super) struct Trailer {
    bits: u64,
    n_bytes: u32,
}

/// What the trailer says of its member.
pub(super) struct Said {
    sum: u32,
    length: u32,
}

impl Trailer {
    pub(super) fn new() -> Trailer {
        Trailer { bits: 0, n_bytes: 0 }
    }

    /// With the last byte, what it says. Little-endian: first the checksum, then the length modulo 2^32.
    pub(super) fn push(&mut self, byte: u8) -> Option<Said> {
        self.bits = (self.bits >> 8) | (u64::from(byte) << 56);
        self.n_bytes = self.n_bytes.saturating_add(1);
        let [a, b, c, d, e, f, g, h] = self.bits.to_le_bytes();
        (self.n_bytes >= 8).then_some(Said {
            sum: u32::from_le_bytes([a, b, c, d]),
            length: u32::from_le_bytes([e, f, g, h]),
        })
    }
}

impl Said {
    pub(super) fn fits(&self, crc: &Crc) -> bool {
        self.sum == crc.sum() && self.length == crc.amount()
    }
}

/// Behind a member: the start of another, or padding.
pub(super) struct After {
    n_matched: u8,
}

pub(super) enum Next {
    Unclear,
    Padding,
    /// Its magic is read.
    Member(Header),
}

impl After {
    pub(super) fn new() -> After {
        After { n_matched: 0 }
    }

    pub(super) fn push(&mut self, byte: u8) -> Next {
        if MAGIC.get(usize::from(self.n_matched)) != Some(&byte) {
            return Next::Padding;
        }
        self.n_matched = self.n_matched.saturating_add(1);
        if usize::from(self.n_matched) == MAGIC.len() {
            Next::Member(Header::after_magic())
        } else {
            Next::Unclear
        }
    }
}
