//! Smaller services whose tokens have a prefix or a form of their own.

use crate::check::{entropy, jumbled, mixed, varied};
use crate::rule::{Lead, Pattern::Regex, Rule, base64, hex, token};
use crate::rules::form::{PREFIXED, encoded, inside};

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "scale-key",
        about: "Scale keys",
        keywords: &["ive_"],
        lead: Lead::Exactly(1),
        pattern: Regex("live_(?:auth_)?([0-9a-f]{32})"),
        entropy: 2.5,
        hit: &["live_8e", "c9f6599", "9cdec99", "972e644", "e10b0c3", "83"],
        miss: &["live_68", "3ce8a6f", "42d79d5", "21adcca", "96467f4", "b"],
        ..PREFIXED
    },
    Rule {
        name: "branch-key",
        about: "Branch keys",
        keywords: &["ey_live_", "ey_test_"],
        lead: Lead::Exactly(1),
        pattern: Regex("key_(?:live|test)_([A-Za-z0-9]{32})"),
        check: mixed,
        hit: &["key_liv", "e_xN3y4", "5QlrJJR", "yUURmEB", "ax6inDE", "HjT12P"],
        miss: &["key_liv", "e_yk2m7", "T8Gdni5", "sI1Gw24", "CDyPMtT", "KVrU1"],
        ..PREFIXED
    },
    Rule {
        name: "shortcut-token",
        about: "Shortcut tokens with a scope",
        keywords: &["sct_"],
        pattern: Regex("sct_[a-z]{1,4}_[a-z0-9-]{1,40}_([A-Za-z0-9]{100,})"),
        hit: &[
            "sct_rw_", "acme_Cs", "iVH1lcb", "fXOD40d", "dhFEyJk", "Y0EAhzM", "vebe4Gf", "nq7o2WF",
            "Y8x5Mes", "82cynmH", "WmA3rR2", "11MYCm3", "d6oag22", "XKItUdx", "n1EDDv5", "axroeUN",
        ],
        miss: &[
            "sct_rw_", "acme_sL", "IZREyyX", "YZ9R2BW", "HUTcqHc", "dvWXDPb", "EPIrPrS", "u8kjiVZ",
            "X2JdQwa", "9cJoAmW", "HE3tsY7", "AIM26MB", "qRf6icr", "0S8jhol", "WhDvqBe", "g4jlou",
        ],
        ..PREFIXED
    },
    Rule {
        name: "sqreen-token",
        about: "Sqreen tokens of an organization",
        keywords: &["org_"],
        pattern: Regex("org_([0-9a-f]{64})"),
        hit: &[
            "org_0e2", "a9acb95", "3df7145", "43bdde9", "55dcc90", "17fc181", "aa4a5c9", "669c2f2",
            "4fe261b", "15d87",
        ],
        miss: &[
            "org_9ee", "663b346", "789e3b2", "c8c7c56", "e8608b4", "fe156e3", "ef26f3e", "9ad3a17",
            "fb8d240", "3170",
        ],
        ..PREFIXED
    },
    Rule {
        name: "hop-token",
        about: "Hop tokens",
        keywords: &["hop_pat_", "hop_ptk_"],
        pattern: Regex("hop_p(?:at|tk)_([A-Za-z0-9_-]{32,})"),
        hit: &["hop_pat", "_DuIRr2", "u1stDUU", "zsv3vby", "8peOsMt", "rLW3F"],
        miss: &["hop_pat", "_Zgy39V", "07ULyMV", "gUxGC68", "7RNjcw8", "z8vU"],
        ..PREFIXED
    },
    Rule {
        name: "cfx-key",
        about: "Cfx.re server keys",
        keywords: &["cfxk_"],
        pattern: Regex("cfxk_([A-Za-z0-9]{20,40}_[A-Za-z0-9]{5,6})"),
        hit: &["cfxk_y9", "Ucb7nOy", "2jvcgJQ", "jJPe_LI", "Ndq"],
        miss: &["cfxk_qX", "FxKRMPG", "HrWiQQH", "tqi4_zw", "pB"],
        ..PREFIXED
    },
    Rule {
        name: "rainforest-key",
        about: "Rainforest keys",
        keywords: &["sbx_apikey_"],
        pattern: Regex("sbx_apikey_([0-9a-f]{64})"),
        hit: &[
            "sbx_api", "key_cc2", "107b708", "e442436", "bf1af14", "0f9e829", "80d8f84", "28178f5",
            "cd9c872", "37869be", "3fe38",
        ],
        miss: &[
            "sbx_api", "key_37c", "ad9c6cb", "f91b120", "9d51317", "92af702", "68d1820", "01d7c47",
            "14f1116", "cdacaf3", "5d5a",
        ],
        ..PREFIXED
    },
    Rule {
        name: "ramp-secret",
        about: "Ramp client secrets and tokens",
        keywords: &["ramp_sec_", "ramp_tok_", "ramp_business_tok_"],
        pattern: Regex("ramp_(?:sec|tok|business_tok)_([A-Za-z0-9]{40,64})"),
        hit: &["ramp_se", "c_PQfec", "WHJEOHF", "9wvjJFE", "NInQYmu", "gT9NCzU", "B5R5FNl"],
        miss: &["ramp_se", "c_1ufq6", "DxaKwiE", "aBixW5e", "YvkkXJT", "UkXjvWi", "WRLlGv"],
        ..PREFIXED
    },
    Rule {
        name: "pubnub-key",
        about: "PubNub keys",
        keywords: &["ub-c-", "ec-c-"],
        lead: Lead::Exactly(1),
        pattern: Regex(
            "(?:[ps]ub-c-([0-9a-z]{8}-[0-9a-z]{4}-[0-9a-z]{4}-[0-9a-z]{4}-[0-9a-z]{12})|sec-c-([A-Za-z0-9+/=_-]{36,80}))",
        ),
        check: varied,
        entropy: 2.0,
        hit: &["pub-c-9", "09b9874", "-5393-9", "7c3-f40", "1-4f107", "8dcb09a"],
        miss: &["pub-c-7", "53628ee", "-517b-5", "2f1-eb7", "9-ccc88", "1cbc98"],
        ..PREFIXED
    },
    Rule {
        name: "cloudsmith-token",
        about: "Cloudsmith tokens with a prefix",
        keywords: &["csa_"],
        pattern: Regex("csa_([0-9a-f]{30}[A-Za-z0-9]{6})"),
        entropy: 2.5,
        hit: &["csa_175", "820bd34", "bef6d13", "1eefbfd", "97a2afJ", "aqehy"],
        miss: &["csa_134", "5a50c54", "6877449", "c12a8a1", "0e1bf1f", "VtRf"],
        ..PREFIXED
    },
    Rule {
        name: "woocommerce-key",
        about: "WooCommerce consumer keys and secrets",
        keywords: &["ck_", "cs_"],
        follow: hex,
        pattern: Regex("c[ks]_([0-9a-f]{40})"),
        entropy: 2.5,
        hit: &["cs_8de0", "255b1fe", "e6ccb57", "29865c8", "3d5b82d", "f60c2c0", "a"],
        miss: &["cs_a17c", "c130fcf", "5ae2892", "0c37384", "9c15575", "606b155"],
        ..PREFIXED
    },
    Rule {
        name: "miro-token",
        about: "Miro tokens, which begin with a header of their own",
        keywords: &["eyJtaXJv"],
        pattern: Regex("eyJtaXJv([A-Za-z0-9_-]{32,120})"),
        check: mixed,
        hit: &["eyJtaXJ", "v9jzZmQ", "l3gHbOy", "goIwuej", "aTHjIas", "UcQ1y"],
        miss: &["eyJtaXJ", "vuFmXY7", "igWWSiT", "IewVvMw", "Z7rGkpk", "zAqa"],
        ..PREFIXED
    },
    Rule {
        name: "ionic-token",
        about: "Ionic tokens",
        keywords: &["ion_"],
        pattern: Regex("ion_([A-Za-z0-9]{42})"),
        check: jumbled,
        hit: &["ion_RCM", "6gvUNMH", "2qEQyVX", "U4o37vE", "Dz5ScRn", "qvL0YlD", "VkqE"],
        miss: &["ion_uxt", "W8JodAS", "ykfu0aD", "bMRXe9p", "SbXhFhA", "gSDePyP", "J9G"],
        ..PREFIXED
    },
    Rule {
        name: "authress-key",
        about: "Authress client keys",
        keywords: &["acc_", "acc-"],
        lead: Lead::Run(|byte| token(byte) || byte == b'.'),
        pattern: Regex(
            r"(?:sc|ext|scauth|authress)_[A-Za-z0-9]{5,30}\.[A-Za-z0-9]{4,6}\.acc[_-][A-Za-z0-9-]{10,32}\.([A-Za-z0-9+/_=-]{30,120})",
        ),
        check: mixed,
        hit: &[
            "sc_on9i", "p0jdi7a", "k.90gf.", "acc_rhx", "gent4xp", "14.bf5g", "ecxylp6", "wx2bqwh",
            "ix0l6ck", "gvzkf",
        ],
        miss: &[
            "sc_6xef", "mrtamlt", "v.dsqo.", "acc_r8u", "iw3vxmo", "31.2vvq", "1am8nu1", "4ibi5il",
            "qmm6jqe", "mjb6",
        ],
        ..PREFIXED
    },
    Rule {
        name: "alibaba-sts-id",
        about: "Alibaba Cloud access keys for a time",
        keywords: &["STS."],
        pattern: Regex(r"STS\.([A-Za-z0-9]{16,36})"),
        check: jumbled,
        hit: &["STS.lGZ", "SWDRybM", "pAr2Fr"],
        miss: &["STS.pnY", "I9ULB2F", "SU99A"],
        ..PREFIXED
    },
    Rule {
        name: "alibaba-sts-token",
        about: "Alibaba Cloud session tokens",
        keywords: &["CAIS"],
        pattern: Regex("CAIS([A-Za-z0-9+/_-]{60,}={0,2})"),
        left: encoded,
        right: base64,
        reach: 2048,
        check: jumbled,
        hit: &[
            "CAISclk", "eG3t+ql", "p9gG8a5", "r5uoTLY", "4cYwDcB", "EL93SzH", "c5DY8C/", "C93wdjP",
            "XBWwPGh", "7",
        ],
        miss: &[
            "CAIS9/M", "RJGlDa6", "ZzbDmOF", "GYvGvtU", "p7utdS0", "nl7FWzO", "aVGjtQv", "p3R8aEA", "kUd+RV3",
        ],
        ..PREFIXED
    },
    Rule {
        name: "dropbox-long-token",
        about: "Dropbox tokens without an end",
        keywords: &["AAAAAAAAAA"],
        lead: Lead::Exactly(11),
        pattern: Regex("([A-Za-z0-9]{11}A{10}[A-Za-z0-9_-]{43})"),
        left: inside,
        right: inside,
        check: long_lived,
        hit: &[
            "4GYB5Zp", "twzTAAA", "AAAAAAA", "q6ST4qM", "ldwamTr", "qgtk7mO", "PBTOvh5", "HZ9i3lt",
            "7QE4G1l", "8",
        ],
        miss: &[
            "WnH1HNW", "329FAAA", "AAAAAAA", "nZ4wdVq", "l2vvk2a", "BW6uh67", "qkIeBVi", "ZgXTNha", "c4pdENz",
        ],
        ..PREFIXED
    },
    Rule {
        name: "defined-key",
        about: "Defined Networking keys",
        keywords: &["dnkey-"],
        pattern: Regex("dnkey-([A-Za-z0-9=_-]{26}-[A-Za-z0-9=_-]{52})"),
        hit: &[
            "dnkey-i", "iws6ffw", "m5wfiu9", "cnflg7t", "0iys-j1", "ji2a4ka", "pqp2pyg", "xklvsz0",
            "xtki8nk", "dkhze4p", "k3dyc5u", "3wqd90h", "5",
        ],
        miss: &[
            "dnkey-s", "575kb34", "frfxf6a", "kfsoghu", "trbm-he", "vy849fy", "xc5o4vu", "lra97hb",
            "c2ulu75", "qc9mr7x", "3gpie61", "5jwnzcj",
        ],
        ..PREFIXED
    },
];

/// The row of one letter is in every such token; what is around it has to be random.
fn long_lived(value: &[u8]) -> bool {
    let (head, tail) = value.split_at(value.len().min(11));
    mixed(tail) && entropy(head) >= 2.5 && tail.get(10..).is_some_and(|tail| entropy(tail) >= 3.5)
}
