//! Providers of models.

use crate::check::{jumbled, mixed, odd};
use crate::rule::{
    Pattern::{Beside, Regex},
    Rule, hex, none, token,
};
use crate::rules::form::{BESIDE_HEX, BESIDE_MIXED, PREFIXED, cased, model_key, scattered};

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "anthropic-key",
        about: "Anthropic API and admin keys",
        keywords: &["sk-ant-api", "sk-ant-admin"],
        pattern: Regex("sk-ant-(?:api|admin)[0-9]{2,4}-([A-Za-z0-9_-]{93}AA)"),
        check: scattered,
        hit: &[
            "sk-ant-", "api03-E", "KudltSC", "I--ftV3", "KE2NJ3c", "tlQJRmu", "AEhRm_7", "zy2DDMG",
            "LxqvoUm", "aiNUTP5", "_NR1_8Q", "yxWxyQ2", "w1zUmK0", "7a2LIra", "syXtszj", "lAA",
        ],
        miss: &[
            "sk-ant-", "api03-g", "jGrQqOA", "j3MqKxX", "ceGu9c2", "omXrcLS", "Rt610J_", "wZooAG5",
            "zPSb5_D", "Wg8frHC", "cQ1iyDn", "tImhCeE", "4Gg-aFS", "KLUBkSn", "MlUwYy4", "8BB",
        ],
        ..PREFIXED
    },
    Rule {
        name: "anthropic-oauth-token",
        about: "Anthropic sign-in tokens and session keys",
        keywords: &["sk-ant-oat", "sk-ant-ort", "sk-ant-sid"],
        pattern: Regex("sk-ant-(?:oat|ort|sid)[0-9]{2}-([A-Za-z0-9_-]{40,})"),
        check: scattered,
        hit: &[
            "sk-ant-", "oat01-s", "ymEFcab", "qm1iMsQ", "p1cUfuD", "vM2mw-V", "wC0lZo9", "NWY8iVf",
            "7eRv0w-", "M3LeCeA", "WmvYcbR", "Ny7NpJP", "jLw1FAZ", "72cnGQ1", "8BV15IS", "p0q",
        ],
        miss: &["sk-ant-", "oat01-h", "Wn64Ymr", "vH9dJ-3", "JRZe86Z", "I4Ct8gd", "q"],
        ..PREFIXED
    },
    Rule {
        name: "openrouter-key",
        about: "OpenRouter keys",
        keywords: &["sk-or-v1-"],
        pattern: Regex("sk-or-v1-([0-9a-f]{64})"),
        left: token,
        entropy: 2.5,
        hit: &[
            "sk-or-v", "1-aefda", "f6d90b7", "ef84b72", "13d3eb4", "e614eea", "d99665e", "1d226a0",
            "773ef6d", "ed9c469", "169",
        ],
        miss: &[
            "sk-or-v", "1-fd0ef", "10fade3", "36933e5", "0c58809", "37a5e5f", "325508a", "a9b176d",
            "0c8f333", "351a969", "35",
        ],
        ..PREFIXED
    },
    Rule {
        name: "langfuse-key",
        about: "Langfuse keys",
        keywords: &["sk-lf-", "pk-lf-"],
        pattern: Regex("[sp]k-lf-([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})"),
        left: token,
        entropy: 2.5,
        hit: &["sk-lf-e", "4cc3381", "-70eb-3", "db2-bba", "a-d7949", "f01a72b"],
        miss: &["sk-lf-c", "30fee98", "-54c9-b", "b7d-0ab", "7-c7dce", "503f7d"],
        ..PREFIXED
    },
    Rule {
        name: "minimax-key",
        about: "MiniMax keys",
        keywords: &["sk-api-"],
        pattern: Regex("sk-api-([A-Za-z0-9_-]{100,130})"),
        left: token,
        hit: &[
            "sk-api-", "Pn8IsUR", "UOlX3hX", "q1ItSXn", "IWjgbVC", "pvdWUNY", "AgyXSnc", "eu_W4xr",
            "0Zn6rLb", "lSRdJZP", "tPW3adw", "bSOuIDE", "hWGzl6j", "EwNP3Fe", "pAkVgx_", "Y4vMJH9",
            "cLgy4yt", "BHA1Oqw",
        ],
        miss: &[
            "sk-api-", "x3ppTgZ", "NZ56BJn", "jcAgDrL", "RpDUcAg", "euDGCCR", "Qo-MGRk", "WwjMk4u",
            "XfRuqMZ", "kFhtlu8", "DgLzHH9", "0bCZNbO", "zWtuVbX", "n3k2nn",
        ],
        ..PREFIXED
    },
    Rule {
        name: "openai-project-key",
        about: "OpenAI project, service account and admin keys",
        keywords: &["sk-proj-", "sk-svcacct-", "sk-admin-", "sk-None-"],
        pattern: Regex(
            "sk-(?:proj|svcacct|admin|None)-([A-Za-z0-9_-]{20,80}T3BlbkFJ[A-Za-z0-9_-]{20,80}|[A-Za-z0-9_-]{40,200})",
        ),
        left: token,
        check: model_key,
        hit: &[
            "sk-proj", "-Q6CFyq", "VnG_AM8", "I-saJYD", "AOTR0-7", "FxjZBha", "WBsU_CD", "7frxNmR",
            "OnT2DgI", "Nd_jS4O", "NVWtjV1", "TzoqoT3", "BlbkFJZ", "Fbknlya", "gGqmwI0", "-vRblQl",
            "H_YVs8T", "SzyJDv6", "qy2Xmjt", "hzTQiEx", "hg0Pirv", "HlD0-2t", "EHe7hQx", "9QI",
        ],
        miss: &["sk-proj", "-mJMmPx", "HgSU7PD", "8jBS2WS"],
        ..PREFIXED
    },
    Rule {
        name: "openai-key",
        about: "OpenAI keys of the first form, and those of services that copy it",
        keywords: &["sk-"],
        follow: token,
        pattern: Regex("sk-([A-Za-z0-9]{20,}[A-Za-z0-9_-]{0,})"),
        left: token,
        right: none,
        check: model_key,
        hit: &["sk-62pW", "yDNXhYz", "5p1YGuO", "CNT3Blb", "kFJ2bsL", "qk3RwhO", "EuKuU85", "WB"],
        miss: &["sk-skel", "eton-lo", "ading-a", "nimatio", "n-item"],
        ..PREFIXED
    },
    Rule {
        name: "openai-session-key",
        about: "OpenAI session keys",
        keywords: &["sess-"],
        pattern: Regex("sess-([A-Za-z0-9]{40})"),
        left: token,
        check: scattered,
        hit: &["sess-jw", "J9V6iEc", "QYpgMbh", "51C6uoQ", "xyug7F5", "SKYDmYq", "liC"],
        miss: &["sess-kY", "ZetYbru", "Uh2mG9q", "qm1xaxo", "KYT3NUs", "6ZfpsQR", "Jq"],
        ..PREFIXED
    },
    Rule {
        name: "groq-key",
        about: "Groq keys",
        keywords: &["gsk_"],
        pattern: Regex("gsk_([A-Za-z0-9]{52})"),
        check: mixed,
        hit: &["gsk_NDa", "SlfgNr4", "wiF40VN", "9bQHvgR", "i1Q9AH6", "Ukb1LuG", "HbsY0RA", "rrraZ1Z"],
        miss: &["gsk_QHF", "gwdKfqa", "TnYfznW", "VfxF8lg", "Zh0wWyG", "o5ydaFC", "7DpMrEt", "b4w1BP"],
        ..PREFIXED
    },
    Rule {
        name: "huggingface-token",
        about: "Hugging Face user and organization tokens",
        keywords: &["hf_", "api_org_"],
        follow: |byte| byte.is_ascii_alphanumeric(),
        pattern: Regex("(?:hf_|api_org_)([A-Za-z0-9]{34,40})"),
        check: |value| cased(value) || odd(value),
        hit: &["hf_sTbj", "iVVLKMc", "iODoZve", "DaMOCpw", "axwehIc", "ui"],
        miss: &["hf_ever", "yOrdina", "ryIdent", "ifierOf", "ThisLen", "gth"],
        ..PREFIXED
    },
    Rule {
        name: "replicate-token",
        about: "Replicate tokens",
        keywords: &["r8_"],
        follow: |byte| byte.is_ascii_alphanumeric(),
        pattern: Regex("r8_([A-Za-z0-9]{37})"),
        check: mixed,
        hit: &["r8_2JKp", "BeBo8fz", "LUm3B1V", "HHAH59c", "6m6PIdf", "C2zbG"],
        miss: &["r8_nBef", "LhgiLYj", "8XO4Sae", "lkNTGIu", "BJ5qLoq", "0eJr"],
        ..PREFIXED
    },
    Rule {
        name: "perplexity-key",
        about: "Perplexity keys",
        keywords: &["pplx-"],
        pattern: Regex("pplx-([A-Za-z0-9]{48})"),
        hit: &["pplx-ur", "8m3CU63", "Mbu042H", "WkpRpYI", "tq4RZ6h", "mJjri8m", "8Varj8F", "JXzb"],
        miss: &["pplx-m1", "vLtSdkY", "NxGp6Cb", "xfr59Jd", "WbotVrM", "bGVJ5Ac", "BiiujiN", "shQ"],
        ..PREFIXED
    },
    Rule {
        name: "xai-key",
        about: "xAI keys",
        keywords: &["xai-"],
        pattern: Regex("xai-([A-Za-z0-9_-]{70,120})"),
        left: token,
        check: scattered,
        hit: &[
            "xai-F0x", "iHij6Mj", "MNJfrMr", "x8DyGIY", "p8ywnAT", "SPvWlDl", "zNIRNeQ", "BYd9JI2",
            "NwhSxtb", "vujJpJ8", "uP9zX4s", "U6aNiLk",
        ],
        miss: &[
            "xai-DgO", "kzFT0YG", "QyA4HXQ", "Kdg8c9S", "SCcifBQ", "30wSlJ8", "fQh6pzM", "qjqp5M8",
            "z0WnRBL", "n",
        ],
        ..PREFIXED
    },
    Rule {
        name: "together-key",
        about: "Together keys",
        keywords: &["tgp_v1_"],
        pattern: Regex("tgp_v1_([A-Za-z0-9_-]{43})"),
        hit: &["tgp_v1_", "YWCcpyw", "QL3ejLB", "8VCggXR", "2qu8CQE", "cHlL-Y7", "6TEqPr8", "I"],
        miss: &["tgp_v1_", "WBeXEl6", "5A8vfwA", "CNj4_5R", "UjyReWG", "lh0WBN3", "iUBE_-P"],
        ..PREFIXED
    },
    Rule {
        name: "together-legacy-key",
        about: "Together keys of the older form beside the name",
        keywords: &["together"],
        pattern: Beside("[0-9a-f]{64}"),
        hit: &[
            "TOGETHE", "R_API_K", "EY=3704", "2d115ec", "cb6bf5f", "cd4833d", "b4d28df", "9eaa98d",
            "76c9e14", "42ac325", "8c964d1", "888d",
        ],
        miss: &[
            "TOGETHE", "R_API_K", "EY=652e", "8dbd214", "69a32fc", "c6b32ba", "5b8b727", "97ff96c",
            "db92c3d", "deae109", "8c03b15", "81e",
        ],
        ..BESIDE_HEX
    },
    Rule {
        name: "fireworks-key",
        about: "Fireworks keys",
        keywords: &["fw_"],
        follow: |byte| byte.is_ascii_alphanumeric(),
        pattern: Regex("fw_([A-Za-z0-9]{22,24})"),
        check: jumbled,
        hit: &["fw_jd5I", "SP6IG87", "E6OuJUH", "E0OKZX"],
        miss: &["fw_skeS", "4vQbuew", "HpQ929I", "M6w"],
        ..PREFIXED
    },
    Rule {
        name: "cerebras-key",
        about: "Cerebras keys",
        keywords: &["csk-"],
        pattern: Regex("csk-([a-z0-9]{48})"),
        left: token,
        check: scattered,
        hit: &["csk-xz8", "pfsxs8q", "0f743jg", "cogax47", "pepnxi4", "6so4yzj", "pxeimjm", "k4j"],
        miss: &["csk-3e1", "4h0ovwp", "j9p1ro2", "esow6f8", "e7kisdx", "nlhp5br", "0jybhqe", "3d"],
        ..PREFIXED
    },
    Rule {
        name: "nvidia-key",
        about: "NVIDIA model keys",
        keywords: &["nvapi-"],
        pattern: Regex("nvapi-([A-Za-z0-9_-]{60,70})"),
        hit: &[
            "nvapi-E", "DynKFL5", "qByKm5_", "vaIzHKh", "ANwbVEJ", "MXMH8Sx", "5UyN0QH", "cdkm--_",
            "Kz5P6i4", "1JZ7daj",
        ],
        miss: &["nvapi-I", "SdM6FIv", "P3q5xSy", "aWloVNn", "xc9V8xh", "YcHKyMv", "99KYKCY", "FvaLYr0"],
        ..PREFIXED
    },
    Rule {
        name: "elevenlabs-key",
        about: "ElevenLabs keys",
        keywords: &["sk_"],
        follow: hex,
        pattern: Regex("sk_([0-9a-f]{48})"),
        entropy: 2.5,
        hit: &["sk_11cb", "c1f4ec3", "b921409", "ab1fc9a", "cbe92c2", "ed0a4dc", "0dfa762", "8e"],
        miss: &["sk_15d0", "b69b884", "d1685d7", "2fddba4", "4935bb5", "76c4e16", "842416e", "8"],
        ..PREFIXED
    },
    Rule {
        name: "elevenlabs-legacy-key",
        about: "ElevenLabs keys of the older form beside the name",
        keywords: &["elevenlabs", "eleven_labs", "xi-api-key", "xi_api_key"],
        pattern: Beside("[0-9a-f]{32}"),
        hit: &["elevenl", "abs_key", " = 4eda", "50dbdbc", "e454ec9", "d02a305", "06e77b8"],
        miss: &["elevenl", "abs_key", " = 977a", "ccfc2cb", "1503a7c", "fcd48a0", "cb369d"],
        ..BESIDE_HEX
    },
    Rule {
        name: "mistral-key",
        about: "Mistral keys beside the name",
        keywords: &["mistral"],
        pattern: Beside("[A-Za-z0-9]{32}"),
        hit: &["mistral", "_key = ", "W4tcXRZ", "999DXpZ", "3T5AR0T", "svw8kNh", "K1hj"],
        miss: &["mistral", "_key = ", "q3Ce94g", "rd1QWIc", "8o60rzy", "NSxMOTc", "449"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "cohere-key",
        about: "Cohere keys beside the name",
        keywords: &["cohere", "co_api_key"],
        pattern: Beside("[A-Za-z0-9]{40}"),
        hit: &["cohere_", "key = 1", "ZiWzMuq", "jypIWLf", "hUX3ANc", "WxrWT40", "1TjYMrG", "zf09"],
        miss: &["cohere_", "key = j", "CefTyH9", "h4XuI10", "Fb4gWJP", "9RDuAMQ", "NhulJU1", "ADe"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "assemblyai-key",
        about: "AssemblyAI keys beside the name",
        keywords: &["blyai", "bly_ai"],
        pattern: Beside("[0-9a-z]{32}"),
        hit: &["assembl", "yai_key", " = 3f4e", "c08aed3", "afe1458", "cf83988", "675fc7d"],
        miss: &["assembl", "yai_key", " = 67c7", "0319f8f", "d50e510", "492b734", "7de8ff"],
        ..BESIDE_HEX
    },
    Rule {
        name: "deepgram-key",
        about: "Deepgram keys beside the name",
        keywords: &["deepgram"],
        pattern: Beside("[0-9a-f]{40}"),
        hit: &["deepgra", "m_key =", " 403c54", "4eaba11", "670802c", "9c5ec93", "2ab601a", "ea877b"],
        miss: &["deepgra", "m_key =", " 82925a", "34e6a4f", "a82f4e9", "b8f51a7", "eec5f36", "26693"],
        ..BESIDE_HEX
    },
    Rule {
        name: "ai21-key",
        about: "AI21 keys beside the name",
        keywords: &["ai21"],
        pattern: Beside("(?:[A-Za-z0-9]{32}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})"),
        hit: &["ai21_ke", "y = bhC", "EUC6Hb9", "zpBAG8N", "n0HlBMg", "DusIp3h", "R"],
        miss: &["ai21_ke", "y = XyX", "iWoFaF4", "MXodX7d", "0C0YeXR", "riGRr11"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "deepinfra-key",
        about: "DeepInfra keys beside the name",
        keywords: &["deepinfra"],
        pattern: Beside("[A-Za-z0-9]{32}"),
        hit: &["deepinf", "ra_key ", "= zJO8I", "t0wcrNE", "uHoYKtw", "6JItRK6", "3D83GV"],
        miss: &["deepinf", "ra_key ", "= 2cM3z", "rWIfSTV", "fqLEKYC", "MTeWN93", "jRWPo"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "sambanova-key",
        about: "SambaNova keys beside the name",
        keywords: &["sambanova"],
        pattern: Beside("(?i)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"),
        hit: &["sambano", "va_key ", "= e3e49", "a95-2c0", "6-951e-", "be0e-e4", "c3c0f34", "cd2"],
        miss: &["sambano", "va_key ", "= a9e3d", "01f-175", "c-abad-", "d35e-5a", "0a5151f", "21"],
        ..BESIDE_HEX
    },
    Rule {
        name: "zai-key",
        about: "Z.ai and Zhipu keys beside the name",
        keywords: &["zhipu", "zai_", "z_ai_", "z.ai", "bigmodel", "glm_"],
        pattern: Beside(r"[0-9A-Fa-f]{32}\.[A-Za-z0-9]{16}"),
        hit: &[
            "zhipu_k", "ey = 60", "7d939c8", "f186b6a", "6f4d906", "01fcb8f", "bb.tCRT", "mtQmkB1", "H45rh",
        ],
        miss: &[
            "zhipu_k", "ey = 53", "f42ae2a", "a7bd515", "4440d0d", "fefafe2", "04.1bnK", "sK1l9W3", "BQLw",
        ],
        ..BESIDE_MIXED
    },
    Rule {
        name: "ollama-key",
        about: "Ollama keys beside the name",
        keywords: &["ollama"],
        pattern: Beside(r"[0-9a-f]{32}\.[A-Za-z0-9_-]{24}"),
        hit: &[
            "ollama_", "key = 5", "ac39fd8", "d5ff181", "fdff1b0", "0bc146f", "c8d.3T8", "cvJqcPq",
            "ORVYv5q", "1pdT1bL",
        ],
        miss: &[
            "ollama_", "key = 3", "a224be0", "3a82477", "df317de", "2048872", "35b.x3p", "d0BBvw9",
            "C35V8x1", "k8IkwW",
        ],
        ..BESIDE_MIXED
    },
    Rule {
        name: "upstage-key",
        about: "Upstage keys beside the name",
        keywords: &["upstage"],
        pattern: Beside("[A-Za-z0-9_]{40,50}"),
        hit: &["upstage", "_key = ", "e4XI6P0", "DJ7jPai", "xtWJUtv", "nkLaE6t", "FlASZVy", "CXiczCj", "uU"],
        miss: &["upstage", "_key = ", "6UoVn0Y", "ddsSKDm", "wulXgUj", "bf29XC6", "mT"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "clarifai-key",
        about: "Clarifai keys beside the name",
        keywords: &["clarifai"],
        pattern: Beside("[0-9a-f]{32}"),
        hit: &["clarifa", "i_key =", " f34fe2", "5f2bfc0", "820a249", "144682c", "d0aef"],
        miss: &["clarifa", "i_key =", " 34f8e3", "54c918e", "016bc28", "ec99320", "8bd1"],
        ..BESIDE_HEX
    },
    Rule {
        name: "runway-key",
        about: "Runway and Cursor keys",
        keywords: &["key_"],
        follow: hex,
        pattern: Regex("key_([0-9a-f]{64}(?:[0-9a-f]{64})?)"),
        entropy: 2.5,
        hit: &[
            "key_ab0", "b6367e5", "1644c5d", "e7c5383", "0ca394f", "bf3b628", "b10dd8a", "3d0c02a",
            "c10407e", "f7e7060", "7c6ef32", "45a3d61", "82490ac", "572c682", "c1f57cc", "3f84737",
            "66c20f4", "37ebdce", "00f15c",
        ],
        miss: &[
            "key_12d", "7c46e40", "93c1de2", "545682a", "8753077", "e209d33", "d3f3f00", "cde5a78",
            "5e12d7c", "290e",
        ],
        ..PREFIXED
    },
];
