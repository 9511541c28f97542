//! What no single service owns: keys and tokens that show what they are, and plain assignments.

use crate::check::{is_password, luhn, not_dummy, token_header, varied};
use crate::rule::{Lead, Pattern, Pattern::Regex, Rank, Rule, Sight, base64, none, token, word};
use crate::{encode, jwk, pem};

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "private-key",
        about: "private keys in PEM, OpenSSH and PGP form, to the END line or for 64 KiB",
        keywords: &["-----BEGIN"],
        pattern: Pattern::PrivateKey,
        left: none,
        hit: &[
            "-----BE", "GIN PRI", "VATE KE", "Y-----\n", "575yx8x", "m5MslfY", "5ubihey", "Ed7P4zD",
            "L/ak6J0", "kGODKdi", "nZnLXic", "aBAg8WY", "1jzI\n--", "---END",
        ],
        miss: &["if line", r#" == "--"#, "---BEGI", "N PRIVA", "TE KEY-", r#"----" {"#, " return", " }"],
        ..Rule::TOKEN
    },
    Rule {
        name: "private-key-encoded",
        about: "private keys in PEM form, in base64 once more, as a kubeconfig has them",
        keywords: &["LS0tLS1CRUdJTi"],
        pattern: Regex("LS0tLS1CRUdJTi[A-Za-z0-9+/_-]{40,}={0,2}"),
        left: base64,
        reach: 16 * 1024,
        check: |value| {
            let header = encode::decode_base64(value.get(..80).unwrap_or(value)).unwrap_or_default();
            crate::check::contains(&header, b"PRIVATE KEY-----")
        },
        hit: &[
            "client-", "key-dat", "a: LS0t", "LS1CRUd", "JTiBSU0", "EgUFJJV", "kFURSBL", "RVktLS0",
            "tLQpSbE", "5RYjBwc", "kZtYmg3", "K3d5NXl", "xMVhvWT", "FCYUlNY", "0F4WW1m", "c0I0SGJ",
            "RTFhqam", "xBRmJWV", "jZxOXJY", "eHROREY", "=",
        ],
        miss: &[
            "client-", "certifi", "cate-da", "ta: LS0", "tLS1CRU", "dJTiBDR", "VJUSUZJ", "Q0FURS0",
            "tLS0tCn", "l1elg5a", "zFnbm5l", "R0VZRzE", "rTHdpcU", "Q5akpCQ", "WNpSTA1", "Rmhmd0t",
            "WcWxVcj", "VRcmVjO", "FROZWNq", "OWlOT3J", "qag==",
        ],
        ..Rule::TOKEN
    },
    Rule {
        name: "private-key-der",
        about: "RSA and elliptic private keys in base64 without their header lines",
        keywords: &["IBADANBgkqhkiG9w0BAQEFAASC", "IBAAKC", "IBAAKB"],
        lead: Lead::Exactly(6),
        pattern: Regex("MII[A-Za-z0-9+/]{3}IB(?:ADANBgkqhkiG9w0BAQEFAASC|AAK[CB])[A-Za-z0-9+/]{44,}={0,2}"),
        left: base64,
        reach: 8 * 1024,
        hit: &[
            "MIIEvQI", "BADANBg", "kqhkiG9", "w0BAQEF", "AASC5Vf", "qRTk8j1", "d/bWWbj", "kloG1QX",
            "647kdNl", "9cDo/+G", "bVMszvR", "4/EPZGz", "3zBXCOA", "r",
        ],
        miss: &[
            "MIIBIjA", "NBgkqhk", "iG9w0BA", "QEFAAOC", "r/SfiJv", "o58JB0W", "/O5PjeJ", "fJTNcrZ",
            "6ydIEsg", "o5nVjzz", "8Gwb8ew", "CISuYCl", "0Xq5",
        ],
        ..Rule::TOKEN
    },
    Rule {
        name: "private-key-short-der",
        about: "elliptic private keys in base64 without their header lines",
        keywords: &[
            "MIGHAgEAMBMGByqGSM49",
            "MIG2AgEAMBAGByqGSM49",
            "MC4CAQAwBQYDK2Vw",
            "MHcCAQEEI",
            "MIGkAgEBBD",
        ],
        pattern: Regex(
            "M(?:IGHAgEAMBMGByqGSM49|IG2AgEAMBAGByqGSM49|C4CAQAwBQYDK2Vw|HcCAQEEI|IGkAgEBBD)[A-Za-z0-9+/]{40,}={0,2}",
        ),
        left: base64,
        reach: 512,
        hit: &[
            "MC4CAQA", "wBQYDK2", "Vw6zaWR", "7PAmpBF", "XlNPHcS", "ke4R1J+", "dBi2ewQ", "r8t4/lC",
            "4LvGNWA", "M",
        ],
        miss: &[
            "MCowBQY", "DK2VwsI", "/z0oaWd", "fZp+lvi", "60ZIF8/", "qR38Ony", "1dHqcey", "tDbKPTF", "/n/p",
        ],
        ..Rule::TOKEN
    },
    Rule {
        name: "pkcs12-file",
        about: "PKCS #12 files (.p12, .pfx) in base64",
        keywords: &["IBAzCC"],
        lead: Lead::Exactly(6),
        pattern: Regex("MII[A-Za-z0-9+/]{3}IBAzCC[A-Za-z0-9+/]{100,}={0,2}"),
        left: base64,
        reach: 16 * 1024,
        hit: &[
            "MIIKqAI", "BAzCCGz", "3cW0uAB", "BrDSxOO", "yBymrEq", "lHXm31q", "zZcmzTU", "oRyj9nd",
            "e9syxoA", "wuKmhr7", "jmPY72T", "3AVbfzx", "06UVZyv", "mbPkZyR", "HJouZrQ", "V3xZAxj",
            "RM8mbTg", "DIMRBZx", "jX/BpY",
        ],
        miss: &[
            "MIIKqAI", "BAzCCco", "nEG4Zgz", "WbmHGJR", "1m4jfXu", "X8v/h2/", "1KZNUK9", "IKLdbFf",
            "u0XgOYg", "OjC29GF", "fm",
        ],
        ..Rule::TOKEN
    },
    Rule {
        name: "putty-key",
        about: "the private part of PuTTY's key files",
        keywords: &["Private-Lines:"],
        pattern: Pattern::Parsed(Sight::Lines, pem::putty),
        reach: 8 * 1024,
        hit: &[
            "Private", "-Lines:", " 2\n7sFo", "g16pAgT", "tpU4r16", "H1UrLqE", "9oNTJIy", "JEyFzfh",
            "bIH2den", "CJjluEV", "99TARR/", "rjp5\nB4", "2HXtVtP", "Lx2Vm7P", "kk3+7Mb", "jNBkM/P",
            "KsCTPUp", "P4J\nPri", "vate-MA", "C: e9ea", "7c72bb0", "bcc6bc4", "552e907", "1590d29",
            "2a283a2", "0\n",
        ],
        miss: &["Private", "-Lines:", " 2\nare ", "not her", "e\n"],
        ..Rule::TOKEN
    },
    Rule {
        name: "jwk-private-key",
        about: "the private members of JSON web keys",
        keywords: &["\"kty", "\"d\"", "\"d\\\"", "\"k\"", "\"k\\\""],
        follow: |byte| byte == b':' || byte.is_ascii_whitespace(),
        pattern: Pattern::Parsed(Sight::Lines, jwk::find),
        glance: jwk::glance,
        left: none,
        reach: 8 * 1024,
        hit: &[
            r#"{"kty":"#,
            r#""EC","c"#,
            r#"rv":"P-"#,
            r#"256","x"#,
            r#"":"sm2F"#,
            "C-R6YSR",
            "Qr_-jf0",
            "SaWl7dU",
            "bo11sFu",
            "WvPAX2L",
            r#"Jh8N",""#,
            r#"d":"oMt"#,
            "wh6c9eO",
            "nzxTBE8",
            "C4xJZwN",
            "9H-ZRl9",
            "CZgBrXJ",
            r#"hEb8V"}"#,
        ],
        miss: &[
            r#"{"kty":"#,
            r#""EC","c"#,
            r#"rv":"P-"#,
            r#"256","x"#,
            r#"":"5F1u"#,
            "1uPsHqI",
            "gtwaAtq",
            "kTIm97k",
            "Mcy1yl4",
            "Ae0_uNO",
            r#"NZjN",""#,
            r#"y":"7iU"#,
            "jrnY7p4",
            "bW8ELo6",
            "bAtLWMR",
            "YlGyzWo",
            "QNJ8Q5W",
            r#"lnsmq"}"#,
        ],
        ..Rule::TOKEN
    },
    Rule {
        name: "wireguard-key",
        about: "private and shared keys of WireGuard",
        rank: Rank::Generic,
        case: crate::rule::Case::Any,
        keywords: &["privatekey", "presharedkey"],
        pattern: Regex(
            r#"(?i)(?:private|preshared)key["']?[ \t]{0,8}[=:][ \t]{0,8}["']?([A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=)"#,
        ),
        hit: &["Private", "Key = w", "xyZe7lm", "Deup30j", "R2rAsX9", "Q0bZOFc", "HQyRN4n", "WAQLnus", "="],
        miss: &["Private", "Key = G", "MDTszzd", "zkrF91Q", "QlUI7p5", "rEiHvQs", "paKUEUv", "xj6eZs="],
        ..Rule::TOKEN
    },
    Rule {
        name: "signing-key-file",
        about: "secret keys of minisign and signify",
        keywords: &["RWRTY0Iy", "RWRCS"],
        pattern: Regex("RWR(?:TY0Iy[A-Za-z0-9+/]{203}|CS[A-Za-z0-9+/]{134})="),
        left: base64,
        right: base64,
        hit: &[
            "RWRTY0I", "yxrNWcu", "z07esXp", "ZwRqHFQ", "gesZ/n8", "S00K+70", "3poQ31d", "PgL3WPN",
            "iFp5FYg", "8nENYEi", "V1vC1pj", "mqp6aLF", "MdPwi45", "YsTDfNd", "6ONP/s8", "AzLhzOT",
            "8cwzEyg", "nNOJ1rQ", "41kvCNp", "zIxELIV", "oDMxCJq", "l7j4jfa", "KG2lvKy", "FwJdxte",
            "7Xa/hxi", "UP9eLwv", "o3E4GEH", "+C/Hezg", "5xPtc/3", "4HdjowE", "s=",
        ],
        miss: &[
            "RWRTY0I", "ygN2fOH", "/lvWGFu", "/6hO07U", "Bfq+rs6", "faE0slY", "M82jeDL", "GpE17lD",
            "UNRBfuZ", "hRw7YBW", "WgB1SFx", "u9AZB7N", "85+x+AX", "1jgJUJc", "xHYBInU", "htUrEpc",
            "PX5kWPG", "hMYE+fy", "tqeAN02", "9rHO5Ws", "AJ5ZrXT", "CnLVSBr", "fd9bMiB", "TpVEHl2",
            "pY/h+XQ", "K/JCuZz", "8vSElR2", "t9GNcYp", "UiZIgW/", "M8PGjde", "=",
        ],
        ..Rule::TOKEN
    },
    Rule {
        name: "jwt",
        about: "JSON web tokens, signed, unsigned or encrypted",
        keywords: &["eyJ"],
        follow: |byte| byte.is_ascii_alphanumeric(),
        pattern: Regex(r"eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{0,}\.[A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+){0,2}"),
        left: token,
        reach: 16 * 1024,
        check: |value| value.len() >= 40 && token_header(value),
        hit: &[
            "eyJhbGc", "iOiJIUz", "I1NiIsI", "nR5cCI6", "IkpXVCJ", "9.eyJzd", "WIiOiJt", "ZSIsIm4",
            "iOjQxfQ", ".SPVMHx", "8XRUdBj", "g01iJi7", "5WXerIN", "_U8ctyI", "DHCEaYa", "E_",
        ],
        miss: &[
            "eyJhbHM", "iOiJIUz", "I1NiIsI", "nR5cGUi", "OiJUIn0", ".eyJzdW", "IiOiJtZ", "SIsIm4i",
            "OjQxfQ.", "kQHSncO", "AYuyuuQ", "-LV1KU_", "EFUPwqi", "inNo59f", "u09gSGY", "Y",
        ],
        ..Rule::TOKEN
    },
    Rule {
        name: "jwt-encoded",
        about: "JSON web tokens in base64",
        keywords: &["ZXlK"],
        pattern: Regex("ZXlK[a-zA-Z0-9/+_-]{40,}={0,2}"),
        left: base64,
        reach: 16 * 1024,
        check: encoded_jwt,
        hit: &[
            "ZXlKaGJ", "HY2lPaU", "pJVXpJM", "U5pSXNJ", "blI1Y0N", "JNklrcF", "hWQ0o5L", "mV5Snpk",
            "V0lpT2l", "KdFpTSX", "NJbTRpT", "2pReGZR", "LkdHVlB", "4UUFxMX", "FJdXF6V", "0xEeGI4",
            "cklJMUd", "ZWHJndX", "BmeUtUc", "FpRZDl2", "Vmk=",
        ],
        miss: &["ZXlKtCZ", "31PsozU", "NAWjKyR", "SnIsZ3j", "Cl1gJ75", "q4FBhju", "4brKKjr", "Ozruo"],
        ..Rule::TOKEN
    },
    Rule {
        name: "password-hash",
        about: "hashes of passwords, as in shadow, htpasswd and user tables",
        keywords: &[
            "$2a$",
            "$2b$",
            "$2y$",
            "$2x$",
            "$6$",
            "$5$",
            "$1$",
            "$y$",
            "$apr1$",
            "$argon2",
            "$scrypt$",
            "pbkdf2_sha",
            "{SSHA",
        ],
        follow: |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'/'),
        pattern: Regex(concat!(
            r"(?:\$2[abxy]\$[0-9]{2}\$[./A-Za-z0-9]{53}",
            r"|\$6\$(?:rounds=[0-9]{1,9}\$)?[./A-Za-z0-9]{1,16}\$[./A-Za-z0-9]{86}",
            r"|\$5\$(?:rounds=[0-9]{1,9}\$)?[./A-Za-z0-9]{1,16}\$[./A-Za-z0-9]{43}",
            r"|\$(?:1|apr1)\$[./A-Za-z0-9]{1,8}\$[./A-Za-z0-9]{22}",
            r"|\$y\$[./A-Za-z0-9]{1,8}\$[./A-Za-z0-9]{1,86}\$[./A-Za-z0-9]{43}",
            r"|\$argon2(?:id|i|d)\$(?:v=[0-9]{1,3}\$)?m=[0-9]{1,9},t=[0-9]{1,4},p=[0-9]{1,3}\$[A-Za-z0-9+/]{8,}\$[A-Za-z0-9+/]{16,}",
            r"|\$scrypt\$ln=[0-9]{1,2},r=[0-9]{1,3},p=[0-9]{1,3}\$[A-Za-z0-9+/=]{8,}\$[A-Za-z0-9+/=]{16,}",
            r"|pbkdf2_sha(?:1|256|512)\$[0-9]{2,8}\$[A-Za-z0-9]{6,}\$[A-Za-z0-9+/]{27,}=?",
            r"|\{SSHA(?:256|512)?\}[A-Za-z0-9+/]{32,}={0,2})",
        )),
        left: none,
        right: |byte| word(byte) || byte == b'/',
        hit: &[
            "me:$2b$", "12$fEmx", "JqJdjea", "5WtQfal", "vEiYm3A", "EcAwZJz", "JdnJNQ0", "Nqrm8s3", "pZCK18U",
        ],
        miss: &[
            "me:$2b$", "12$dl2b", "8kIhRer", "wbWJteG", "Da4ne9x", "aXHqZpY", "7VFztZI", "0QXZXg7", "8Ez1TA",
        ],
        ..Rule::TOKEN
    },
    Rule {
        name: "card-number",
        about: "numbers of payment cards beside a word for them",
        keywords: &["card", "visa", "amex", "cc_num", "ccnum", "pan\"", "pan="],
        pattern: Regex(
            r#"(?i)(?:card|visa|amex|cc_num|ccnum|pan)[a-z _.-]{0,24}["']?[ \t]{0,4}[:=#]?[ \t]{0,4}["']?([3-6][0-9]{3}[ -]?[0-9]{4}[ -]?[0-9]{4}[ -]?[0-9]{1,7}|3[47][0-9]{2}[ -]?[0-9]{6}[ -]?[0-9]{5})"#,
        ),
        right: |byte| word(byte) || byte == b'-',
        reach: 128,
        check: |value| varied(value) && luhn(value),
        hit: &["card_nu", r#"mber: ""#, "5398 27", "07 1641", r#" 9039""#],
        miss: &["card_nu", r#"mber: ""#, "5398 27", "07 1641", r#" 9034""#],
        ..Rule::NAMED
    },
    Rule {
        name: "secure-string",
        about: "passwords that PowerShell turns into secure strings",
        keywords: &["convertto-securestring"],
        pattern: Regex(r#"(?i)convertto-securestring(?: -string)?[ ]{1,4}["']([^"'\n$][^"'\n]{5,})["']"#),
        check: not_dummy,
        hit: &["Convert", "To-Secu", "reStrin", r#"g "q56N"#, "baKjou!", r#"" -AsPl"#, "ainText"],
        miss: &["Convert", "To-Secu", "reStrin", r#"g "$wor"#, r#"d6584" "#, "-AsPlai", "nText"],
        ..Rule::NAMED
    },
    Rule {
        name: "yaml-block-secret",
        about: "values on the line below their name, as YAML allows",
        rank: Rank::Generic,
        keywords: &[": |\n", ": |-\n", ": >\n", ": >-\n", ": |+\n", ": >+\n"],
        pattern: Pattern::Parsed(Sight::Lines, crate::block::find),
        left: none,
        reach: 1024,
        hit: &["api_key", ": |-\n  ", "ZxOOCwt", "re5PuMg", "qvnVlnd", "ViI\nnex", "t: 1\n"],
        miss: &["api_not", "e: |-\n ", " tRnlwg", "jjxwlBb", "azGdzgu", "8I18\nne", "xt: 1\n"],
        ..Rule::TOKEN
    },
    Rule {
        name: "named-value",
        about: "values of entries that are called by a secret's name: name, then value",
        rank: Rank::Generic,
        keywords: &["value: ", "value\":", "value\\\":", "default = "],
        pattern: Pattern::Parsed(Sight::Line, crate::block::named),
        hit: &["- name:", " DB_PAS", "SWORD\n ", " value:", " Wnb4lu", "eWLg!\n"],
        miss: &["- name:", " DB_SCH", "EMA\n  v", "alue: L", "uBE98oF", "AX!\n"],
        ..Rule::TOKEN
    },
    Rule {
        name: "login-call",
        about: "passwords among the arguments of calls that log in",
        keywords: &[
            "auth=(",
            "basicauth(",
            "mysqli_connect(",
            "mysql_connect(",
            "dbi->connect(",
            "dbi.connect(",
            "networkcredential]::new(",
            "new mysqli(",
            "new pdo(",
            "networkcredential(",
            "pscredential(",
        ],
        pattern: Regex(
            r#"(?i)(?:auth=\(|basicauth\(|mysqli?_connect\(|dbi(?:->|\.)connect\(|networkcredential\]::new\(|new mysqli\(|new pdo\(|networkcredential\(|pscredential\()(?:[ ]?[^,()\n]{1,80},){1,2}[ ]?["']([^"'\n]{4,})["']"#,
        ),
        check: is_password,
        hit: &["request", "s.get(u", "rl, aut", r#"h=("me""#, r#", "T4l0"#, r#"reRy86""#, "))"],
        miss: &["request", "s.get(u", "rl, aut", r#"h=("me""#, r#", "pass"#, r#"word"))"#],
        ..Rule::NAMED
    },
    Rule {
        name: "password-in-prose",
        about: "passwords that a sentence tells, and those of redis.conf",
        keywords: &[
            "password is",
            "passwd is",
            "password was",
            "passphrase is",
            "requirepass ",
            "masterauth ",
        ],
        pattern: Regex(
            r#"(?i)(?:pass(?:word|wd|phrase) (?:is|was)(?: set to)?:?|requirepass|masterauth) ["'`]?([^\s"'`]{6,})"#,
        ),
        check: |value| is_password(value) && many_kinds(value),
        hit: &["your pa", "ssword ", "is u4lX", "wHajUQ4", "!"],
        miss: &["your pa", "ssword ", "is sha2", "56-enco", "ded"],
        ..Rule::NAMED
    },
    Rule {
        name: "secret-assignment",
        about: "values assigned to names such as password, secret, token or api_key",
        keywords: &crate::assignment::KEYWORDS,
        pattern: Pattern::Assignment,
        hit: &["passwor", r#"d = "OQ"#, "y6PdnNN", r#"w4C""#],
        miss: &["passwor", "d = os.", "environ", r#"["DB_PA"#, r#"SSWORD""#, "]"],
        ..Rule::NAMED
    },
];

/// Letters, digits and a sign, or both cases with a digit.
fn many_kinds(value: &[u8]) -> bool {
    let has = |test: fn(&u8) -> bool| value.iter().any(test);
    let signed = has(|byte| b"!@#$%^&*?+=".contains(byte));
    has(u8::is_ascii_digit)
        && has(u8::is_ascii_alphabetic)
        && (signed || (has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase)))
}

/// The text inside has the three letters that every such token begins with, and a dot.
fn encoded_jwt(value: &[u8]) -> bool {
    encode::decode_base64(value)
        .is_some_and(|inner| inner.starts_with(b"eyJ") && inner.contains(&b'.') && token_header(&inner))
}
