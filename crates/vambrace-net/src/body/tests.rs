use std::io::Write;

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use proptest::prelude::*;

use super::*;

fn gzip(data: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

fn zlib(data: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

fn raw(data: &[u8], level: Compression) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), level);
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

/// In pieces of `step` bytes, as far as the first stop.
fn decode(coding: Coding, limit: u64, packed: &[u8], step: usize) -> (Option<Stop>, Decoded) {
    let mut decoder = Decoder::new(coding, limit);
    let stop = packed.chunks(step).find_map(|piece| decoder.push(piece).err());
    assert!(decoder.kept.bytes.capacity() as u64 <= limit.max(8), "{}", decoder.kept.bytes.capacity());
    if let Some(stop) = stop {
        assert_eq!(decoder.push(b"more"), Err(stop), "a stop is final");
    }
    (stop, decoder.finish())
}

#[track_caller]
fn check(coding: Coding, limit: u64, packed: &[u8], means: &[u8], stop: Option<Stop>) {
    for step in [1, 2, 7, 4096, usize::MAX] {
        let (seen, decoded) = decode(coding, limit, packed, step);
        let truncated = stop == Some(Stop::Overflow);
        let corrupt = stop == Some(Stop::Corrupt);
        assert_eq!(seen, stop, "pieces of {step}");
        assert_eq!(decoded, Decoded { bytes: means.to_vec(), truncated, corrupt }, "pieces of {step}");
    }
}

/// What ends before it is whole: no stop, and not hidden.
#[track_caller]
fn check_short(coding: Coding, packed: &[u8], means: &[u8]) {
    let expected = Decoded { bytes: means.to_vec(), truncated: false, corrupt: true };
    for step in [1, usize::MAX] {
        assert_eq!(decode(coding, 1000, packed, step), (None, expected.clone()), "pieces of {step}");
    }
}

#[test]
fn codings() {
    let rows = [
        ("", Some(Coding::Identity)),
        (" ", Some(Coding::Identity)),
        ("identity", Some(Coding::Identity)),
        ("GZip", Some(Coding::Gzip)),
        (" x-gzip\t", Some(Coding::Gzip)),
        ("deflate", Some(Coding::Deflate)),
        ("br", None),
        ("zstd", None),
        ("gzip, gzip", None),
        ("gzip,", None),
        ("identity, gzip", None),
        ("gzip;q=1", None),
        ("gzip\n", None),
    ];
    for (header, expected) in rows {
        assert_eq!(Coding::parse(header), expected, "{header:?}");
    }
}

#[test]
fn the_limit_counts_what_a_body_means() {
    let data = b"twenty bytes of text";
    let packings: [(Coding, Vec<u8>); 5] = [
        (Coding::Identity, data.to_vec()),
        (Coding::Gzip, gzip(data)),
        (Coding::Deflate, zlib(data)),
        (Coding::Deflate, raw(data, Compression::default())),
        (Coding::Deflate, raw(data, Compression::none())),
    ];
    for (coding, packed) in packings {
        check(coding, 21, &packed, data, None);
        check(coding, 20, &packed, data, None);
        check(coding, 19, &packed, &data[..19], Some(Stop::Overflow));
        check(coding, 0, &packed, b"", Some(Stop::Overflow));
    }
}

#[test]
fn nothing_is_a_body_too() {
    for coding in [Coding::Identity, Coding::Gzip, Coding::Deflate] {
        check(coding, 10, b"", b"", None);
        check(coding, 0, b"", b"", None);
    }
    check(Coding::Gzip, 0, &gzip(b""), b"", None);
    check(Coding::Deflate, 0, &zlib(b""), b"", None);
    check(Coding::Deflate, 0, &[3, 0], b"", None);
}

