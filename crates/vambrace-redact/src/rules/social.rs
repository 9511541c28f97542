//! Social networks, media and games.

use crate::check::{jumbled, mixed, plausible};
use crate::rule::{
    Pattern::{Beside, Regex},
    Rule, token,
};
use crate::rules::form::{BESIDE_HEX, BESIDE_MIXED, NAMED_TOKEN, PREFIXED, encoded, scattered};

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "facebook-token",
        about: "Facebook page and app access tokens",
        keywords: &["EAAM", "EAAC", "EAAB", "EAAG", "EAAI", "EAAK", "EAAD", "EAAE"],
        pattern: Regex("EAA[A-Z]([A-Za-z0-9]{80,})"),
        check: scattered,
        hit: &[
            "EAAMGUc", "zjA61Ky", "yh7QfyB", "CaaGF7h", "R9Vep0u", "KoMj0ZT", "oAQTnJs", "VCsTKzv",
            "qFv1HOS", "cJyO3V2", "hsk3olh", "iqBsAku", "Nf76Z67", "NqlItoz", "xyJbUH",
        ],
        miss: &["EAAMfXR", "GJznojX", "G9jYqC2", "bMSuc8A", "P4ffmz"],
        ..PREFIXED
    },
    Rule {
        name: "facebook-app-token",
        about: "Facebook app id and secret joined by a bar",
        keywords: &["facebook", "fb_app"],
        pattern: Regex(
            r"(?i)(?:facebook|fb_app)[^\n]*?[^A-Za-z0-9]([0-9]{15,16}(?:\||%7C)[A-Za-z0-9_-]{27,40})",
        ),
        reach: 160,
        check: mixed,
        hit: &["faceboo", "k 19835", "8680513", "256|JfF", "D1xXUV_", "hCH9DmB", "hwNc6hv", "h_8"],
        miss: &["faceboo", "k 69893", "4709840", "336|eDa", "Vvdg0ZU", "EskaFNB", "fDeH1Jb", "wO"],
        ..NAMED_TOKEN
    },
    Rule {
        name: "facebook-secret",
        about: "Facebook app secrets beside the name",
        keywords: &["facebook", "fb_app_s", "fb_secret", "fb_client"],
        pattern: Beside("[0-9a-f]{32}"),
        hit: &["faceboo", "k_app_s", "ecret =", " b792ef", "0289e51", "b417a10", "1f1219d", "84b9b"],
        miss: &["faceboo", "k_app_s", "ecret =", " 1af782", "43ec23c", "f24fea5", "30134af", "404e"],
        ..BESIDE_HEX
    },
    Rule {
        name: "instagram-token",
        about: "Instagram access tokens",
        keywords: &["IGQV", "IGQW", "IGAA"],
        pattern: Regex("IG(?:Q[VW]|AA)([A-Za-z0-9_-]{80,})"),
        hit: &[
            "IGQVxlj", "pA0mbYQ", "Y241rQ4", "WwXNfZb", "3lrGJNR", "Ty95TTk", "nywrdcl", "Hg2jov4",
            "Toy0NA4", "UkXsupN", "8zb0xMA", "fcSAjxX", "ZvPintF", "5SiKsIi", "IoUkFIh", "JlQJ9du",
            "rZEHVuI", "o5A9w",
        ],
        miss: &["IGQVQTe", "W2vMKgQ", "EDkDo8o", "rzUJylJ", "TG1nx2h", "l7IsUda", "IC"],
        ..PREFIXED
    },
    Rule {
        name: "twitter-secret",
        about: "Twitter API keys, secrets and tokens beside the name",
        keywords: &["twitter"],
        pattern: Beside(
            "(?:A{20,22}[A-Za-z0-9%]{80,120}|[0-9]{15,25}-[A-Za-z0-9]{20,40}|[A-Za-z0-9]{50}|[A-Za-z0-9]{45}|[A-Za-z0-9]{25})",
        ),
        hit: &[
            "twitter", "_api_se", "cret = ", "dLY9oqR", "GktWPz2", "Ucfkz0E", "8rY1uto", "bg611zO",
            "QuDdSbA", "PT9Stes", "v",
        ],
        miss: &[
            "twitter", "_api_se", "cret = ", "iJTwEFp", "j0P41CV", "zHI0gWV", "VmPIOAo", "aJ45kIY",
            "tclm72a", "iTPp1MH",
        ],
        ..BESIDE_MIXED
    },
    Rule {
        name: "twitter-bearer-token",
        about: "Twitter bearer tokens",
        keywords: &["AAAAAAAAAAAAAAAAAAAAA"],
        pattern: Regex("A{21,22}([A-Za-z0-9%]{80,120})"),
        left: encoded,
        check: scattered,
        hit: &[
            "AAAAAAA", "AAAAAAA", "AAAAAAA", "AeizSzj", "mmENTBG", "xkUMmWF", "LHIHvAN", "hIjXuPK",
            "nEeU6gY", "KehOVS5", "EPJgdip", "It4eqO6", "R8UuT4I", "IdMiUbz", "BpxfeZD", "1Lh1dvd", "Rm",
        ],
        miss: &[
            "AAAAAAA", "AAAAAAA", "AAAAAAA", "AM3Tsj8", "IvWlZny", "oJlX04N", "86Pn8zt", "anAR1QC",
            "0Gy5eYX", "XZbTffy", "HOgrNp1", "BBrZt",
        ],
        ..PREFIXED
    },
    Rule {
        name: "linkedin-secret",
        about: "LinkedIn client secrets",
        keywords: &["WPL_AP1."],
        pattern: Regex(r"WPL_AP1\.([A-Za-z0-9]{16}\.[A-Za-z0-9+/]{6,8}={0,2})"),
        entropy: 2.8,
        hit: &["WPL_AP1", ".Yq9t8G", "kYEUYGQ", "y09.Yrs", "pZy=="],
        miss: &["WPL_AP1", ".U41XsM", "mt6.V3W", "EzH=="],
        ..PREFIXED
    },
    Rule {
        name: "linkedin-key",
        about: "LinkedIn client ids and secrets beside the name",
        keywords: &["linkedin", "linked_in", "linked-in"],
        pattern: Beside("(?:[A-Za-z0-9]{16}|[a-z0-9]{14})"),
        entropy: 2.8,
        hit: &["linkedi", "n_secre", "t = 51c", "0tp2YX5", "q3tnXs"],
        miss: &["linkedi", "n_secre", "t = H91", "zU4j16i", "O3vKs"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "reddit-secret",
        about: "Reddit secrets beside the name",
        keywords: &["reddit"],
        pattern: Beside("[A-Za-z0-9_-]{27,30}"),
        hit: &["reddit_", "secret ", "= tRY7R", "wOfLE3X", "0Qvu3Uc", "eSSebVb", "f"],
        miss: &["reddit_", "secret ", "= n2UaK", "QbJKhzz", "cI2nOCF", "D"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "pinterest-token",
        about: "Pinterest tokens",
        keywords: &["pina_"],
        pattern: Regex("pina_([A-Za-z0-9]{32,80})"),
        hit: &["pina_n4", "6EYQIT3", "Vp3Xc4o", "FOAHgIq", "0tbEyVU", "V7jg98E", "95uwaDo", "QfRZk2d", "8"],
        miss: &["pina_hv", "e1dlQRD", "aAxQHI6", "f3WfMp9", "G4PrhLI"],
        ..PREFIXED
    },
    Rule {
        name: "tumblr-key",
        about: "Tumblr keys beside the name",
        keywords: &["tumblr"],
        pattern: Beside("[A-Za-z0-9]{50}"),
        hit: &[
            "tumblr_", "secret ", "= hNNnm", "GnRHKI9", "iycAkV3", "PQO3Usm", "P5SmDfe", "PW6N3ck",
            "18VhQX4", "De6",
        ],
        miss: &[
            "tumblr_", "secret ", "= naaBP", "e23luiu", "8BwDd4T", "DuNZoDE", "H05AOPK", "PJj3LkS",
            "wp3BFGJ", "of",
        ],
        ..BESIDE_MIXED
    },
    Rule {
        name: "spotify-secret",
        about: "Spotify ids and secrets beside the name",
        keywords: &["spotify"],
        pattern: Beside("[0-9a-f]{32}"),
        hit: &["spotify", "_client", "_secret", " = 0111", "02d0ad2", "d4aadf1", "561c769", "f5218b2"],
        miss: &["spotify", "_client", "_secret", " = 3710", "58131aa", "5fa6f60", "75336d5", "02437d"],
        ..BESIDE_HEX
    },
    Rule {
        name: "soundcloud-secret",
        about: "SoundCloud secrets beside the name",
        keywords: &["soundcloud"],
        pattern: Beside("[A-Za-z0-9]{32}"),
        hit: &["soundcl", "oud_sec", "ret = P", "wcVpXhj", "STqwqJ2", "bUplOZM", "jZsnTi4", "svL"],
        miss: &["soundcl", "oud_sec", "ret = J", "vIBJPJw", "nG2TWzq", "8UgQeYo", "e4KNarf", "eC"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "flickr-key",
        about: "Flickr keys and secrets beside the name",
        keywords: &["flickr"],
        pattern: Beside("(?:[a-z0-9]{32}|[0-9a-f]{16})"),
        hit: &["flickr_", "key = 7", "3537eb6", "8c83d2c", "1f3a622", "aaa87a2", "2ba"],
        miss: &["flickr_", "key = 7", "c7d0d52", "6a07fc8", "4337d19", "d52ff55", "b7"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "disqus-key",
        about: "Disqus keys beside the name",
        keywords: &["disqus"],
        pattern: Beside("[A-Za-z0-9]{64}"),
        hit: &[
            "disqus_", "secret ", "= XlSbn", "96dfdvk", "jC6E1tY", "zP2aFZV", "MRNTWZL", "aKmKPqh",
            "KtaaCFe", "FKeuQRx", "7gLa8Yw", "Muv",
        ],
        miss: &[
            "disqus_", "secret ", "= 6FEat", "2Ddnmnj", "byVhPsE", "3nTmVM6", "azdCP13", "hMCRQA6",
            "kMuZBEZ", "6k9kIQR", "V0C5i27", "3i",
        ],
        ..BESIDE_MIXED
    },
    Rule {
        name: "vk-token",
        about: "VK access tokens",
        keywords: &["vk1.a."],
        pattern: Regex(r"vk1\.a\.([A-Za-z0-9_-]{80,})"),
        hit: &[
            "vk1.a.U", "Y98EOO9", "s7QlSY0", "-xmOjeF", "2ri4muo", "o8PLwBG", "ePwI5oj", "9kT0M8I",
            "t_FE0Ep", "Z1pWYSU", "p-chgIe", "joaEKQX", "Th4FNEl", "n1U-w6z", "EkbtXyQ", "XGJw9yM",
            "oUNWC9n", "n5blL_6", "xDhnd6z", "FLcKj1C", "XO-P3qG", "o6DDEut", "58f2Q38", "7aEj1nU",
            "2YyqNSv", "wcCtBxv", "LDrI",
        ],
        miss: &["vk1.a.9", "xqteCTm", "VIahDdp", "hxJSucA", "ltmBSsN", "8Oyg5XG", "BLlyh7C", "ru_O94X"],
        ..PREFIXED
    },
    Rule {
        name: "strava-secret",
        about: "Strava secrets and tokens beside the name",
        keywords: &["strava"],
        pattern: Beside("[0-9a-f]{40}"),
        hit: &["strava_", "secret ", "= 7830b", "f01b8be", "4715ff6", "1a28307", "94fd468", "0b4f946"],
        miss: &["strava_", "secret ", "= 9b232", "9ea2640", "063933b", "7c44e04", "95c8991", "a9e959"],
        ..BESIDE_HEX
    },
    Rule {
        name: "mastodon-token",
        about: "Mastodon tokens beside the name",
        keywords: &["mastodon"],
        pattern: Beside("[A-Za-z0-9_-]{43}"),
        hit: &[
            "mastodo", "n_token", " = rEkb", "polR-_j", "nQaxNvb", "gNhfgWd", "G99gC-7", "1s9Xlon", "Cdks",
        ],
        miss: &[
            "mastodo", "n_token", " = pcSX", "-eX0UUJ", "xcrxAyO", "WgwMNok", "bj6JtYr", "GS7hmOY", "Dkr",
        ],
        ..BESIDE_MIXED
    },
    Rule {
        name: "bluesky-password",
        about: "Bluesky app passwords beside the name",
        keywords: &["bluesky", "bsky"],
        pattern: Beside("[a-z0-9]{4}-[a-z0-9]{4}-[a-z0-9]{4}-[a-z0-9]{4}"),
        check: mixed,
        entropy: 2.8,
        hit: &["bsky_ap", "p_passw", "ord = k", "bm3-gkm", "h-5ozm-", "vqvc"],
        miss: &["bsky_ap", "p_passw", "ord = g", "q89-clk", "4-vdwa-", "tm0"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "patreon-token",
        about: "Patreon tokens and secrets beside the name",
        keywords: &["patreon"],
        pattern: Beside("(?:[A-Za-z0-9_-]{64}|[A-Za-z0-9_-]{43})"),
        hit: &["patreon", "_token ", "= YQ_65", "LiXKmVM", "SZ_HkR7", "pb3Yq4j", "vWpsEPt", "VRDa5bQ", "411"],
        miss: &["patreon", "_token ", "= N_B8z", "NNRtAaH", "lv5awNt", "suCAyIO", "Mxe-Kw-", "uLwNEMc", "hR"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "unsplash-key",
        about: "Unsplash keys beside the name",
        keywords: &["unsplash"],
        pattern: Beside("[A-Za-z0-9_-]{43}"),
        hit: &["unsplas", "h_key =", " lUZ6IN", "qjt_cK1", "-BHfJaC", "EEOYgcT", "DqnC2WW", "TMYdnfj", "bY"],
        miss: &["unsplas", "h_key =", " yMBwB1", "Oay0Tzl", "rVSFqF9", "WtQHZ2L", "8CqNbiY", "V6GFMqU", "H"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "giphy-key",
        about: "Giphy keys beside the name",
        keywords: &["giphy"],
        pattern: Beside("[A-Za-z0-9]{32}"),
        hit: &["giphy_k", "ey = Sb", "8OWh03E", "7eICKei", "5s2Qzn6", "95nc5nN", "Wz"],
        miss: &["giphy_k", "ey = qh", "ZMILL5k", "9ud4Th5", "kIQQ0hC", "yGCJRfm", "M"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "imgur-secret",
        about: "Imgur secrets beside the name",
        keywords: &["imgur"],
        pattern: Beside("[0-9a-f]{40}"),
        hit: &["imgur_s", "ecret =", " 71e3de", "b63400b", "c79ae64", "d078a3e", "d647266", "78cae2"],
        miss: &["imgur_s", "ecret =", " 930d9c", "0ce449f", "cf0404b", "7adc50a", "8c14f75", "6ba13"],
        ..BESIDE_HEX
    },
    Rule {
        name: "steam-key",
        about: "Steam web keys beside the name",
        keywords: &["steam_", "steam-web", "steamapi", "steamweb"],
        pattern: Beside("[A-F0-9]{32}"),
        hit: &["STEAM_A", "PI_KEY=", "E43AE4A", "A361F61", "7415311", "AA0EC7B", "D79B"],
        miss: &["STEAM_A", "PI_KEY=", "341D1C0", "A5A3A83", "ECB244E", "AFACF79", "5AB"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "riot-key",
        about: "Riot Games keys",
        keywords: &["RGAPI-"],
        pattern: Regex("RGAPI-([0-9a-z]{8}-[0-9a-z]{4}-[0-9a-z]{4}-[0-9a-z]{4}-[0-9a-z]{12})"),
        entropy: 2.5,
        hit: &["RGAPI-a", "a99f122", "-85f1-2", "6bf-0f0", "e-77a60", "97e3089"],
        miss: &["RGAPI-b", "cd4ce9c", "-9985-5", "c3f-bbc", "1-0bb83", "4b5cec"],
        ..PREFIXED
    },
    Rule {
        name: "lichess-token",
        about: "Lichess tokens",
        keywords: &["lip_", "lio_"],
        pattern: Regex("li[po]_([A-Za-z0-9]{16,24})"),
        check: jumbled,
        hit: &["lip_nar", "xDZAgcE", "sW2Y9R"],
        miss: &["lip_qA5", "PW3G3f9", "Qhdeq"],
        ..PREFIXED
    },
    Rule {
        name: "yandex-key",
        about: "Yandex tokens and keys beside the name",
        keywords: &["yandex"],
        pattern: Beside(
            r"(?:t1\.[A-Za-z0-9_-]{6,}={0,2}\.[A-Za-z0-9_-]{86}={0,2}|AQVN[A-Za-z0-9_-]{35,38}|YC[A-Za-z0-9_-]{38})",
        ),
        check: plausible,
        hit: &["yandex_", "key = A", "QVNoXhQ", "YPAE74b", "_h5n_VW", "z5PZfwa", "FQt8GjN", "33i4"],
        miss: &["yandex_", "key = A", "QVNxUol", "_3gj_Sc", "l0fclz3", "r8"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "yandex-token",
        about: "Yandex OAuth tokens",
        keywords: &["y0_"],
        follow: token,
        pattern: Regex("y0_([A-Za-z0-9_-]{50,64})"),
        check: scattered,
        hit: &["y0_GWI3", "SdG9PC3", "WMmBIqM", "0tRiunV", "HFNncM1", "kdMJOn7", "HVE0KPB", "mf31vPF", "nG"],
        miss: &["y0_dUOi", "sO04ndj", "czT5uN8", "uIyOEw2", "Efv54gZ", "FgOXpns", "D"],
        ..PREFIXED
    },
    Rule {
        name: "naver-secret",
        about: "Naver client ids and secrets beside the name",
        keywords: &["naver_"],
        pattern: Beside("(?:[A-Za-z0-9_]{20}|[A-Za-z0-9_]{10})"),
        hit: &["naver_c", "lient_i", "d = WuS", "y05Lmub", "wvVRBlJ", "25y"],
        miss: &["naver_c", "lient_i", "d = 034", "sMKCjl5", "pva51eS", "Uc"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "wakatime-key",
        about: "WakaTime keys",
        keywords: &["waka_"],
        pattern: Regex(
            "waka_(?:([a-z0-9]{40})|([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}))",
        ),
        entropy: 2.5,
        hit: &["waka_fb", "743eb5-", "0827-41", "58-3298", "-e8c7cb", "6b1d66"],
        miss: &["waka_64", "763c61-", "52b8-49", "9a-31ee", "-632aff", "ba6eb"],
        ..PREFIXED
    },
    Rule {
        name: "thunderstore-token",
        about: "Thunderstore tokens",
        keywords: &["tss_"],
        pattern: Regex("tss_([A-Za-z0-9-]{24,40})"),
        check: scattered,
        hit: &["tss_Tln", "wc7UNCt", "rnBV4nY", "OPwYNbY"],
        miss: &["tss_TPF", "vVTcr3e", "bsawmmJ", "MnaKB2"],
        ..PREFIXED
    },
];
