//! Exchanges, market data and chains.

use crate::check::jumbled;
use crate::rule::{
    Pattern::{Beside, Regex},
    Rule, none, token,
};
use crate::rules::form::{BESIDE_HEX, BESIDE_MIXED, PREFIXED, scattered};

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "binance-key",
        about: "Binance keys beside the name",
        keywords: &["nance"],
        pattern: Beside("[A-Za-z0-9]{64}"),
        hit: &[
            "binance", "_api_se", "cret = ", "mrAgDJC", "UPmwhjO", "AlwpxqZ", "v0UikUU", "DGUHx7a",
            "ARGdYGN", "0RsNi1j", "tpCtaUD", "Tt91kNO", "1",
        ],
        miss: &[
            "binance", "_api_se", "cret = ", "B71O0Ef", "XOql4CB", "B8X0UNE", "xbAfkgB", "GMOm8Wp",
            "KrBfSEM", "25IZJBC", "SlX3Gjv", "Tfrz4Z7",
        ],
        ..BESIDE_MIXED
    },
    Rule {
        name: "kraken-key",
        about: "Kraken keys beside the name",
        keywords: &["kraken"],
        pattern: Beside("(?:[A-Za-z0-9+/=_-]{80,90}|[A-Za-z0-9+/]{56})"),
        hit: &[
            "kraken_", "private", " = EQnY", "vlttzoH", "VdXUmEw", "y4HsITC", "bCWwsro", "GThE56C",
            "KcpCv2C", "DaXpUD4", "Y2UeE0K", "aXnJWa1", "IAusDL9", "nlohZr6", "Awa1LHL",
        ],
        miss: &[
            "kraken_", "private", " = Xi3E", "KXBySMZ", "ArxdyUP", "nYGBho4", "Smqq0fj", "L7GnVCU",
            "sPA7lDu", "5gllimu", "kNkn9kz", "z47gb1J", "LKR",
        ],
        ..BESIDE_MIXED
    },
    Rule {
        name: "kucoin-key",
        about: "KuCoin keys and secrets beside the name",
        keywords: &["kucoin"],
        pattern: Beside("(?i)(?:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{24})"),
        hit: &["kucoin_", "secret ", "= 44348", "776-986", "4-6ec9-", "2337-98", "bbef72f", "514"],
        miss: &["kucoin_", "secret ", "= e00f7", "c67-69b", "5-e716-", "79bd-e9", "ca41a81", "53"],
        ..BESIDE_HEX
    },
    Rule {
        name: "bitmex-key",
        about: "BitMEX keys beside the name",
        keywords: &["bitmex"],
        pattern: Beside("(?:[A-Za-z0-9_-]{48}|[A-Za-z0-9_-]{24})"),
        hit: &[
            "bitmex_", "secret ", "= IGi2v", "cwOUzVe", "8a7YSxc", "6c-M5Wt", "TtV-oOE", "4gOYK6x",
            "1lqK-TV", "5",
        ],
        miss: &[
            "bitmex_", "secret ", "= Ln_5K", "ULrXSLy", "9w7enyK", "UJUTbEN", "RjaqiHw", "6wy_7ee", "oNAwOIh",
        ],
        ..BESIDE_MIXED
    },
    Rule {
        name: "bittrex-key",
        about: "Bittrex keys beside the name",
        keywords: &["bittrex"],
        pattern: Beside("[A-Za-z0-9]{32}"),
        hit: &["bittrex", "_secret", " = v4vb", "e0a1prr", "yj8avld", "x04605t", "juo47xx"],
        miss: &["bittrex", "_secret", " = 7pfv", "9snc3kh", "32xzid5", "lk7k2bi", "iadq5c"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "bitfinex-key",
        about: "Bitfinex keys beside the name",
        keywords: &["bitfinex"],
        pattern: Beside("[A-Za-z0-9_-]{43}"),
        hit: &["bitfine", "x_key =", " HROZlJ", "Biln5Kd", "8YPIdgb", "bygqHf5", "6NC3M0_", "48nL6N-", "Av"],
        miss: &["bitfine", "x_key =", " s1TAUK", "mjB12WZ", "0pAydrH", "UlVOpGJ", "Tkm0s4m", "GlG7x9B", "u"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "bybit-key",
        about: "Bybit keys beside the name",
        keywords: &["bybit"],
        pattern: Beside("(?:[A-Za-z0-9]{36}|[A-Za-z0-9]{18})"),
        hit: &["bybit_s", "ecret =", " A6eKWn", "CfOY4bd", "klcLpqk", "Of54jXp", "Fg5y0qk", "X6"],
        miss: &["bybit_s", "ecret =", " CJ784h", "ARZpTii", "lgm2sSE", "513lzl4", "6L3R2t2", "e"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "coinmarketcap-key",
        about: "CoinMarketCap keys beside the name",
        keywords: &["coinmarketcap", "cmc_pro"],
        pattern: Beside("(?i)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"),
        hit: &["coinmar", "ketcap_", "key = 7", "a1c59ac", "-a7ec-9", "44f-bc7", "0-ec5eb", "0868c31"],
        miss: &["coinmar", "ketcap_", "key = 9", "891ea32", "-fc4e-3", "493-036", "c-bf85d", "73ca28"],
        ..BESIDE_HEX
    },
    Rule {
        name: "coingecko-key",
        about: "CoinGecko keys",
        keywords: &["CG-"],
        follow: |byte| byte.is_ascii_alphanumeric(),
        pattern: Regex("CG-([A-Za-z0-9]{24})"),
        check: scattered,
        hit: &["CG-WbI4", "Y5323YX", "ZmHdeKu", "EnICMq"],
        miss: &["CG-lTys", "OXv0yr3", "qJZOi0Q", "7vrqu"],
        ..PREFIXED
    },
    Rule {
        name: "cryptocompare-key",
        about: "CryptoCompare keys beside the name",
        keywords: &["cryptocompare"],
        pattern: Beside("[0-9a-f]{64}"),
        hit: &[
            "cryptoc", "ompare_", "key = b", "e951164", "4f3ec7a", "52ad8c4", "0dff662", "95ef265",
            "c642ff2", "cd0df07", "c961e26", "3d08c01",
        ],
        miss: &[
            "cryptoc", "ompare_", "key = e", "ac1966f", "5f8f0c1", "9dafa10", "1acbc54", "605a4e0",
            "4c83715", "035ea16", "7bd3335", "daf971",
        ],
        ..BESIDE_HEX
    },
    Rule {
        name: "alphavantage-key",
        about: "Alpha Vantage keys beside the name",
        keywords: &["alphavantage", "alpha_vantage"],
        pattern: Beside("[A-Z0-9]{16}"),
        hit: &["alphava", "ntage_k", "ey = CP", "8CBJLQG", "Z5FFBD3"],
        miss: &["alphava", "ntage_k", "ey = LN", "UNN6L4O", "1MOOA9"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "finnhub-token",
        about: "Finnhub tokens beside the name",
        keywords: &["finnhub"],
        pattern: Beside("(?:[a-z0-9]{40}|[a-z0-9]{20})"),
        hit: &["finnhub", "_token ", "= qb3io", "h36g5ud", "joeeaav", "n"],
        miss: &["finnhub", "_token ", "= 6tt0h", "lncwax0", "dyev62o"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "polygon-key",
        about: "Polygon.io keys beside the name",
        keywords: &["polygon.io", "polygon_api", "polygonio"],
        pattern: Beside("[A-Za-z0-9_]{32}"),
        hit: &["polygon", "_api_ke", "y = gyG", "FTB1IP3", "5yXLAFk", "v09o4B3", "lPZHBe9", "W"],
        miss: &["polygon", "_api_ke", "y = X2i", "RdMRaLW", "8ocPklo", "hcVZ2M1", "cwHZH5J"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "alpaca-key",
        about: "Alpaca trading keys beside the name",
        keywords: &["alpaca"],
        pattern: Beside("(?:[A-Za-z0-9]{40}|[PAC]K[A-Z0-9]{18})"),
        hit: &["alpaca_", "secret ", "= v8XQB", "JSNL8vd", "td2Cqyj", "Pn6SocB", "M6msi1y", "OgWz68W"],
        miss: &["alpaca_", "secret ", "= FxMPi", "0CunrJP", "b77QzqB", "hGOs8h7", "3voYyKL", "H4Hyxa"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "quandl-key",
        about: "Nasdaq Data Link keys beside the name",
        keywords: &["quandl"],
        pattern: Beside("[A-Za-z0-9_-]{20}"),
        hit: &["quandl_", "key = H", "SDduk6q", "OdKjND5", "OzHKc"],
        miss: &["quandl_", "key = Y", "1gr3QSf", "6FbZaC0", "fSyf"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "databento-key",
        about: "Databento keys",
        keywords: &["db-"],
        follow: |byte| byte.is_ascii_alphanumeric(),
        pattern: Regex("db-([A-Za-z0-9]{29})"),
        left: token,
        check: jumbled,
        hit: &["db-R3rN", "Ci74QwC", "EQAUIT4", "K5pYnrX", "H0lF"],
        miss: &["db-P6Xg", "JtbRFYk", "jfR4u8c", "ScWYjqA", "ATs"],
        ..PREFIXED
    },
    Rule {
        name: "tiingo-token",
        about: "Tiingo tokens beside the name",
        keywords: &["tiingo"],
        pattern: Beside("[0-9a-f]{40}"),
        hit: &["tiingo_", "token =", " 889693", "d2f93db", "9f659df", "05649df", "cae975b", "fd5f27"],
        miss: &["tiingo_", "token =", " 307329", "9a243e1", "da6e765", "841a943", "518dce8", "8891e"],
        ..BESIDE_HEX
    },
    Rule {
        name: "openexchangerates-key",
        about: "Open Exchange Rates keys beside the name",
        keywords: &["openexchangerates"],
        pattern: Beside("[0-9a-f]{32}"),
        hit: &["openexc", "hangera", "tes_app", " = 24db", "01d3028", "ba45baf", "87bc87a", "ceeae3b"],
        miss: &["openexc", "hangera", "tes_app", " = 1a37", "0e6b112", "703e6d0", "ff3cc57", "a46a94"],
        ..BESIDE_HEX
    },
    Rule {
        name: "infura-key",
        about: "Infura keys beside the name",
        keywords: &["infura"],
        pattern: Beside("[0-9a-f]{32}"),
        hit: &["infura_", "project", "_secret", " = e012", "86cf10b", "70ea403", "a295c82", "92d9308"],
        miss: &["infura_", "project", "_secret", " = 0960", "c570675", "a24be4e", "d752397", "b577e6"],
        ..BESIDE_HEX
    },
    Rule {
        name: "infura-url",
        about: "Infura addresses with their key",
        keywords: &["infura.io/"],
        pattern: Regex(r"infura\.io/(?:ws/)?v3/([0-9a-f]{32})"),
        left: none,
        entropy: 2.5,
        hit: &[
            "https:/", "/mainne", "t.infur", "a.io/v3", "/c463ca", "166cafd", "733cc9e", "6d59a25", "f4231",
        ],
        miss: &[
            "https:/", "/mainne", "t.infur", "a.io/v3", "/6a621a", "91e136e", "bcb7d67", "6fc776a", "d9df",
        ],
        ..PREFIXED
    },
    Rule {
        name: "alchemy-key",
        about: "Alchemy keys beside the name",
        keywords: &["alchemy"],
        pattern: Beside("[A-Za-z0-9_-]{32}"),
        hit: &["alchemy", "_key = ", "80qxhNo", "rVwpDI6", "5Ab2FAh", "nas2wGn", "3NXI"],
        miss: &["alchemy", "_key = ", "8wkAqPw", "7fxaPQ1", "zmYXMVP", "b6B75mc", "CJy"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "alchemy-url",
        about: "Alchemy addresses with their key",
        keywords: &["g.alchemy.com/", "alchemyapi.io/"],
        pattern: Regex(r"(?:g\.alchemy\.com|alchemyapi\.io)/v2/([A-Za-z0-9_-]{32})"),
        left: none,
        hit: &[
            "https:/", "/eth-ma", "innet.g", ".alchem", "y.com/v", "2/Q_-xL", "o2DEc28", "dsXbUvY",
            "gNXtPrC", "RV5dft",
        ],
        miss: &[
            "https:/", "/eth-ma", "innet.g", ".alchem", "y.com/v", "2/n2_Xk", "0XsgyNc", "DF4_5w6",
            "z0kfGdn", "M2NoX",
        ],
        ..PREFIXED
    },
    Rule {
        name: "etherscan-key",
        about: "Etherscan family keys beside the name",
        keywords: &["etherscan", "bscscan", "polygonscan", "arbiscan", "snowtrace", "ftmscan"],
        pattern: Beside("[A-Z0-9]{34}"),
        hit: &["ethersc", "an_key ", "= 2UWQH", "HOZSV0I", "2HZBWNQ", "04JZ7B4", "LV7V41M", "Q"],
        miss: &["ethersc", "an_key ", "= TCRHR", "PSJAWUD", "6302A44", "CHFIN0M", "B6H0X7S"],
        ..BESIDE_MIXED
    },
    Rule {
        name: "moralis-key",
        about: "Moralis keys beside the name",
        keywords: &["moralis"],
        pattern: Beside("[A-Za-z0-9]{64}"),
        hit: &[
            "moralis", "_key = ", "H97tfJ4", "1nDVxGv", "5wOVhcb", "B0a4fLK", "AMd1gqV", "dPtVJLb",
            "KNQWTbq", "npwajSt", "meiZ0x7", "p",
        ],
        miss: &[
            "moralis", "_key = ", "PeScAhV", "M7ZL6Pu", "sAmQE5s", "HKrAmYY", "pbcXuuv", "kdXTbWs",
            "KCcMcbx", "Lt0ZLfX", "v7xczYP",
        ],
        ..BESIDE_MIXED
    },
    Rule {
        name: "quicknode-url",
        about: "QuickNode addresses with their token",
        keywords: &["quiknode.pro/"],
        pattern: Regex(r"quiknode\.pro/([0-9a-f]{40})"),
        left: none,
        entropy: 2.5,
        hit: &[
            "https:/", "/a-b-c.", "quiknod", "e.pro/a", "27d4ea5", "988bde5", "874f9b9", "5b07790",
            "75e8f60", "2fb1",
        ],
        miss: &[
            "https:/", "/a-b-c.", "quiknod", "e.pro/7", "75b362e", "67fb6ec", "f0ae892", "12b9c62",
            "397c216", "3e9",
        ],
        ..PREFIXED
    },
    Rule {
        name: "blockfrost-key",
        about: "Blockfrost project ids beside the name",
        keywords: &["ckfrost"],
        pattern: Beside("(?:mainnet|preprod|preview|testnet|ipfs)[A-Za-z0-9]{32}"),
        hit: &[
            "blockfr", "ost_pro", "ject = ", "mainnet", "DFT8eqm", "Kh8wTSz", "CSUVwAd", "3z5b9ze", "d2D9",
        ],
        miss: &[
            "blockfr", "ost_pro", "ject = ", "mainnet", "bCPwq5n", "sOMNLfW", "nBAHyo0", "dIL5MwV", "8Lt",
        ],
        ..BESIDE_MIXED
    },
    Rule {
        name: "wallet-private-key",
        about: "private keys of Ethereum-like wallets beside the name",
        keywords: &["private_key", "privatekey", "priv_key", "deployer_key"],
        pattern: Beside("(?:0x)?[0-9a-fA-F]{64}"),
        hit: &[
            "PRIVATE", "_KEY=0x", "e86e2ef", "92b19f9", "5ca3d66", "8e40f2b", "24df6d4", "a8c5ce4",
            "a843ba1", "8b4da7c", "eb6b54e", "3",
        ],
        miss: &[
            "PRIVATE", "_KEY=0x", "838fa57", "69ffc91", "19c19de", "3be9772", "f43c8e7", "982bdf0",
            "c0faa81", "bc5d2e4", "73d8981",
        ],
        ..BESIDE_HEX
    },
];