#[test]
fn members_and_what_follows_them() {
    let two = [gzip(b"one "), gzip(b"two")].concat();
    check(Coding::Gzip, 100, &two, b"one two", None);
    check(Coding::Gzip, 4, &two, b"one ", Some(Stop::Overflow));
    let padded = |tail: &[u8]| [gzip(b"one"), tail.to_vec()].concat();
    check(Coding::Gzip, 3, &padded(b"garbage"), b"one", None);
    check(Coding::Gzip, 3, &padded(&[0; 600]), b"one", None);
    check(Coding::Gzip, 3, &padded(&[0x1f]), b"one", None);
    check(Coding::Gzip, 3, &padded(&[0x1f, 0x8b, 9]), b"one", None);
    // With the whole magic it is a member, and a broken one.
    check(Coding::Gzip, 3, &padded(&[0x1f, 0x8b, 8, 0xff]), b"one", Some(Stop::Corrupt));
    check_short(Coding::Gzip, &padded(&[0x1f, 0x8b, 8]), b"one");
    check(Coding::Deflate, 3, &[zlib(b"one"), b"garbage".to_vec()].concat(), b"one", None);
}

#[test]
fn every_field_of_a_header_is_passed_over() {
    let plain = gzip(b"text");
    for flags in 0..0x20u8 {
        let mut packed = vec![0x1f, 0x8b, 8, flags, 1, 2, 3, 4, 5, 6];
        if flags & 0x04 != 0 {
            packed.extend_from_slice(&[3, 0, b'x', 0, b'z']);
        }
        if flags & 0x08 != 0 {
            packed.extend_from_slice(b"name\0");
        }
        if flags & 0x10 != 0 {
            packed.extend_from_slice(b"comment\0");
        }
        if flags & 0x02 != 0 {
            packed.extend_from_slice(&[9, 9]);
        }
        packed.extend_from_slice(&plain[10..]);
        check(Coding::Gzip, 4, &packed, b"text", None);
    }
    let mut no_extra = vec![0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 0, 0, 0];
    no_extra.extend_from_slice(&plain[10..]);
    check(Coding::Gzip, 4, &no_extra, b"text", None);
    check(Coding::Gzip, 4, &[0x1f, 0x8b, 8, 0x20], b"", Some(Stop::Corrupt));
}

#[test]
fn what_came_before_the_damage_stays() {
    check(Coding::Gzip, 100, b"not packed", b"", Some(Stop::Corrupt));
    check(Coding::Gzip, 100, &[0x1f, 0x8b, 7, 0], b"", Some(Stop::Corrupt));
    let mut wrong_sum = gzip(b"text");
    let at = wrong_sum.len() - 8;
    wrong_sum[at] ^= 1;
    check(Coding::Gzip, 100, &wrong_sum, b"text", Some(Stop::Corrupt));
    let mut wrong_length = gzip(b"text");
    let at = wrong_length.len() - 1;
    wrong_length[at] ^= 1;
    check(Coding::Gzip, 100, &wrong_length, b"text", Some(Stop::Corrupt));
    // A block of the type that does not exist, behind a good stored one.
    check(Coding::Deflate, 100, &[0, 2, 0, 0xfd, 0xff, b'o', b'k', 7], b"ok", Some(Stop::Corrupt));

    let whole = gzip(b"text");
    for length in 1..whole.len() {
        let (stop, decoded) = decode(Coding::Gzip, 100, &whole[..length], 1);
        assert_eq!((stop, decoded.corrupt, decoded.truncated), (None, true, false), "{length}");
        assert!(b"text".starts_with(&decoded.bytes));
    }
    check_short(Coding::Deflate, &[0x78], b"");
    check_short(Coding::Gzip, &whole[..whole.len() - 1], b"text");
}

/// Sixteen megabytes in sixteen kilobytes: only the limit is kept, and only about the limit is made.
#[test]
fn a_bomb_stops_at_the_limit() {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    let zeros = vec![0u8; 1 << 20];
    for _ in 0..16 {
        encoder.write_all(&zeros).unwrap();
    }
    let bomb = encoder.finish().unwrap();
    assert!(bomb.len() < 20_000);
    for step in [1, 1000, usize::MAX] {
        let mut decoder = Decoder::new(Coding::Gzip, 100_000);
        assert_eq!(bomb.chunks(step).find_map(|piece| decoder.push(piece).err()), Some(Stop::Overflow));
        let made = decoder.inflater.state.as_ref().unwrap().total_out();
        assert!(made <= 100_000 + PIECE_BYTES as u64, "{made}");
        assert!(decoder.kept.bytes.capacity() <= 100_000);
        let decoded = decoder.finish();
        assert_eq!((decoded.bytes.len(), decoded.truncated, decoded.corrupt), (100_000, true, false));
    }
}

