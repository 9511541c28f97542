//! Services and servers whose keys stand beside their name, and passwords of Windows commands.

use crate::check::{is_password, mixed};
use crate::rule::{
    Pattern::{Beside, Regex},
    Rule, base64, none,
};
use crate::rules::form::{BESIDE_HEX, BESIDE_MIXED, inside};

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "fal-key",
        about: "fal keys beside the name",
        keywords: &["fal_", "fal-", "fal.ai", "falai"],
        pattern: Beside("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}:[0-9a-f]{32}"),
        left: |byte: u8| byte.is_ascii_alphanumeric(),
        hit: &[
            "FAL_KEY", "=ff061b", "ff-4f82", "-f2e4-8", "63c-5a9", "d47d424", "ed:02a2", "49d1fc8",
            "6ac9511", "d79f14f", "0055626",
        ],
        miss: &[
            "FAL_KEY", "=1b78f1", "2f-0a3f", "-4ede-a", "27a-15d", "693cd2e", "5b:f7fb", "5c8aa87",
            "845b56c", "6c88b09", "e1a31c",
        ],
        ..BESIDE_HEX
    },
    Rule {
        name: "nessus-key",
        about: "keys that link a Nessus agent",
        keywords: &["nessus"],
        pattern: Beside("[0-9a-f]{64}"),
        hit: &[
            "nessusc", "li agen", "t link ", "--key=a", "2e15d9c", "75b243d", "3f5c7fe", "9d7cff4",
            "2e8232a", "04f32b2", "5c2d537", "8b1b97d", "a9e7a49",
        ],
        miss: &[
            "nessusc", "li agen", "t link ", "--key=0", "7fed5ac", "67d9b01", "a66cbe1", "70e06da",
            "8f0ac99", "76b940b", "8642634", "f27d10d", "c8f72d",
        ],
        ..BESIDE_HEX
    },
    Rule {
        name: "statuspage-key",
        about: "Statuspage keys beside the name",
        keywords: &["tuspage"],
        pattern: Beside("(?:[0-9a-f]{64}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})"),
        hit: &[
            "statusp", "age_key", " = 2543", "5f8ef54", "9b4f592", "ce01a3a", "33a87d3", "85b9361",
            "b63de90", "db79322", "e1c158c", "4386",
        ],
        miss: &[
            "statusp", "age_key", " = 49a7", "732afae", "332c587", "9f8e81a", "5c7c4cb", "ea26763",
            "b43b59e", "fa7bdea", "c1b8a35", "7e1",
        ],
        ..BESIDE_HEX
    },
    Rule {
        name: "salesloft-key",
        about: "Salesloft keys beside the name",
        keywords: &["esloft"],
        pattern: Beside("ak_[0-9a-f]{64}"),
        hit: &[
            "saleslo", "ft_key ", "= ak_d8", "38c520c", "9a0679f", "f1b43be", "9627ef5", "d0f4011",
            "ea30543", "e25f547", "78d3d52", "718c51",
        ],
        miss: &[
            "saleslo", "ft_key ", "= ak_fc", "3ae9e55", "9f476e2", "89b1784", "2f75e81", "c59fbfa",
            "2d89dbf", "6db765c", "0253ed8", "fb9c2",
        ],
        ..BESIDE_HEX
    },
    Rule {
        name: "yahoo-secret",
        about: "Yahoo client secrets beside the name",
        keywords: &["yahoo"],
        pattern: Beside("[0-9a-f]{40}"),
        hit: &[
            "yahoo c", "lient s", "ecret =", " 8e8886", "91e3ce5", "0143163", "a1b2dbc", "89bc947", "b022c1",
        ],
        miss: &[
            "yahoo c", "lient s", "ecret =", " 369c15", "1f85f1b", "c7f7ad3", "fc1dcb7", "1a38bcb", "59f6a",
        ],
        ..BESIDE_HEX
    },
    Rule {
        name: "ipstack-key",
        about: "ipstack keys beside the name",
        keywords: &["ipstack"],
        pattern: Beside("[0-9a-f]{32}"),
        hit: &["ipstack", "_key = ", "fc8a12a", "88593bd", "cba57a3", "8d23cb1", "fab9"],
        miss: &["ipstack", "_key = ", "51c0330", "e31d297", "536e932", "a6bb9d3", "fef"],
        ..BESIDE_HEX
    },
    Rule {
        name: "kickbox-key",
        about: "Kickbox keys beside the name",
        keywords: &["ickbox"],
        pattern: Beside("(?:test|live)_[A-Za-z0-9]{64}"),
        check: mixed,
        hit: &[
            "kickbox", "_key = ", "live_Rf", "Bk72N5Z", "2TyCFxW", "KEO0K2z", "y5GKTXY", "to4DSbp",
            "M8Lmi7s", "d7sLV0d", "SkahavH", "vlN06G",
        ],
        miss: &[
            "kickbox", "_key = ", "live_NC", "atnasT5", "nE9cttV", "oLUwDPG", "MZ6XIRq", "jxlUyde",
            "IUEYhEE", "hvX5K3I", "aRqCyHQ", "ckxrg",
        ],
        ..BESIDE_MIXED
    },
    Rule {
        name: "klaviyo-named-key",
        about: "Klaviyo keys of the other form beside the name",
        keywords: &["laviyo"],
        pattern: Beside("pk_[A-Za-z0-9]{34}"),
        check: mixed,
        hit: &["klaviyo", "_key = ", "pk_8oue", "AJc9Wpj", "0GShoGa", "ETFzrXf", "akPuoWy", "46"],
        miss: &["klaviyo", "_key = ", "pk_aoce", "6EpvOa1", "UmpFked", "C0LDzv4", "hZLkM1k", "u"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "storyblok-token",
        about: "Storyblok tokens beside the name",
        keywords: &["ryblok"],
        pattern: Beside("[A-Za-z0-9]{22}tt"),
        hit: &["storybl", "ok_toke", "n = 7YZ", "1hu5HrH", "94Hzc1t", "U6CqLtt"],
        miss: &["storybl", "ok_toke", "n = qRF", "emaafEJ", "2JcsPQ8", "XJtptt"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "anypoint-secret",
        about: "Anypoint secrets beside the name",
        keywords: &["anypoint"],
        pattern: Beside("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"),
        entropy: 2.0,
        hit: &["anypoin", "t_key =", " 7da88e", "44-0813", "-8004-e", "4d5-f12", "5e2089a", "3f"],
        miss: &["anypoin", "t_key =", " 508451", "1c-3ab0", "-f575-8", "742-833", "614bcc6", "f"],
        ..BESIDE_HEX
    },
    Rule {
        name: "event-grid-key",
        about: "Azure Event Grid keys",
        keywords: &["tgrid", "t_grid", "t-grid", "aeg-sas-key"],
        pattern: Beside("[A-Za-z0-9+/]{43}={1,2}"),
        right: base64,
        check: mixed,
        hit: &["aeg-sas", "-key: 1", "sTl6qlJ", "coDZifW", "y11iaiA", "XA5gLmy", "DXAWrih", "KmCyUSo", "="],
        miss: &["aeg-sas", "-key: s", "RzqmI46", "IyNhDML", "lSEbP1B", "YcJi93h", "PW17rwK", "jP/GVt="],
        ..BESIDE_MIXED
    },
    Rule {
        name: "asana-number",
        about: "Asana keys that are numbers",
        keywords: &["asana"],
        pattern: Regex(
            r#"(?i)asana(?:[_-]?(?:api|access|app))?[_-]?(?:key|token|secret)?["']?[ \t]{0,4}[:=][ \t]{0,4}["']?([0-9]{16})"#,
        ),
        right: inside,
        hit: &["asana_k", "ey = 96", "2865371", "1486815"],
        miss: &["asana_k", "ey = 12", "6369777", "080637"],
        ..BESIDE_HEX
    },
    Rule {
        name: "machine-key",
        about: "keys with which ASP.NET signs and encrypts",
        keywords: &["dationkey", "yptionkey"],
        pattern: Beside("(?i)[0-9a-f]{32,256}"),
        hit: &[
            "validat",
            "ionKey=",
            r#""4167B4"#,
            "1EFB49E",
            "684312A",
            "B5AAE76",
            "F9B9334",
            "A6AD866",
            "4CEC18B",
            "B13C9F1",
            "1C08CFD",
            r#"8A""#,
        ],
        miss: &["validat", "ionKey=", r#""3A7E2C"#, "FACEF06", "139AF48", "CBCBC6E", r#"E557""#],
        ..BESIDE_HEX
    },
    Rule {
        name: "kerberos-hash",
        about: "hashes of Kerberos answers, from which passwords are guessed",
        keywords: &["$krb5"],
        pattern: Regex(r"\$krb5(?:asrep|tgs|pa)\$[0-9]{1,2}\$([A-Za-z0-9@:.*$/_-]{64,})"),
        left: none,
        reach: 8192,
        hit: &[
            "$krb5as", "rep$23$", "d21bf78", "afad540", "b1ee4b0", "8a50a74", "9870$5d", "b70c6d4",
            "cd88a46", "6f86c55", "c0c8f63", "f5ff5a0", "d2f2585", "b4a3a3e", "d7ef563", "0a19d67",
            "278808e", "ca983d3", "d",
        ],
        miss: &[
            "$krb5as", "rep$23$", "74a1538", "ba35f13", "e0af79b", "00e1aed", "74d6$a0", "74b01fa",
            "d154b83", "e5d5",
        ],
        ..Rule::TOKEN
    },
    Rule {
        name: "psexec-password",
        about: "passwords for PsExec",
        keywords: &["psexec"],
        pattern: Regex(r#"(?i)psexec(?:64)?(?:\.exe)? [^\n|&]*? -p ["']?([^\s"'|&]{4,})"#),
        check: is_password,
        hit: &["psexec ", r#"\\host "#, "-u me -", "p t7f0b", "8k4"],
        miss: &["psexec ", r#"\\host "#, "-u me -", "p %word", "%"],
        ..Rule::NAMED
    },
    Rule {
        name: "windows-task-password",
        about: "passwords of scheduled tasks",
        keywords: &["schtasks"],
        pattern: Regex(r#"(?i)schtasks(?:\.exe)? [^\n|&]*?/rp ["']?([^\s"'|&]{4,})"#),
        check: is_password,
        hit: &["schtask", "s /crea", "te /ru ", "me /rp ", "t7au6t3", "w"],
        miss: &["schtask", "s /crea", "te /ru ", "me /rp ", "%word%"],
        ..Rule::NAMED
    },
    Rule {
        name: "windows-share-password",
        about: "passwords of network drives",
        keywords: &["net use "],
        pattern: Regex(
            r#"(?i)net use (?:[^\n|&]*?/user:[^\s]+ ["']?([^\s"'|&/*][^\s"'|&]{3,})|[^\n|& ]+ (?:\\\\[^\n|& ]+ )?["']?([^\s"'|&/*\\][^\s"'|&]{3,})["']? /user:)"#,
        ),
        reach: 200,
        check: is_password,
        hit: &["net use", r#" z: \\h"#, r#"ost\sha"#, "re /use", "r:me t7", "5k8aqp"],
        miss: &["net use", r#" z: \\h"#, r#"ost\sha"#, "re /use", "r:me %w", "ord%"],
        ..Rule::NAMED
    },
];
