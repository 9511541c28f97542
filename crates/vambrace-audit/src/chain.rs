//! The arithmetic of the chain: hashes, tips and signed heads. Pure; files are `segment`'s and `registry`'s business.

use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use vambrace_types::Timestamp;

use crate::moment;

/// SHA-256 of one line, without its newline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Hash([u8; 32]);

impl Hash {
    pub(crate) fn of(line: &[u8]) -> Hash {
        Hash(Sha256::digest(line).into())
    }

    /// What the first line of a file names as the line before it. It holds the file's name, so a whole file cannot
    /// take the place of another.
    pub(crate) fn genesis(name: &str) -> Hash {
        Hash::of(format!("vambrace audit chain: {name}").as_bytes())
    }

    pub(crate) fn write_hex(&self, out: &mut String) {
        // Pair by pair into a fixed array, which the compiler turns into a few vector instructions.
        let mut digits = [[0u8; 2]; 32];
        for (pair, byte) in digits.iter_mut().zip(self.0) {
            *pair = [hex_digit(byte >> 4), hex_digit(byte & 15)];
        }
        out.push_str(str::from_utf8(digits.as_flattened()).unwrap_or_default());
    }

    pub(crate) fn to_hex(self) -> String {
        let mut out = String::with_capacity(64);
        self.write_hex(&mut out);
        out
    }

    pub(crate) fn parse(text: &str) -> Option<Hash> {
        unhex(text).map(Hash)
    }
}

/// How far a file has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tip {
    pub(crate) count: u64,
    pub(crate) bytes: u64,
    pub(crate) hash: Hash,
}

impl Tip {
    pub(crate) fn start(name: &str) -> Tip {
        Tip { count: 0, bytes: 0, hash: Hash::genesis(name) }
    }

    /// The tip after one more line of `length` bytes, newline included.
    pub(crate) fn after(self, hash: Hash, length: usize) -> Tip {
        Tip { count: self.count + 1, bytes: self.bytes + length as u64, hash }
    }
}

/// The part of every chained line that the chain itself needs.
#[derive(Deserialize)]
struct Link<'a> {
    seq: u64,
    #[serde(borrow)]
    prev: &'a str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LinkFault {
    NotARecord,
    /// Records are missing, doubled or out of order.
    Sequence {
        expected: u64,
        found: u64,
    },
    /// This line does not name the line before it, so one of the two was changed.
    Previous,
}

/// Whether `line` (without newline) may follow `tip`; if so, the tip behind it.
pub(crate) fn follow(tip: Tip, line: &[u8]) -> Result<Tip, LinkFault> {
    let link: Link<'_> = vambrace_json::own_line(line).ok_or(LinkFault::NotARecord)?;
    if link.seq != tip.count + 1 {
        return Err(LinkFault::Sequence { expected: tip.count + 1, found: link.seq });
    }
    if Hash::parse(link.prev) != Some(tip.hash) {
        return Err(LinkFault::Previous);
    }
    Ok(tip.after(Hash::of(line), line.len() + 1))
}

/// A tip that somebody with the key vouches for. The name of the file is part of what is signed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) tip: Tip,
    time: String,
    public_key: [u8; 32],
    signature: [u8; 64],
}

#[derive(Deserialize)]
struct HeadLine {
    count: u64,
    bytes: u64,
    hash: String,
    timestamp: String,
    public_key: String,
    signature: String,
}

impl Head {
    pub(crate) fn sign(name: &str, tip: Tip, now: Timestamp, key: &SigningKey) -> Head {
        let time = moment::text(now);
        let signature = key.sign(signed_text(name, &tip, &time).as_bytes()).to_bytes();
        Head { tip, time, public_key: key.verifying_key().to_bytes(), signature }
    }

    pub(crate) fn to_line(&self) -> String {
        format!(
            "{{\"count\":{},\"bytes\":{},\"hash\":\"{}\",\"timestamp\":\"{}\",\"public_key\":\"{}\",\"signature\":\"{}\"}}\n",
            self.tip.count,
            self.tip.bytes,
            self.tip.hash.to_hex(),
            self.time,
            hex(&self.public_key),
            hex(&self.signature),
        )
    }

