//! Samples that their makers print in their own documentation. Whoever quotes the documentation leaks nothing, and a reader who
//! sees a placeholder there wonders what was hidden.
//!
//! Kept as hashes (FNV-1a, 64 bits) and never as text, so that no file here looks like a leak. A wrong match would
//! show a secret; among 2^64 values and two dozen entries that is no concern, and nobody gains by making one.

/// Longer samples are not published.
const LONGEST: usize = 256;

static SAMPLES: [u64; 23] = [
    // The access key and two secret keys of Amazon's documentation.
    0x0e62_7699_b983_76d0,
    0x7699_c294_beeb_ad32,
    0x8f63_5ee3_a1e6_f45d,
    // Test keys of Stripe's documentation; they open nothing but a sandbox that everybody shares.
    0xddd1_9c48_6d09_5d84,
    0x67e7_33c2_f903_5757,
    0x9cba_2b6f_12fd_10a4,
    // The token with which jwt.io greets, now and formerly.
    0x15f8_7945_422c_bea3,
    0x2e23_80ac_3dc2_ea0b,
    // Browser keys in the samples of Google and Firebase, known from scanners' lists of false alarms.
    0x6acb_d824_bd32_bbd4,
    0x29a3_36c7_244f_48dd,
    0x08b5_4596_2adc_7d8b,
    0xe766_6dbb_286c_6c2e,
    0x99b2_7263_46a1_e92a,
    0x1211_3c2e_6979_f447,
    0x8288_18f8_3325_7868,
    0x6835_e0f2_8883_2a40,
    0x816c_d10f_db11_ead0,
    0xadbd_04e3_fe1b_6d49,
    0xdb94_22f1_dd33_2dcc,
    0x515c_b771_a423_8032,
    0xe754_678e_a2b1_4ef1,
    0xc73f_1e61_952e_6987,
    0x294c_63f8_344d_5df1,
];

pub(crate) fn is_published(value: &[u8]) -> bool {
    value.len() <= LONGEST && SAMPLES.contains(&fnv(value))
}

fn fnv(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documented_pair_is_published_and_its_neighbor_is_not() {
        let id = ["AKIA", "IOSFODNN7", "EXAMPLE"].concat();
        assert!(is_published(id.as_bytes()));
        assert!(!is_published(id.replace('7', "8").as_bytes()));
        assert_eq!(fnv(b"a"), 0xaf63_dc4c_8601_ec8c);
    }
}
