//! What agents are built with: search, memory, tracing, speech, sandboxes.

use crate::check::{jumbled, mixed};
use crate::rule::{
    Pattern::{Beside, Regex},
    Rule, any, hex, token,
};
use crate::rules::form::{BESIDE_HEX, BESIDE_MIXED, PREFIXED, scattered};

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "langsmith-key",
        about: "LangSmith keys",
        keywords: &["lsv2_pt_", "lsv2_sk_"],
        pattern: Regex("lsv2_(?:pt|sk)_([0-9A-Fa-f]{32}_[0-9A-Fa-f]{10})"),
        entropy: 2.5,
        hit: &["lsv2_pt", "_76574f", "3f8c16d", "20aebfc", "6cf5e13", "3eb31_b", "0f4e9e6", "52"],
        miss: &["lsv2_pt", "_2d6ee3", "328c024", "e327f03", "33c32de", "42c61_0", "fddf350", "6"],
        ..PREFIXED
    },
    Rule {
        name: "langsmith-legacy-key",
        about: "LangSmith keys of the older form",
        keywords: &["ls__"],
        pattern: Regex("ls__([0-9a-f]{32})"),
        entropy: 2.5,
        hit: &["ls__fc0", "82ff4a0", "4e28540", "56d05dc", "faffd93", "4"],
        miss: &["ls__1ba", "fb62010", "7dfa11b", "c5f99af", "4505c6d"],
        ..PREFIXED
    },
    Rule {
        name: "pinecone-key",
        about: "Pinecone keys",
        keywords: &["pcsk_"],
        pattern: Regex("pcsk_([A-Za-z0-9]{5,6}_[A-Za-z0-9]{58,66})"),
        hit: &[
            "pcsk_r3", "hQwq_vR", "R9R59jp", "W2jdUPd", "sfhanav", "hN0a9wZ", "XgFUevm", "rdOtCZ3",
            "2I1DtG9", "kna4CpI", "Laz6B",
        ],
        miss: &[
            "pcsk_TN", "H5nV_x8", "x1K6gos", "r14OqSG", "xSoCZ6q", "N2Uj83d", "d7g5Cwv", "amh9jDJ", "VBZhqd",
        ],
        ..PREFIXED
    },
    Rule {
        name: "pinecone-legacy-key",
        about: "Pinecone keys of the older form beside the name",
        keywords: &["pinecone"],
        pattern: Beside("(?i)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"),
        hit: &["pinecon", "e_key =", " 6bfbfd", "e5-a1f1", "-77aa-e", "848-011", "4e6f929", "29"],
        miss: &["pinecon", "e_key =", " 9555c4", "11-ec72", "-7b0d-8", "ce3-859", "6b23ef1", "0"],
        ..BESIDE_HEX
    },
    Rule {
        name: "weaviate-key",
        about: "Weaviate keys beside the name",
        keywords: &["weaviate", "wcs_api", "wcd_api"],
        pattern: Beside("[A-Za-z0-9+/]{36,90}={0,2}"),
        hit: &["weaviat", "e_key =", " DTiDjN", "9NUsATI", "blsR3Io", "KhEflcf", "aS0SFgA", "nR"],
        miss: &["weaviat", "e_key =", " uIQgQp", "VY3Oc9w", "KCpQjBk", "wcIUmdW", "cED"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "qdrant-key",
        about: "Qdrant keys beside the name",
        keywords: &["qdrant"],
        pattern: Beside("[A-Za-z0-9_-]{36,60}"),
        hit: &[
            "qdrant_", "key = y", "tZuNPTv", "l78tEOy", "hwXFRTT", "oHg7diB", "qd5M8OY", "sd6Ku9U",
            "x9xoYLk", "17ab",
        ],
        miss: &["qdrant_", "key = A", "SyMgXiw", "c9jRqrU", "E8OP4Gj", "2eYZsuQ", "n"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "wandb-key",
        about: "Weights & Biases keys",
        keywords: &["wandb_v1_"],
        pattern: Regex("wandb_v1_([A-Za-z0-9_]{77})"),
        hit: &[
            "wandb_v", "1_AQyOj", "yk3Kye0", "Tg3NJX5", "3Lnr2pe", "XesunSg", "zzcwaEF", "GbCTiGE",
            "4YEcZjo", "Jakqh5x", "0CL5YnN", "hu2JvOg", "CW",
        ],
        miss: &[
            "wandb_v", "1_GTzKa", "1Qr15MC", "51DDlLY", "aV8J4MU", "e7GKxlQ", "MgxYYSk", "nwtJHqN",
            "PhTSuEd", "MrXh9f2", "YGXhyk7", "engU37Y", "C",
        ],
        ..PREFIXED
    },
    Rule {
        name: "wandb-legacy-key",
        about: "Weights & Biases keys of the older form beside the name",
        keywords: &["wandb", "weightsandbiases"],
        pattern: Beside("[0-9a-f]{40}"),
        hit: &["WANDB_A", "PI_KEY=", "6b4f7a8", "b79f0e5", "f986df3", "890efaf", "e0ac84e", "bbf8f"],
        miss: &["WANDB_A", "PI_KEY=", "945b11b", "7b58473", "60e5e8e", "9af4daa", "2314646", "f19c"],
        ..BESIDE_HEX
    },
    Rule {
        name: "voyage-key",
        about: "Voyage keys",
        keywords: &["pa-"],
        follow: |byte| byte.is_ascii_alphanumeric(),
        pattern: Regex("pa-([A-Za-z0-9_-]{43})"),
        left: token,
        check: jumbled,
        hit: &["pa-kV8m", "Go5tzgs", "Tq4cJqu", "aylORJ0", "GryG6hP", "xyyAnfn", "vBeD"],
        miss: &["pa-c6Eo", "MptKsUH", "MvZOZQk", "j1XcDqP", "8PQmTBg", "R-_WzHr", "l3C"],
        ..PREFIXED
    },
    Rule {
        name: "jina-key",
        about: "Jina keys",
        keywords: &["jina_"],
        pattern: Regex("jina_([0-9a-f]{32}[A-Za-z0-9_-]{28})"),
        hit: &[
            "jina_5e", "7327333", "0e21f97", "936bfa4", "23e5a65", "ccDBkhL", "VWTMt6O", "oO2vMge",
            "IhyQeBG", "3a",
        ],
        miss: &[
            "jina_01", "3f02633", "fe36cfb", "1b77cae", "72d6549", "67Jps9j", "eJslCbz", "HTv96AM",
            "0yXlprW", "O",
        ],
        ..PREFIXED
    },
    Rule {
        name: "tavily-key",
        about: "Tavily keys",
        keywords: &["tvly-"],
        pattern: Regex("tvly-((?:dev-|prod-)?[A-Za-z0-9-]{32,64})"),
        check: scattered,
        hit: &["tvly-de", "v-OQTOH", "DoIrzxG", "OOtt19m", "dja8SgJ", "FASY6F"],
        miss: &["tvly-hE", "2w680n9", "5IOmX8g", "zN8M"],
        ..PREFIXED
    },
    Rule {
        name: "firecrawl-key",
        about: "Firecrawl keys",
        keywords: &["fc-"],
        follow: hex,
        pattern: Regex("fc-([0-9a-f]{32})"),
        left: token,
        entropy: 2.5,
        hit: &["fc-4768", "92ea770", "7afdac4", "7271d2e", "4e3330e"],
        miss: &["fc-1c20", "beca8d9", "28edaef", "3d0a3ec", "99c006"],
        ..PREFIXED
    },
    Rule {
        name: "exa-key",
        about: "Exa keys beside the name",
        keywords: &["exa"],
        follow: |byte| !byte.is_ascii_alphanumeric(),
        pattern: Beside("(?i)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"),
        left: |byte: u8| byte.is_ascii_alphanumeric(),
        hit: &["EXA_API", "_KEY=ec", "46b11a-", "adb4-10", "2a-a5ab", "-0729ae", "1dff31"],
        miss: &["EXA_API", "_KEY=a3", "8d0a77-", "941e-64", "6b-1324", "-41ae8a", "962ec"],
        ..BESIDE_HEX
    },
    Rule {
        name: "serper-key",
        about: "Serper keys beside the name",
        keywords: &["serper"],
        pattern: Beside("[0-9a-f]{40}"),
        hit: &["serper_", "key = 4", "75f1433", "695838e", "00eb1b0", "766dd4f", "ad57be4", "aba9"],
        miss: &["serper_", "key = f", "65012bf", "a6e9bd9", "02e2ab6", "8f38f5d", "3a8ad74", "a57"],
        ..BESIDE_HEX
    },
    Rule {
        name: "serpapi-key",
        about: "SerpApi keys beside the name",
        keywords: &["serpapi", "serp_api"],
        pattern: Beside("[0-9a-f]{64}"),
        hit: &[
            "serpapi", "_key = ", "e95d85a", "05e57b2", "36d8cdc", "8730c84", "47b45b4", "9a56629",
            "f11396b", "504984e", "609f7d0", "d",
        ],
        miss: &[
            "serpapi", "_key = ", "beab36f", "95f8b81", "f59ccac", "c94af37", "cf69667", "b69468d",
            "4fd5310", "c682a67", "693a04a",
        ],
        ..BESIDE_HEX
    },
    Rule {
        name: "llamacloud-key",
        about: "LlamaCloud keys",
        keywords: &["llx-"],
        pattern: Regex("llx-([A-Za-z0-9]{40,60})"),
        left: token,
        hit: &["llx-xbA", "6QWxoUW", "CW48qob", "Msq0S1i", "DfwRfOa", "WIxTrhc", "3jm9aMz", "CZp"],
        miss: &["llx-coO", "38Eu2E1", "sp8mmwl", "O9irrQf", "WFrGjIU", "nA23PAK", "k"],
        ..PREFIXED
    },
    Rule {
        name: "e2b-key",
        about: "E2B keys",
        keywords: &["e2b_"],
        pattern: Regex("e2b_([0-9a-f]{40})"),
        entropy: 2.5,
        hit: &["e2b_c67", "5a6ae3e", "4d5d886", "f56acbc", "adf96ae", "4a266a1", "8b"],
        miss: &["e2b_042", "506740f", "e5db7c4", "afb6ca6", "5b0aa14", "768bd66", "1"],
        ..PREFIXED
    },
    Rule {
        name: "browserbase-key",
        about: "Browserbase keys",
        keywords: &["bb_live_", "bb_test_"],
        pattern: Regex("bb_(?:live|test)_([A-Za-z0-9_-]{27})"),
        hit: &["bb_live", "_XujptM", "dzKdypF", "8LpuZPX", "Ai2b1zX"],
        miss: &["bb_live", "_PnKgd7", "2Xu6L5a", "X0VFyPV", "vD0JYs"],
        ..PREFIXED
    },
    Rule {
        name: "mem0-key",
        about: "Mem0 keys",
        keywords: &["m0-"],
        follow: |byte| byte.is_ascii_alphanumeric(),
        pattern: Regex("m0-([A-Za-z0-9]{40})"),
        left: token,
        check: scattered,
        hit: &["m0-Yirc", "sUZENjj", "3u7i4DG", "bTrXjkm", "K1xlIzh", "3vm8MLX", "V"],
        miss: &["m0-woOr", "tAeNZsD", "flNn0dx", "OoqeDc9", "9Q9UcuK", "ficRvEJ"],
        ..PREFIXED
    },
    Rule {
        name: "helicone-key",
        about: "Helicone keys",
        keywords: &["sk-helicone-"],
        pattern: Regex("sk-helicone-([a-z0-9]{7}-[a-z0-9]{7}-[a-z0-9]{7}-[a-z0-9]{7})"),
        left: token,
        hit: &["sk-heli", "cone-1i", "ggn58-m", "re303q-", "wu93o4s", "-oyn6m5", "9"],
        miss: &["sk-heli", "cone-vo", "sxb72-0", "ofl5sc-", "061zjfo", "-9ctsrr"],
        ..PREFIXED
    },
    Rule {
        name: "friendli-token",
        about: "Friendli tokens",
        keywords: &["flp_"],
        pattern: Regex("flp_([A-Za-z0-9]{46})"),
        check: scattered,
        hit: &["flp_nM3", "Q6DHXRK", "LZrQ8aX", "YFK4MnI", "BFPmgub", "JLvs0Z2", "A5o3I8S", "v"],
        miss: &["flp_2ii", "apc8hyf", "5MzuyBY", "0bXa5mC", "2HPrENF", "bu10utp", "AMCJFYb"],
        ..PREFIXED
    },
    Rule {
        name: "cartesia-key",
        about: "Cartesia keys",
        keywords: &["sk_car_"],
        pattern: Regex("sk_car_([A-Za-z0-9_-]{20,48})"),
        hit: &["sk_car_", "RvMJ3II", "lSy2563", "pnFkzc9", "y"],
        miss: &["sk_car_", "QWF0oNe", "mVaEORx", "EfzuZ"],
        ..PREFIXED
    },
    Rule {
        name: "cursor-key",
        about: "Cursor keys",
        keywords: &["crsr_"],
        pattern: Regex("crsr_([0-9a-f]{64})"),
        entropy: 2.5,
        hit: &[
            "crsr_3f", "36a1e4d", "dd24478", "a08bee5", "e98bb56", "f32d57d", "2a51d4d", "3491c1e",
            "6f33bd2", "b4e7f7",
        ],
        miss: &[
            "crsr_1b", "3c82d54", "5b90a2b", "90959a3", "9487faf", "c5eddc0", "d0f8dc9", "cd8f74a",
            "fcad89f", "6ae3e",
        ],
        ..PREFIXED
    },
    Rule {
        name: "devin-key",
        about: "Devin keys and service users",
        keywords: &["apk_", "cog_"],
        follow: any,
        pattern: Regex("(?:apk_(?:user_)?([A-Za-z0-9+/]{80,180}={0,2})|cog_([a-z2-7]{52}))"),
        hit: &["cog_d3l", "5ctdkrx", "wddncwc", "x64ckoo", "mydefn7", "kwmgnos", "6id7jpe", "d2xv5ge"],
        miss: &["cog_3cm", "zujtefn", "oduwsr7", "hvdtz4a", "vygvvd3", "ubvv6rh", "suy4256", "ul6seo"],
        ..PREFIXED
    },
    Rule {
        name: "vercel-gateway-key",
        about: "Vercel AI gateway keys",
        keywords: &["vck_"],
        pattern: Regex("vck_([A-Za-z0-9]{56})"),
        hit: &[
            "vck_eNU", "66jJKnN", "YkKNtxz", "ZvLjH94", "zou0BLz", "ibDNkJv", "xr0iHHU", "R4WEQfw", "llN4",
        ],
        miss: &[
            "vck_YOq", "DzPlrrs", "lz4zNNo", "l1CAJjA", "4DBsebv", "EqszMS6", "jebVeNV", "O83Mn9R", "zy8",
        ],
        ..PREFIXED
    },
    Rule {
        name: "runpod-key",
        about: "RunPod keys",
        keywords: &["rpa_"],
        pattern: Regex("rpa_([A-Z0-9]{40}[A-Za-z0-9]{0,8})"),
        check: scattered,
        hit: &["rpa_SRJ", "LGDWLVD", "PH5RR0Y", "KU6W2B1", "RPJYKPJ", "087VIPR", "YY"],
        miss: &["rpa_N8X", "XK127VH", "2F2D7U6", "K8CY3KU", "HR05RRM", "3IIG6YY", "T"],
        ..PREFIXED
    },
    Rule {
        name: "anyscale-key",
        about: "Anyscale keys",
        keywords: &["esecret_", "aph0_"],
        pattern: Regex("(?:esecret_([a-z0-9]{26})|aph0_([A-Za-z0-9_]{40,}))"),
        hit: &["esecret", "_u1ir7f", "qxgac5l", "8epmax1", "fkm3gd"],
        miss: &["esecret", "_n4304e", "fxu9ne3", "ixfxqdm", "ptqer"],
        ..PREFIXED
    },
    Rule {
        name: "modal-token",
        about: "Modal token ids and secrets",
        keywords: &["ak-", "as-"],
        follow: |byte| byte.is_ascii_alphanumeric(),
        pattern: Regex("a[ks]-([A-Za-z0-9]{22})"),
        left: token,
        check: jumbled,
        hit: &["ak-KHaS", "E3mW942", "WYSeRyf", "6lLO"],
        miss: &["ak-cBO4", "IsZ0BaE", "Pegnjmu", "3QC"],
        ..PREFIXED
    },
    Rule {
        name: "dify-key",
        about: "Dify application keys",
        keywords: &["app-"],
        pattern: Regex("app-([A-Za-z0-9]{24})"),
        left: token,
        check: jumbled,
        hit: &["app-gcy", "dsNoVsq", "3neZDIJ", "RRl9VHg"],
        miss: &["app-ko3", "oPPPKaP", "mhgN3Fw", "syXSMC"],
        ..PREFIXED
    },
    Rule {
        name: "voiceflow-key",
        about: "Voiceflow keys",
        keywords: &["VF."],
        follow: any,
        pattern: Regex(r"VF\.(?:DM\.|WS\.)?([0-9a-f]{24}\.[A-Za-z0-9]{16})"),
        hit: &["VF.DM.3", "d34dc55", "2c3fffc", "8661611", "95.SjyF", "wa8E0CA", "exNw6"],
        miss: &["VF.DM.d", "8a2b059", "57ecbc1", "bf4beb6", "47.l7Nu", "4E6E1o2", "o9LQ"],
        ..PREFIXED
    },
    Rule {
        name: "coze-token",
        about: "Coze tokens",
        keywords: &["pat_"],
        pattern: Regex("pat_([A-Za-z0-9]{64})"),
        check: mixed,
        hit: &[
            "pat_HRl", "1CCwnUk", "ZPRdGfy", "QO47ECN", "KLRjnkq", "DTpYoEX", "w3PAAPw", "AUtYnNH",
            "gRl7oZ5", "LPsbo",
        ],
        miss: &[
            "pat_fne", "TT3DAE5", "blvLYOG", "Lia2MhA", "HM0NYON", "MYm0f36", "Xx5vQrl", "GIq5al9",
            "oq0QfJX", "Kx8U",
        ],
        ..PREFIXED
    },
    Rule {
        name: "you-key",
        about: "You.com keys",
        keywords: &["ydc-sk-"],
        pattern: Regex("ydc-sk-([0-9a-f-]{36,100})"),
        entropy: 2.5,
        hit: &["ydc-sk-", "588bbc2", "6-cbf2-", "5dcf-2a", "35-a6ba", "ec59eb7", "7"],
        miss: &["ydc-sk-", "85f1ac9", "2091e4f", "90"],
        ..PREFIXED
    },
    Rule {
        name: "agentops-key",
        about: "AgentOps keys beside the name",
        keywords: &["agentops"],
        pattern: Beside("(?i)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"),
        hit: &["agentop", "s_key =", " 255b5c", "32-51fd", "-7ce3-c", "85e-38b", "2c9b710", "46"],
        miss: &["agentop", "s_key =", " 133e67", "a0-520b", "-884a-7", "b8f-90d", "c6c0e38", "a"],
        ..BESIDE_HEX
    },
    Rule {
        name: "baseten-key",
        about: "Baseten keys beside the name",
        keywords: &["seten"],
        pattern: Beside(r"[A-Za-z0-9]{8}\.[A-Za-z0-9]{32}"),
        hit: &["baseten", "_key = ", "Q6a8I4f", "k.6cFt3", "hPmvgY7", "RKhVtNp", "mI9vVQP", "LF7MTW"],
        miss: &["baseten", "_key = ", "8oYBvGt", "j.2uvKm", "Fd3Kowp", "eJdDTcu", "ycLnBNG", "H2nIg"],
        ..BESIDE_MIXED
    },
];
