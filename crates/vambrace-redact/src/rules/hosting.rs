//! Smaller clouds, hosts, CDNs and registrars.

use super::structure::{random, vercel_checksum};
use crate::check::{jumbled, mixed};
use crate::rule::{Pattern::Beside, Pattern::Regex, Rule, base64, token, word};

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "heroku-key",
        about: "Heroku API keys",
        keywords: &["HRKU-"],
        pattern: Regex("HRKU-([A-Za-z0-9_-]{52,72})"),
        entropy: 3.0,
        hit: &[
            "HRKU-AA", "40_rmVU", "GTprgIw", "G-OhjyH", "4GzQoNv", "dZrqyLD", "04RNm7G", "emQddKI",
            "kflXrSZ", "X1",
        ],
        miss: &["HRKU-AA", "l2TKcI3", "_eQ6GdI", "FDf-yV"],
        ..Rule::TOKEN
    },
    Rule {
        name: "heroku-legacy-key",
        about: "Heroku API keys of older accounts beside the name",
        keywords: &["heroku"],
        pattern: Beside("[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}"),
        right: token,
        check: mixed,
        entropy: 2.5,
        hit: &["HEROKU_", "API_KEY", "=1c19ba", "f8-be84", "-9c2e-1", "d61-b2d", "896a3a8", "23"],
        miss: &["HEROKU_", "API_KEY", "=7b9f3f", "1a-dbf5", "-a769-f", "2f9-57d", "9a6894c", "e"],
        ..Rule::NAMED
    },
    Rule {
        name: "cloudflare-origin-key",
        about: "Cloudflare origin CA keys",
        keywords: &["v1.0-"],
        pattern: Regex(r"v1\.0-([a-f0-9]{24}-[a-f0-9]{100,}|[a-f0-9._-]{160,})"),
        entropy: 2.5,
        hit: &[
            "v1.0-97", "159005a", "864d183", "8a9d109", "d-bc654", "7274803", "4556e1d", "f4d8c8d",
            "c7c4137", "525d318", "11c90ed", "8d8d436", "dee889e", "14a5ca1", "2391491", "3e02253",
            "740aec5", "f0b15e3", "2a0bce7", "dcadf16", "8dbd091", "28178c4", "d167a94", "918c5b2",
            "5c791c3", "1",
        ],
        miss: &["v1.0-9e", "39330c5", "db48eb5", "06fbfc1", "0"],
        ..Rule::TOKEN
    },
    Rule {
        name: "cloudflare-token",
        about: "Cloudflare user, account and global keys",
        keywords: &["cfut_", "cfat_", "cfk_"],
        follow: word,
        pattern: Regex("cf(?:ut|at|k)_[A-Za-z0-9_-]{40,64}"),
        right: token,
        check: random,
        entropy: 3.5,
        hit: &["cfut_Dp", "NbzPrNv", "4RkTXQb", "NEmb9r7", "dX1H0Lt", "TzG5-JB", "CU5"],
        miss: &["cfut_4t", "J4bE7Gv", "ShFeNyA", "318Kymg", "P4Bcs_K", "vgJb4Cu", "PC"],
        ..Rule::TOKEN
    },
    Rule {
        name: "cloudflare-legacy-token",
        about: "Cloudflare API tokens beside the name",
        keywords: &["oudflare", "cf_api", "cf_token", "cf-api", "cf_dns", "cftoken"],
        pattern: Beside("[A-Za-z0-9_-]{40}"),
        right: token,
        check: random,
        entropy: 3.5,
        hit: &[
            "CLOUDFL", "ARE_API", "_TOKEN=", "K8OGiaN", "BQ5jPqg", "rXmScKa", "S4HfcjL", "OY-6kmc", "SoqUA",
        ],
        miss: &[
            "CLOUDFL", "ARE_API", "_TOKEN=", "J2Q3CFk", "1N5KgSS", "5EbgkPj", "GUGJkHv", "FPWOzCX", "g8lO",
        ],
        ..Rule::NAMED
    },
    Rule {
        name: "cloudflare-global-key",
        about: "Cloudflare global API keys beside the name",
        keywords: &["oudflare", "cf_api", "cf_global", "x-auth-key", "xauthkey", "cfglobal"],
        pattern: Beside("[a-f0-9]{37}"),
        right: token,
        check: mixed,
        entropy: 2.5,
        hit: &["X-Auth-", "Key: ba", "b4a512a", "7db3522", "f61ce54", "b212ac3", "a104451"],
        miss: &["X-Auth-", "Key: 25", "3d596ea", "e155677", "d794a27", "527f9fd", "ed49bc"],
        ..Rule::NAMED
    },
    Rule {
        name: "cloudflare-tunnel-token",
        about: "Cloudflare tunnel tokens",
        keywords: &["eyJhIjoi"],
        left: |byte| word(byte) || byte == b'+' || byte == b'/',
        pattern: Regex("eyJhIjoi[A-Za-z0-9+/_-]{100,}={0,2}"),
        entropy: 3.5,
        hit: &[
            "eyJhIjo", "iOg0c4A", "5g9oylf", "4nNJqjI", "YREMqCW", "6DTT1QX", "jO3c9IP", "xDsO4zc",
            "KOsKGn5", "70VeRCn", "tJdUQsB", "81JbQTK", "zJWUgse", "GCNLHxr", "bESKxYc", "Wzj",
        ],
        miss: &[
            "eyJhIjo", "io3wWff", "MScvSVg", "V1ZGrG8", "mZBJYEZ", "tchq6Db", "PTGVYJG", "SVl46CR",
            "osAt21A", "oqlgJjY", "iRzbt6i", "QgPl96p", "9flAzW8", "mf6rzfY", "ZCpzwYx", "Tt",
        ],
        ..Rule::TOKEN
    },
    Rule {
        name: "flyio-token",
        about: "Fly.io access tokens",
        keywords: &["fo1_", "fm1r_", "fm1a_", "fm2_"],
        pattern: Regex(r"(?:fo1_([A-Za-z0-9_-]{43})|fm(?:1[ar]|2)_([A-Za-z0-9+/=,_-]{80,}))"),
        reach: 4096,
        check: mixed,
        entropy: 3.0,
        hit: &["fo1_Lp5", "Vh1x8NC", "e4PUmnr", "B314Ryv", "R9z82Jo", "11KYVRd", "_2Uit"],
        miss: &["fo1_xxx", "xxxxxxx", "xxxxxxx", "xxxxxxx", "xxxxxxx", "xxxxxxx", "xxxxx"],
        ..Rule::TOKEN
    },
    Rule {
        name: "scalingo-token",
        about: "Scalingo API tokens",
        keywords: &["tk-us-"],
        pattern: Regex("tk-us-([A-Za-z0-9_-]{48})"),
        right: token,
        entropy: 2.5,
        hit: &["tk-us-R", "tG1IZQ-", "ojIGORC", "eXeOFMI", "0P-9dUH", "bHBOYsD", "zkih8nu", "LwCUu"],
        miss: &["tk-us-c", "ilI9f0k", "fBU3GJs", "FUS50"],
        ..Rule::TOKEN
    },
    Rule {
        name: "fastly-token",
        about: "Fastly API tokens beside the name",
        keywords: &["fastly"],
        pattern: Beside("[A-Za-z0-9_=-]{32}"),
        right: token,
        check: random,
        entropy: 3.5,
        hit: &["Fastly-", "Key: hC", "5H0nQjs", "5vdVuAQ", "Trh87hs", "k7Lg6s0", "FA"],
        miss: &["Fastly-", "Key: Qn", "gVIvl3u", "wiqM4Hu", "0QbA2gZ", "-D5xX7-", "c"],
        ..Rule::NAMED
    },
    Rule {
        name: "akamai-token",
        about: "Akamai client and access tokens",
        keywords: &["akab-"],
        pattern: Regex("akab-[a-z0-9]{16}-[a-z0-9]{16}"),
        right: token,
        check: mixed,
        entropy: 3.0,
        hit: &["akab-h5", "vm8o8ej", "691n5xx", "-pgm0e2", "x525ksx", "y5o"],
        miss: &["akab-4n", "3ldh1px", "8jdpfgp", "-ixwpjf", "23n7oru", "3e"],
        ..Rule::TOKEN
    },
    Rule {
        name: "akamai-secret",
        about: "Akamai client secrets beside the name",
        keywords: &["akamai", "edgegrid"],
        pattern: Beside("[A-Za-z0-9+/]{43}="),
        right: base64,
        check: mixed,
        entropy: 3.5,
        hit: &[
            "akamai_", "client_", "secret ", "= qHAwq", "vMm0xOF", "Z07qvtR", "NqrYPwc", "3lAPm68",
            "fdDGEhn", "TiU=",
        ],
        miss: &[
            "akamai_", "client_", "secret ", "= HcBIn", "uVfLKxd", "6aLCQkx", "zWju811", "xgHFt6N",
            "RdChHax", "dZ=",
        ],
        ..Rule::NAMED
    },
    Rule {
        name: "netlify-token",
        about: "Netlify tokens",
        keywords: &["nfp_", "nfc_", "nfu_", "nfb_"],
        pattern: Regex("nf[pcub]_[A-Za-z0-9_]{36,48}"),
        right: word,
        check: random,
        entropy: 3.3,
        hit: &["nfp_eQ5", "h6jBz2X", "ciAV2WV", "S8Zqln2", "fLo0AKd", "HuH94"],
        miss: &["nfp_oIT", "7hXMKA8", "tV106V0", "N9ZqrVD", "DfyJlDR", "X3NO"],
        ..Rule::TOKEN
    },
    Rule {
        name: "netlify-legacy-token",
        about: "Netlify tokens of older accounts beside the name",
        keywords: &["netlify"],
        pattern: Beside("(?:[a-f0-9]{60,64}|[A-Za-z0-9_-]{43,46})"),
        right: token,
        check: random,
        entropy: 3.3,
        hit: &[
            "NETLIFY", "_AUTH_T", "OKEN=r6", "GaKs0b4", "wG5u9Wj", "aNvCSEv", "TDfH12H", "NRz0ty8", "P71ZKe",
        ],
        miss: &[
            "NETLIFY", "_AUTH_T", "OKEN=Z6", "3YCwrR7", "4QbuzqT", "5jUCFVy", "3GNdZGo", "wOQaZl4", "wqVq6",
        ],
        ..Rule::NAMED
    },
    Rule {
        name: "vercel-token",
        about: "Vercel personal, integration, app and gateway tokens",
        keywords: &["vcp_", "vci_", "vca_", "vcr_", "vck_"],
        pattern: Regex("vc[piark]_([A-Za-z0-9_-]{56})"),
        right: token,
        check: vercel_checksum,
        entropy: 0.1,
        hit: &[
            "vcp_hAi", "UwJjhcH", "kr81Bv9", "s5AAous", "JzqJ5rZ", "fd2eHRB", "PZ024zc", "q7NeQNQ", "mEAp",
        ],
        miss: &[
            "vcp_58W", "NmTCIKO", "83XFb6K", "r1WZffo", "OKORVL5", "DpYKL4M", "R3u64xe", "QsYBWqF", "A8R",
        ],
        ..Rule::TOKEN
    },
    Rule {
        name: "vercel-legacy-token",
        about: "Vercel tokens of older accounts beside the name",
        keywords: &["vercel", "now_token", "zeit", "nowtoken"],
        pattern: Beside("[A-Za-z0-9]{24}"),
        right: token,
        check: |value| random(value) && jumbled(value),
        entropy: 3.3,
        hit: &["VERCEL_", "TOKEN=2", "lLtZA3L", "FXoQrlB", "M7h6GWM", "LZ"],
        miss: &["VERCEL_", "TOKEN=O", "mLturR9", "NWQyC24", "8sKsESm", "2"],
        ..Rule::NAMED
    },
    Rule {
        name: "render-key",
        about: "Render API keys",
        keywords: &["rnd_"],
        pattern: Regex("rnd_[A-Za-z0-9]{24,40}"),
        right: word,
        check: random,
        entropy: 3.3,
        hit: &["rnd_X1f", "kkjbd93", "oQGXy9K", "TUMAFGr"],
        miss: &["rnd_M14", "gENAsIr", "sD3mbLF", "ecbVja"],
        ..Rule::TOKEN
    },
    Rule {
        name: "railway-token",
        about: "Railway tokens beside the name",
        keywords: &["railway"],
        pattern: Beside("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"),
        right: token,
        check: mixed,
        entropy: 2.5,
        hit: &["RAILWAY", "_TOKEN=", "1a4b2ed", "b-702d-", "5449-22", "b6-2edb", "5d029b9", "8"],
        miss: &["RAILWAY", "_TOKEN=", "ed6f042", "8-eece-", "128d-a0", "e4-c955", "f4878d4"],
        ..Rule::NAMED
    },
    Rule {
        name: "deno-deploy-token",
        about: "Deno Deploy tokens",
        keywords: &["ddp_", "ddw_", "ddo_"],
        pattern: Regex("dd[pwo]_[A-Za-z0-9]{36}"),
        right: word,
        check: random,
        entropy: 3.3,
        hit: &["ddp_G0O", "46aC7tH", "c6ekaBM", "MjaTjIH", "D9YFBYw", "hae51"],
        miss: &["ddp_Kn8", "aQtg9wr", "IspZVbM", "56b6Rc6", "H1Fz7ut", "UMi3"],
        ..Rule::TOKEN
    },
    Rule {
        name: "koyeb-token",
        about: "Koyeb API tokens beside the name",
        keywords: &["koyeb"],
        pattern: Beside("[a-z0-9]{64}"),
        right: token,
        check: mixed,
        entropy: 3.0,
        hit: &[
            "KOYEB_T", "OKEN=d3", "t17glhe", "fbw3ytz", "a4oq3w0", "tdao4yr", "kaugwoh", "375eslh",
            "mu6tuth", "k9v4el6", "5c6982",
        ],
        miss: &[
            "KOYEB_T", "OKEN=k0", "409bbo3", "8ag7iub", "zneh46z", "prjvjs7", "yh2nc8f", "czbxh7f",
            "zu6crdb", "njw76yl", "lt1zy",
        ],
        ..Rule::NAMED
    },
    Rule {
        name: "bunny-key",
        about: "Bunny CDN keys beside the name",
        keywords: &["bunny_", "bunnyapi", "bunnykey", "bunnycdn", "bunny.net", "bunny-"],
        pattern: Beside(
            "(?:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}){1,2}|[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}-[a-f0-9]{4}-[a-f0-9]{4}",
        ),
        right: token,
        check: mixed,
        entropy: 2.5,
        hit: &["BUNNY_A", "PI_KEY=", "de83cb9", "6-c26a-", "4896-1b", "73-aca6", "e6d9514", "8"],
        miss: &["BUNNY_A", "PI_KEY=", "2cbd094", "9-8888-", "89b0-9f", "da-440c", "cdfb654"],
        ..Rule::NAMED
    },
    Rule {
        name: "godaddy-key",
        about: "GoDaddy API keys and secrets",
        keywords: &["sso-key "],
        pattern: Regex("(?i)sso-key[ ]([A-Za-z0-9_]{20,40}:[A-Za-z0-9]{20,24})"),
        right: word,
        entropy: 3.0,
        hit: &[
            "Authori", "zation:", " sso-ke", "y 0O8kX", "riknun1", "_THy91J", "VmHOH4i", "uu3ztei",
            "yo:J4Df", "1Mr39wk", "Vt5NkSt", "sgmR",
        ],
        miss: &[
            "Authori", "zation:", " sso-ke", "y lcNWg", "kf826ug", "_Us30gX", "VTKN6Rv", "xI3bhTX",
            "JJ:mPqm", "kVYdQ83", "ZSM8Qxh", "z",
        ],
        ..Rule::NAMED
    },
    Rule {
        name: "godaddy-key-field",
        about: "GoDaddy API keys beside the name",
        keywords: &["godaddy"],
        pattern: Beside("(?:[A-Za-z0-9]{8,14}_)?[A-Za-z0-9]{22}"),
        right: token,
        check: random,
        entropy: 3.3,
        hit: &["GODADDY", "_API_SE", "CRET=Ks", "5lBK7XD", "6zC7HKd", "FBmIBR"],
        miss: &["GODADDY", "_API_SE", "CRET=6j", "QGQXV88", "t2AKWqJ", "Slm2z"],
        ..Rule::NAMED
    },
    Rule {
        name: "dnsimple-token",
        about: "DNSimple tokens",
        keywords: &["dnsimple_"],
        pattern: Regex("dnsimple_[auost]_[A-Za-z0-9]{32,64}"),
        right: word,
        entropy: 3.0,
        hit: &["dnsimpl", "e_a_5Ub", "OiNTJZ3", "w5CkCKm", "AIl9a04", "CVKwqcB", "9"],
        miss: &["dnsimpl", "e_a_Msz", "SQyXUnU", "y6THGfq", "s73HMMx", "OFO0Dhb"],
        ..Rule::TOKEN
    },
    Rule {
        name: "porkbun-key",
        about: "Porkbun API keys",
        keywords: &["pk1_", "sk1_"],
        pattern: Regex("[ps]k1_[a-f0-9]{64}"),
        right: word,
        entropy: 2.5,
        hit: &[
            "sk1_05a", "2f07ce7", "e5e74d6", "23cbf12", "3765a82", "e049f63", "6dedbe3", "7930f85",
            "cfbadb3", "41bfe",
        ],
        miss: &[
            "sk1_ea3", "2992d17", "7fb08df", "21802bb", "341183e", "7f66571", "e4b5694", "6da1fe4",
            "14eab14", "b874",
        ],
        ..Rule::TOKEN
    },
    Rule {
        name: "namecheap-key",
        about: "Namecheap API keys beside the name",
        keywords: &["amecheap"],
        pattern: Beside("[a-f0-9]{32}"),
        right: token,
        check: mixed,
        entropy: 2.5,
        hit: &["NAMECHE", "AP_API_", "KEY=77f", "d50476f", "abd0f1b", "3852716", "b52aa5e", "8"],
        miss: &["NAMECHE", "AP_API_", "KEY=f42", "8e4769d", "c320ec4", "58dd3ed", "337e6de"],
        ..Rule::NAMED
    },
    Rule {
        name: "gandi-key",
        about: "Gandi API keys beside the name",
        keywords: &["gandi"],
        left: |byte| byte.is_ascii_alphabetic(),
        pattern: Beside("(?:[a-f0-9]{40}|[A-Za-z0-9]{24})"),
        right: token,
        check: random,
        entropy: 3.0,
        hit: &["GANDI_A", "PI_KEY=", "iQaGl0i", "rBipitl", "K0Nmo8O", "dIy"],
        miss: &["GANDI_A", "PI_KEY=", "Jzwqf01", "QKliq6y", "XwRg8lP", "eR"],
        ..Rule::NAMED
    },
    Rule {
        name: "platformsh-token",
        about: "Platform.sh API tokens beside the name",
        keywords: &["latformsh", "latform_sh", "upsun"],
        pattern: Beside("[A-Za-z0-9_-]{43}"),
        right: token,
        check: random,
        entropy: 3.5,
        hit: &[
            "PLATFOR", "MSH_CLI", "_TOKEN=", "gbEmwy2", "M1DUDzj", "t4dy8Cz", "4MVVBi0", "hTSZzS8",
            "p8wQB3f", "w",
        ],
        miss: &[
            "PLATFOR", "MSH_CLI", "_TOKEN=", "QNwmX-N", "tQ6EPsd", "1kogoDc", "LGWTbC_", "B4HFec6", "4VU1ZG6",
        ],
        ..Rule::NAMED
    },
];