/// What means nothing and never ends.
#[test]
fn endless_nothing_stops() {
    #[track_caller]
    fn stops(coding: Coding, start: &[u8], again: &[u8], most: u64) -> Decoded {
        let mut decoder = Decoder::new(coding, 1000);
        decoder.push(start).unwrap();
        let mut taken = 0;
        while decoder.push(again).is_ok() {
            taken += again.len() as u64;
            assert!(taken <= most);
        }
        decoder.finish()
    }
    let most = packed_allowance(1000);
    let empty_member = gzip(b"");
    let header = &empty_member[..10];
    assert!(stops(Coding::Gzip, &[], &empty_member, most).truncated);
    // Empty stored blocks; a header's name; padding.
    assert!(stops(Coding::Gzip, header, &[0, 0, 0, 0xff, 0xff], most).truncated);
    assert!(stops(Coding::Deflate, &[], &[0, 0, 0, 0xff, 0xff], most).truncated);
    assert!(stops(Coding::Gzip, &[0x1f, 0x8b, 8, 8, 0, 0, 0, 0, 0, 0], b"name", most).truncated);
    let padded = stops(Coding::Gzip, &gzip(b"whole"), &[0; 512], most);
    assert_eq!(padded, Decoded { bytes: b"whole".to_vec(), truncated: false, corrupt: false });
}

#[test]
fn members_are_counted() {
    let packed = |n: u32| gzip(b"").repeat(n as usize);
    check(Coding::Gzip, 100_000, &packed(MOST_MEMBERS), b"", None);
    check(Coding::Gzip, 100_000, &packed(MOST_MEMBERS + 1), b"", Some(Stop::Overflow));
}

/// Repeats enough to be packed well.
fn few_bytes() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(prop::sample::select(vec![0u8, 1, 97, 255]), 0..5000)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Any text, packing, limit and cut into pieces: the first `limit` bytes, and the truth about the rest.
    #[test]
    fn packed_and_unpacked(
        parts in prop::collection::vec(few_bytes(), 1..4),
        limit in 0u64..12_000,
        step in 1usize..3000,
        which in 0..4,
    ) {
        let data = parts.concat();
        let (coding, packed) = match which {
            0 => (Coding::Identity, data.clone()),
            1 => (Coding::Gzip, parts.iter().flat_map(|part| gzip(part)).collect()),
            2 => (Coding::Deflate, zlib(&data)),
            _ => (Coding::Deflate, raw(&data, Compression::fast())),
        };
        let (stop, decoded) = decode(coding, limit, &packed, step);
        let kept = data.len().min(limit as usize);
        let truncated = data.len() as u64 > limit;
        prop_assert_eq!(stop, truncated.then_some(Stop::Overflow));
        prop_assert_eq!(decoded, Decoded { bytes: data[..kept].to_vec(), truncated, corrupt: false });
    }

    /// Hostile bytes, with and without a good start: the same outcome however they are cut, and never more
    /// than the limit.
    #[test]
    fn any_bytes(
        mut bytes in prop::collection::vec(any::<u8>(), 0..600),
        magic in any::<bool>(),
        limit in 0u64..500,
        step in 1usize..50,
        gzipped in any::<bool>(),
    ) {
        if magic {
            bytes.splice(0..0, [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0]);
        }
        let coding = if gzipped { Coding::Gzip } else { Coding::Deflate };
        let (stop, decoded) = decode(coding, limit, &bytes, step);
        prop_assert!(decoded.bytes.len() as u64 <= limit);
        prop_assert_eq!(decoded.truncated, stop == Some(Stop::Overflow));
        let (again, at_once) = decode(coding, limit, &bytes, usize::MAX);
        prop_assert_eq!((stop, decoded), (again, at_once));
    }

    /// One bit of a good body turned round.
    #[test]
    fn any_damage(
        data in prop::collection::vec(any::<u8>(), 0..300),
        at in any::<prop::sample::Index>(),
        bit in 0..8u8,
        step in 1usize..50,
    ) {
        let mut packed = gzip(&data);
        let at = at.index(packed.len());
        packed[at] ^= 1u8 << bit;
        let (_, decoded) = decode(Coding::Gzip, 10_000, &packed, step);
        // Past the fixed header everything is under the checksum.
        prop_assert!(decoded.corrupt || decoded.bytes == data);
    }
}