    pub(crate) fn parse(line: &[u8]) -> Option<Head> {
        let line: HeadLine = vambrace_json::own_line(line)?;
        let tip = Tip { count: line.count, bytes: line.bytes, hash: Hash::parse(&line.hash)? };
        let (public_key, signature) = (unhex(&line.public_key)?, unhex(&line.signature)?);
        Some(Head { tip, time: line.timestamp, public_key, signature })
    }

    /// Signed for this very file, by the pinned key.
    pub(crate) fn is_signed_by(&self, name: &str, pinned: &VerifyingKey) -> bool {
        let text = signed_text(name, &self.tip, &self.time);
        let signature = Signature::from_bytes(&self.signature);
        self.public_key == pinned.to_bytes() && pinned.verify_strict(text.as_bytes(), &signature).is_ok()
    }
}

fn signed_text(name: &str, tip: &Tip, time: &str) -> String {
    format!("vambrace audit head\n{name}\n{}\n{}\n{}\n{time}\n", tip.count, tip.bytes, tip.hash.to_hex())
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().flat_map(|byte| [hex_digit(byte >> 4), hex_digit(byte & 15)]).map(char::from).collect()
}

fn hex_digit(value: u8) -> u8 {
    if value < 10 { b'0' + value } else { b'a' - 10 + value }
}

/// Lower case only: one value has one spelling.
pub(crate) fn unhex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        0..=b'/' | b':'..=b'`' | b'g'..=0xff => None,
    };
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if pairs.len() != N || !rest.is_empty() {
        return None;
    }
    let mut bytes = [0u8; N];
    for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
        *byte = digit(*high)? << 4 | digit(*low)?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(seq: u64, prev: Hash) -> String {
        format!("{{\"seq\":{seq},\"prev\":\"{}\",\"x\":1}}", prev.to_hex())
    }

    #[test]
    fn a_line_must_follow_the_tip() {
        let start = Tip::start("s");
        let first = line(1, start.hash);
        let tip = follow(start, first.as_bytes()).unwrap();
        assert_eq!(tip, Tip { count: 1, bytes: first.len() as u64 + 1, hash: Hash::of(first.as_bytes()) });

        let check =
            |text: &str, expected| assert_eq!(follow(tip, text.as_bytes()).map(|_| ()), expected, "{text}");
        check(&line(2, tip.hash), Ok(()));
        check(&line(3, tip.hash), Err(LinkFault::Sequence { expected: 2, found: 3 }));
        check(&line(1, tip.hash), Err(LinkFault::Sequence { expected: 2, found: 1 }));
        check(&line(2, start.hash), Err(LinkFault::Previous));
        check("{\"seq\":2}", Err(LinkFault::NotARecord));
        check("", Err(LinkFault::NotARecord));
    }

    #[test]
    fn the_first_line_belongs_to_one_file() {
        let first = line(1, Tip::start("s").hash);
        assert_eq!(follow(Tip::start("t"), first.as_bytes()), Err(LinkFault::Previous));
    }

    #[test]
    fn a_head_holds_only_for_its_file_key_and_tip() {
        let key = SigningKey::from_bytes(&[7; 32]);
        let other = SigningKey::from_bytes(&[8; 32]).verifying_key();
        let head = Head::sign("s", Tip::start("s"), Timestamp::from_millis(0), &key);
        let read = Head::parse(head.to_line().as_bytes()).unwrap();
        assert_eq!(read, head);
        assert!(read.is_signed_by("s", &key.verifying_key()));
        assert!(!read.is_signed_by("t", &key.verifying_key()));
        assert!(!read.is_signed_by("s", &other));
        let mut longer = read;
        longer.tip.count = 1;
        assert!(!longer.is_signed_by("s", &key.verifying_key()));
    }

    #[test]
    fn hexadecimal_reads_back() {
        assert_eq!(hex(&[0, 0x9a, 0xff]), "009aff");
        let hash = Hash::of(b"");
        assert_eq!(hash.to_hex(), hex(&hash.0));
        assert_eq!(Hash::parse(&hash.to_hex()), Some(hash));
        assert_eq!(unhex::<3>("009aff"), Some([0, 0x9a, 0xff]));
        for bad in ["009AFF", "009af", "009aff00", "00 aff", "00gaff"] {
            assert_eq!(unhex::<3>(bad), None, "{bad}");
        }
    }
}
