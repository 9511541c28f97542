//! A packed body that unpacks to zeros for ever.

/// The beginning of a gzip member, and bytes that can follow it any number of times: each of them unpacks to some
/// hundred times as many zeros.
pub(crate) fn endless() -> (Vec<u8>, Vec<u8>) {
    let mut bits = Bits::default();
    bits.push(&[0]); // not the last block
    bits.push(&[1, 0]); // with the fixed code, lowest bit first
    bits.push(&[0, 0, 1, 1, 0, 0, 0, 0]); // a zero
    for _ in 0..64 {
        bits.push(&[1, 1, 0, 0, 0, 1, 0, 1]); // the last 258 bytes …
        bits.push(&[0, 0, 0, 0, 0]); // … at a distance of one
    }
    // Eight copies are thirteen bytes, so from the third byte on the stream repeats itself.
    let (first, rest) = bits.bytes.split_at(2);
    let head = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    ([&head[..], first].concat(), rest[..13].repeat(5000))
}

#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    n_bits: usize,
}

impl Bits {
    fn push(&mut self, bits: &[u8]) {
        for bit in bits {
            if self.n_bits.is_multiple_of(8) {
                self.bytes.push(0);
            }
            *self.bytes.last_mut().unwrap() |= bit << (self.n_bits % 8);
            self.n_bits += 1;
        }
    }
}

#[test]
fn the_bomb_unpacks() {
    use std::io::Read as _;
    let (first, again) = endless();
    let packed = [first, again.repeat(4)].concat();
    let mut unpacked = Vec::new();
    let ended = flate2::read::GzDecoder::new(&packed[..]).read_to_end(&mut unpacked);
    assert!(ended.is_err(), "it has no end");
    assert!(unpacked.len() > packed.len() * 100 && unpacked.iter().all(|byte| *byte == 0));
}
