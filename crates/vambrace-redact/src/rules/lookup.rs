//! Things that are looked up: places, weather, news, addresses, pages.

use crate::check::{jumbled, plausible};
use crate::rule::{
    Lead,
    Pattern::{Beside, Regex},
    Rule, base64, hex, word,
};
use crate::rules::form::{BESIDE_HEX, BESIDE_MIXED, PREFIXED};

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "here-key",
        about: "HERE keys beside the name",
        keywords: &["ere_api", "ere_app", "eremaps", "ere_maps"],
        pattern: Beside("[A-Za-z0-9_-]{43}"),
        hit: &["HERE_AP", "I_KEY=L", "4tj36ZW", "AFohhRF", "nyMa0qE", "IV_bW8P", "zTcCu3-", "w2BbCoa"],
        miss: &["HERE_AP", "I_KEY=w", "T0lI2Ef", "J4h4biU", "oEfL8B9", "7FSTo0a", "UCEaF07", "BRRdpR"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "tomtom-key",
        about: "TomTom keys beside the name",
        keywords: &["tomtom"],
        pattern: Beside("[A-Za-z0-9]{32}"),
        hit: &["tomtom_", "key = c", "gvbdtKv", "thfGLnI", "HTHdpot", "uHPGQD1", "A7x"],
        miss: &["tomtom_", "key = P", "qI432AH", "zqeS9kB", "3kz9kFe", "IotkBHh", "hK"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "opencage-key",
        about: "OpenCage keys beside the name",
        keywords: &["opencage"],
        pattern: Beside("[0-9a-f]{32}"),
        hit: &["opencag", "e_key =", " ecec49", "36a2274", "781c4f2", "f7f618c", "7cb95"],
        miss: &["opencag", "e_key =", " 790b13", "1c52afb", "8ed9732", "786fabd", "8a2f"],
        ..BESIDE_HEX
    },
    Rule {
        name: "mapquest-key",
        about: "MapQuest keys beside the name",
        keywords: &["mapquest"],
        pattern: Beside("[A-Za-z0-9]{32}"),
        hit: &["mapques", "t_key =", " xnrggw", "QXm27vY", "soChwwS", "l1UoMG5", "LQZTy"],
        miss: &["mapques", "t_key =", " 9sjwNa", "TXG9E8m", "mGLEGwq", "fFQHCXF", "HopC"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "mapbox-token",
        about: "Mapbox tokens",
        keywords: &["sk.eyJ", "pk.eyJ", "tk.eyJ"],
        pattern: Regex(r"[spt]k\.(eyJ[A-Za-z0-9_-]{40,120}\.[A-Za-z0-9_-]{22})"),
        hit: &[
            "sk.eyJW", "VCOXOdK", "F5mfjVF", "WfsegJa", "7bqRT2t", "C4OS10h", "bO8KKKD", "MxZjItk",
            "4lrHMsM", "vYk.ZYQ", "-v5t4d6", "chSothN", "oPF8x",
        ],
        miss: &[
            "sk.eyJp", "UEtj5T7", "ZOo8wL9", "5Yzd1vU", "bH2c7V2", "CE0y3Z3", "oU74abv", "05C8WuJ",
            "sOszqQ2", "4Nr.pMz", "uGWMZS8", "RgPyktK", "3OT3",
        ],
        ..PREFIXED
    },
    Rule {
        name: "shodan-key",
        about: "Shodan keys beside the name",
        keywords: &["shodan"],
        pattern: Beside("[A-Za-z0-9]{32}"),
        hit: &["shodan_", "key = l", "Hr9cnsB", "vJSubM7", "BRK2deW", "cm9chFZ", "tZk"],
        miss: &["shodan_", "key = n", "QXcO8oG", "wN3zKvH", "DH8ZWFG", "mDyDY1M", "KP"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "virustotal-key",
        about: "VirusTotal keys beside the name",
        keywords: &["virustotal", "vt_api"],
        pattern: Beside("[0-9a-f]{64}"),
        hit: &[
            "virusto", "tal_key", " = 0641", "8846a48", "5979de3", "b63dfad", "f218b11", "81e8de6",
            "bc5bf93", "614c417", "f044f6c", "375f",
        ],
        miss: &[
            "virusto", "tal_key", " = a491", "db4ff8e", "a4c67d5", "d2afcae", "71cabe4", "971bb0b",
            "894ebb6", "304bae5", "7514803", "800",
        ],
        ..BESIDE_HEX
    },
    Rule {
        name: "abuseipdb-key",
        about: "AbuseIPDB keys beside the name",
        keywords: &["abuseipdb"],
        pattern: Beside("[0-9a-f]{80}"),
        hit: &[
            "abuseip", "db_key ", "= b6957", "da86e05", "6cbac3d", "bfde968", "f0dfa98", "5e53853",
            "fbf1c86", "b930a8e", "a16ec9c", "2235418", "7523640", "8a3a8",
        ],
        miss: &[
            "abuseip", "db_key ", "= 7adaa", "50b74cf", "97a9417", "1d4bd55", "190d07f", "4b10d9a",
            "c28b082", "a6fa725", "e6f9e7c", "e11de22", "71f7c67", "5119",
        ],
        ..BESIDE_HEX
    },
    Rule {
        name: "urlscan-key",
        about: "urlscan.io keys beside the name",
        keywords: &["urlscan"],
        pattern: Beside("(?i)(?:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{32})"),
        hit: &["urlscan", "_key = ", "2b65cce", "9-05af-", "bab8-9f", "f9-43ce", "0a4a6aa", "7"],
        miss: &["urlscan", "_key = ", "2da9664", "f-5468-", "792a-e5", "84-56a1", "40eda99"],
        ..BESIDE_HEX
    },
    Rule {
        name: "scraperapi-key",
        about: "ScraperAPI keys beside the name",
        keywords: &["scraperapi", "scraper_api"],
        pattern: Beside("[0-9a-f]{32}"),
        hit: &["scraper", "api_key", " = 8f82", "58af772", "4dadca4", "d2f92ec", "220b75f"],
        miss: &["scraper", "api_key", " = 44a1", "fa37259", "e1184ab", "425fad3", "1e8a91"],
        ..BESIDE_HEX
    },
    Rule {
        name: "scrapingbee-key",
        about: "ScrapingBee keys beside the name",
        keywords: &["scrapingbee"],
        pattern: Beside("[A-Z0-9]{80}"),
        hit: &[
            "scrapin", "gbee_ke", "y = K0W", "YLNCK3V", "W3HZAYB", "Q1G4EHL", "MV4KUQC", "URRVXT9",
            "B62H4VC", "4LIMYBV", "NWXTGLT", "JZKID83", "O51XPQ2", "Q1ZMAQC",
        ],
        miss: &[
            "scrapin", "gbee_ke", "y = X78", "QWXLHQG", "0KUIS01", "MCTVXTI", "7KZHVWP", "L0M1CIY",
            "M9O6MOG", "7PZK71J", "R1M0ADK", "UD8CSMG", "M0SCTKF", "GL224D",
        ],
        ..BESIDE_MIXED
    },
    Rule {
        name: "maxmind-key",
        about: "MaxMind license keys",
        keywords: &["_mmk"],
        lead: Lead::Run(word),
        pattern: Regex("[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk"),
        right: word,
        hit: &["KlekMZ_", "1MUK3Ht", "R7zxXKo", "6R1t34g", "x0m79on", "c_mmk"],
        miss: &["F9WpTq_", "IkPcooH", "fc1br9v", "cW99FpB", "VZWS1Wt", "_mmk"],
        ..PREFIXED
    },
    Rule {
        name: "rapidapi-key",
        about: "RapidAPI keys",
        keywords: &["msh"],
        follow: hex,
        lead: Lead::Exactly(10),
        pattern: Regex("[0-9a-f]{10}msh[0-9a-f]{16}p1[0-9a-f]{6}jsn[0-9a-f]{12}"),
        hit: &["e2dca5c", "e87mshe", "e86d47d", "16f2054", "8p1a4b2", "03jsnb5", "3b64dc0", "1ed"],
        miss: &["2acf1cf", "379msh0", "190fe36", "b280719", "5p1e984", "02jsnd3", "65b96d6", "bb"],
        ..PREFIXED
    },
    Rule {
        name: "rapidapi-token",
        about: "RapidAPI keys of other forms beside the name",
        keywords: &["rapidapi", "rapid_api"],
        pattern: Beside("[A-Za-z0-9_-]{50}"),
        hit: &[
            "rapidap", "i_key =", " 8Bz2NC", "BFjxRON", "f6keNp8", "5dLRxTl", "dB9jmQa", "I-bBcmt",
            "BiPwhfs", "Lc",
        ],
        miss: &[
            "rapidap", "i_key =", " 9TX6HD", "pNkepV1", "tQeK0mv", "tFvp9OK", "IqK2DeN", "CXZzhm1",
            "y3-JDmH", "5",
        ],
        ..BESIDE_MIXED
    },
    Rule {
        name: "openweather-key",
        about: "OpenWeather keys beside the name",
        keywords: &["openweather", "owm_"],
        pattern: Beside("[0-9a-f]{32}"),
        hit: &["openwea", "ther_ke", "y = 4c9", "e1f8a14", "646e142", "51a0658", "01902eb", "2"],
        miss: &["openwea", "ther_ke", "y = 25f", "f02bd46", "b07a00b", "a667120", "5565308"],
        ..BESIDE_HEX
    },
    Rule {
        name: "newsapi-key",
        about: "News API keys beside the name",
        keywords: &["newsapi", "news_api"],
        pattern: Beside("[0-9a-f]{32}"),
        hit: &["newsapi", "_key = ", "2b849af", "bef2bf4", "9a8cf67", "d700fdb", "e9bc"],
        miss: &["newsapi", "_key = ", "7d083f1", "d17663d", "90a2ebb", "02c9d7b", "7d9"],
        ..BESIDE_HEX
    },
    Rule {
        name: "nytimes-key",
        about: "New York Times keys beside the name",
        keywords: &["nytimes", "new-york-times", "newyorktimes"],
        pattern: Beside("[A-Za-z0-9_=-]{32}"),
        hit: &["nytimes", "_key = ", "88BHxD4", "zUfdlLk", "sf3y41M", "BS6JiOg", "5joO"],
        miss: &["nytimes", "_key = ", "FaJ0Bqh", "7fbdP60", "QBl2Jkx", "ivvPm8u", "asI"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "tmdb-key",
        about: "TMDB keys beside the name",
        keywords: &["tmdb", "oviedb"],
        pattern: Beside("[0-9a-f]{32}"),
        hit: &["tmdb_ke", "y = f7d", "81fb7cc", "ea15fd3", "79a4790", "8585146", "8"],
        miss: &["tmdb_ke", "y = 4c1", "542ea9e", "53bc98c", "0ae27fe", "4f47b6b"],
        ..BESIDE_HEX
    },
    Rule {
        name: "lastfm-key",
        about: "Last.fm keys beside the name",
        keywords: &["lastfm", "last_fm", "last.fm"],
        pattern: Beside("[0-9a-f]{32}"),
        hit: &["lastfm_", "key = a", "9632822", "1719b85", "60f7ab8", "be70110", "0c1"],
        miss: &["lastfm_", "key = e", "a2b4e1c", "d82a81e", "2af41a7", "0bcb9f6", "57"],
        ..BESIDE_HEX
    },
    Rule {
        name: "yelp-key",
        about: "Yelp keys beside the name",
        keywords: &["yelp"],
        pattern: Beside("[A-Za-z0-9_-]{128}"),
        hit: &[
            "yelp_ke", "y = 7C1", "-yTvNGn", "WcWtYXI", "0x55Qs6", "wbMoHwh", "Vl_blaV", "6OP5Oii",
            "8M9vkSK", "4NiiMHB", "sVXCxdY", "a7NDP4H", "XyaU2P6", "Fqj-UcY", "xnWFm39", "PwIWFIN",
            "IbszXlk", "k1i2Olw", "Rb8PamS", "dWJX7x",
        ],
        miss: &[
            "yelp_ke", "y = Ssd", "qDwKbcC", "dmICC3O", "pe0FZy4", "he7tc6i", "LmiTBhl", "ZGuB-pd",
            "AKXJAkn", "Yl0sSra", "hjFx4Gu", "S8Rao3L", "KLFQSS7", "UIjKSeQ", "-XusvYN", "xAgRMdS",
            "jFMdgOV", "kV2XxEh", "p4asGzp", "vgXCx",
        ],
        ..BESIDE_MIXED
    },
    Rule {
        name: "apify-token",
        about: "Apify tokens",
        keywords: &["apify_api_"],
        pattern: Regex("apify_api_([A-Za-z0-9]{36})"),
        hit: &["apify_a", "pi_Bcf6", "v5gNm90", "Z6q4by1", "dYS8WjT", "bGuEMk2", "H3pS"],
        miss: &["apify_a", "pi_pXkX", "wf47Kkt", "kSJyfQE", "cR96sVk", "s24f4F1", "KbX"],
        ..PREFIXED
    },
    Rule {
        name: "apilayer-key",
        about: "apilayer keys beside the names of its services",
        keywords: &[
            "apilayer",
            "cylayer",
            "fixer.io",
            "fixer_",
            "exchangeratesapi",
            "ipstack",
            "weatherstack",
            "mediastack",
            "aviationstack",
        ],
        pattern: Beside("[A-Za-z0-9]{32}"),
        hit: &["apilaye", "r_key =", " oGOinR", "OS3rvhx", "WOiz4UX", "JyvELDS", "Ao06A"],
        miss: &["apilaye", "r_key =", " WZ2Zad", "qW8necr", "rUKJRlu", "CeDmbp9", "SJPi"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "foursquare-key",
        about: "Foursquare keys",
        keywords: &["fsq3"],
        pattern: Regex("fsq3([A-Za-z0-9+/]{43}=)"),
        right: base64,
        hit: &["fsq3FQf", "kJCg5Xp", "mTS594q", "gJlkGrF", "v67m8u1", "UTvyWpn", "Qud9C="],
        miss: &["fsq3G1Z", "xzAT3lM", "BhAUr3r", "ieOyXgK", "POeeGFr", "U46FhIZ", "c8lv="],
        ..PREFIXED
    },
    Rule {
        name: "hunter-key",
        about: "Hunter.io keys beside the name",
        keywords: &["hunter.io", "hunter_io", "hunter_api", "hunter_key", "hunterio"],
        pattern: Beside("[0-9a-f]{40}"),
        hit: &["hunter_", "api_key", " = 9dac", "4a79367", "28e84ce", "eba0470", "3d2cdfb", "e04f15c", "d"],
        miss: &["hunter_", "api_key", " = cb9c", "4150758", "ecdf6ad", "a3de109", "9005922", "04716fc"],
        ..BESIDE_HEX
    },
    Rule {
        name: "brave-search-key",
        about: "Brave Search keys",
        keywords: &["BSA"],
        follow: |byte| byte.is_ascii_alphanumeric(),
        pattern: Regex("BSA([A-Za-z0-9_-]{28})"),
        check: jumbled,
        hit: &["BSAWl0C", "m6jfPEo", "6O2IW7V", "zLd9w0u", "vlO"],
        miss: &["BSA1iM3", "UFEkom5", "4mugyYG", "WXTSpX3", "Pa"],
        ..PREFIXED
    },
    Rule {
        name: "geoapify-key",
        about: "Geoapify keys beside the name",
        keywords: &["geoapify"],
        pattern: Beside("[0-9a-f]{32}"),
        hit: &["geoapif", "y_key =", " 6e901c", "2ceb303", "dc515e2", "72c6b9a", "742d9"],
        miss: &["geoapif", "y_key =", " 886eab", "daa46f9", "0c3757d", "c9fd340", "c963"],
        ..BESIDE_HEX
    },
    Rule {
        name: "edamam-key",
        about: "Edamam keys beside the name",
        keywords: &["edamam"],
        pattern: Beside("[0-9a-f]{32}"),
        hit: &["edamam_", "key = e", "f37af29", "6e2d0e8", "2987133", "8175bab", "1b2"],
        miss: &["edamam_", "key = e", "3293594", "d91a861", "dca0cae", "ba1deed", "2e"],
        ..BESIDE_HEX
    },
    Rule {
        name: "spoonacular-key",
        about: "Spoonacular keys beside the name",
        keywords: &["spoonacular"],
        pattern: Beside("[0-9a-f]{32}"),
        hit: &["spoonac", "ular_ke", "y = 219", "bcb4877", "d6f2921", "69ee1c1", "685b1a9", "1"],
        miss: &["spoonac", "ular_ke", "y = fe1", "5bbc4ed", "5eb1821", "22816a8", "d095b36"],
        ..BESIDE_HEX
    },
    Rule {
        name: "accuweather-key",
        about: "AccuWeather keys beside the name",
        keywords: &["accuweather"],
        pattern: Beside("[A-Za-z0-9%]{32,35}"),
        hit: &["accuwea", "ther_ke", "y = IAf", "lWGQIUb", "H3F3gQo", "OQzhUqY", "8huWXI0", "N"],
        miss: &["accuwea", "ther_ke", "y = TMG", "Iv1BD2k", "Mt6FM5d", "A1WG6Vl", "re5Lpjh"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "weatherbit-key",
        about: "Weatherbit keys beside the name",
        keywords: &["weatherbit"],
        pattern: Beside("[0-9a-f]{32}"),
        hit: &["weather", "bit_key", " = 611b", "97cd88d", "33a33a7", "5d24c75", "1f59b63"],
        miss: &["weather", "bit_key", " = 952e", "c3a5300", "1ced948", "da56161", "23cc3a"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "tomorrowio-key",
        about: "Tomorrow.io keys beside the name",
        keywords: &["tomorrowio", "tomorrow_io", "tomorrow.io"],
        pattern: Beside("[A-Za-z0-9]{32}"),
        hit: &["tomorro", "w_io_ke", "y = Cf4", "e6PhrtA", "GWNGRTg", "QL8LX1i", "DD07Jjj", "g"],
        miss: &["tomorro", "w_io_ke", "y = qUd", "UrIurxQ", "STKoDtU", "4doRvYH", "4xR8ukF"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "nasa-key",
        about: "NASA and data.gov keys beside the name",
        keywords: &["nasa_api", "nasa_key", "ta.gov"],
        pattern: Beside("[A-Za-z0-9]{40}"),
        hit: &["NASA_AP", "I_KEY=U", "OrwLc8g", "6vqqrss", "Vw50fLJ", "90ytxwO", "7jqzt0U", "FqYD"],
        miss: &["NASA_AP", "I_KEY=D", "KliY0p5", "OKnqISN", "nnJVunl", "rzKXSb8", "oojCVVx", "SqA"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "guardian-key",
        about: "Guardian keys beside the name",
        keywords: &["guardian"],
        pattern: Beside("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"),
        check: plausible,
        hit: &["guardia", "n_key =", " b08406", "8e-4a99", "-2649-f", "cf7-181", "dd00d01", "f8"],
        miss: &["guardia", "n_key =", " 8d9e8f", "28-55bd", "-4ca0-4", "e9e-d4b", "1e05d2c", "8"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "ipinfo-token",
        about: "IPinfo tokens beside the name",
        keywords: &["ipinfo"],
        pattern: Beside("[0-9a-f]{14}"),
        hit: &["ipinfo_", "token =", " 983e38", "0bf11d6", "4"],
        miss: &["ipinfo_", "token =", " c256cc", "ca1c15d"],
        ..BESIDE_HEX
    },
];
