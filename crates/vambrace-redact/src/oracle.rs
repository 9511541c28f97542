//! A second, naive redactor: no index, no windows, no state, no streaming. It tries every rule at every place and
//! paints the bytes. The engine must agree with it.

use std::sync::OnceLock;

use proptest::prelude::*;
use vambrace_types::Secret;

use crate::placeholder::Placeholders;
use crate::redactor::{Redactor, RedactorSettings, compile};
use crate::rule::{Pattern, Rank, Rule};
use crate::{KnownValue, pem, rules};

/// One for all cases, because compiling the rules takes longer than a case.
fn redactor() -> &'static Redactor {
    static REDACTOR: OnceLock<Redactor> = OnceLock::new();
    REDACTOR.get_or_init(|| {
        let known = KNOWN
            .iter()
            .map(|(name, value)| KnownValue {
                name: (*name).to_owned(),
                value: Secret::new((*value).to_owned()),
            })
            .collect();
        Redactor::new(RedactorSettings {
            known,
            patterns: vec!["corp-[0-9]{6}".to_owned()],
            ..Default::default()
        })
        .unwrap()
    })
}

/// Which bytes are secret, by trying everything everywhere.
fn paint(redactor: &Redactor, hay: &[u8]) -> Vec<bool> {
    let mut painted = vec![false; hay.len()];
    let mut fill = |range: std::ops::Range<usize>| painted[range].fill(true);
    let block_ends = blocks(hay);
    for block in &block_ends {
        fill(block.clone());
    }
    let in_block = |place: usize| block_ends.iter().any(|block| block.start < place && place < block.end);
    let names: Vec<_> = rules().map(|rule| crate::RuleName::new(rule.name)).collect();
    let placeholders = Placeholders::new(names.iter());
    for (number, rule) in rules().enumerate() {
        for place in (0..hay.len()).filter(|place| !in_block(*place)) {
            let found = match rule.pattern {
                Pattern::Regex(_) => redactor
                    .finder()
                    .match_at(rule, number, hay, place, place + rule.reach)
                    .into_iter()
                    .collect(),
                Pattern::Assignment | Pattern::Beside(_) | Pattern::Parsed(..) => {
                    let keywords =
                        rule.keywords.iter().filter(|keyword| rule.keyword_at(keyword, hay, place));
                    keywords
                        .flat_map(|keyword| redactor.finder().find(rule, number, hay, place, keyword))
                        .collect()
                }
                Pattern::PrivateKey => Vec::new(),
            };
            for found in found {
                let beside = placeholders.near(hay, found.extent).next().is_some();
                if !beside && !crate::published::is_published(&hay[found.value.clone()]) {
                    fill(found.value);
                }
            }
        }
    }
    for (_, value) in KNOWN {
        for spelling in crate::known::spellings(value) {
            for place in 0..hay.len() {
                let n_equal = spelling
                    .text()
                    .iter()
                    .zip(&hay[place..])
                    .take_while(|(ours, theirs)| spelling.agree(**ours, **theirs))
                    .count();
                if n_equal >= spelling.n_sure {
                    fill(place..place + n_equal);
                }
            }
        }
    }
    for secret in crate::runs::tests::naive(hay) {
        if redactor.finder().placeholders.near(hay, secret.extent).next().is_none() {
            fill(secret.value);
        }
    }
    for place in 0..hay.len() {
        let digits = |text: &[u8]| text.len() >= 6 && text[..6].iter().all(u8::is_ascii_digit);
        let beside = placeholders.near(hay, place..place + 11).next().is_some();
        if hay[place..].strip_prefix(b"corp-").is_some_and(digits) && !beside {
            fill(place..place + 11);
        }
    }
    painted
}

fn blocks(hay: &[u8]) -> Vec<std::ops::Range<usize>> {
    let mut blocks = Vec::new();
    let mut place = 0;
    while place < hay.len() {
        if hay[place..].starts_with(b"-----BEGIN ") && pem::opens(hay, place).is_some() {
            let end = (place..hay.len()).find(|end| hay[*end..].starts_with(pem::END.as_bytes()));
            let end = end.map_or(hay.len(), |end| pem::closes(hay, end));
            blocks.push(place..end);
            place = end;
        } else {
            place += 1;
        }
    }
    blocks
}

const KNOWN: [(&str, &str); 2] = [("APP_VALUE", "kn0wn value/ä\"9"), ("OTHER", "zz-plain-known-zz")];

fn atom() -> impl Strategy<Value = String> {
    let words = [
        " ",
        "\n",
        "=",
        ": ",
        "\"",
        "'",
        "//",
        ".",
        "-",
        "_",
        "@",
        "password",
        "token",
        "kind: Secret\n",
        "data:\n",
        "  a: ",
        "cookie: ",
        "; sid=",
        ": |\n",
        "curl -u ",
        "\"kty\":",
        "\"d\":\"",
        "name: ",
        "value: ",
        "login me ",
        "\n---\n",
        "secret_key",
        "API_KEY",
        "Bearer ",
        "Authorization: Basic ",
        "https://user:",
        "curl -u a:",
        "let x = ",
        "ordinary words here",
        "é漢",
        "\\n",
        "%3D",
        "x",
        "[REDACTED:jwt]",
        "[REDACTED:",
        "-----BEGIN ",
        "-----END PRIVATE KEY-----",
        "--token ",
    ];
    let secrets = [
        ["ghp", "_", &"a1B2".repeat(9)].concat(),
        ["sk-", "ant-", &"k3Jd9_".repeat(6)].concat(),
        ["AK", "IA", "QW7ER2TYUIOPAS3D"].concat(),
        ["eyJ", "hbGciOiJIUzI1NiJ9", ".", "eyJzdWIiOiIxMjM0NTY3ODkwIn0", ".", "c2lnbmF0dXJlLWhlcmU"].concat(),
        [
            "-----BEGIN ",
            "PRIVATE KEY-----\n",
            &"MIIEvQIBADANBgkq".repeat(3),
            "\n-----END PRIVATE",
            " KEY-----",
        ]
        .concat(),
        ["abc", "8Q~", &"dR7_x".repeat(7)].concat(),
        ["123456789", ":AA", &"Fx9-k".repeat(6), "Fx9"].concat(),
        "kd8f7ah3kq9x".to_owned(),
        "corp-123456".to_owned(),
    ];
    let known = KNOWN.map(|(_, value)| value.to_owned());
    let encoded = KNOWN.map(|(_, value)| {
        String::from_utf8(crate::encode::base64(
            format!("x{value}y").as_bytes(),
            crate::encode::Alphabet::Standard,
        ))
        .unwrap()
    });
    let all: Vec<String> =
        words.map(str::to_owned).into_iter().chain(secrets).chain(known).chain(encoded).collect();
    prop_oneof![
        9 => proptest::sample::select(all),
        1 => "[a-zA-Z0-9+/=._~-]{1,24}",
        1 => "[a-zA-Z0-9]{20,40}",
    ]
}

fn text() -> impl Strategy<Value = String> {
    proptest::collection::vec(atom(), 0..24).prop_map(|atoms| atoms.concat())
}

/// What the search below has found, as rows.
#[test]
fn finds_of_the_search_stay_mended() {
    let token = ["ghp", "_", &"a1B2".repeat(9)].concat();
    let header_of_two = format!("-----BEGIN password=0A0-----END {} KEY-----a{token}", "PRIVATE");
    let quote_gone = format!("--token {}Dlet x = \"{}", ["AK", "IA", "QW7ER2TYUIOPAS3"].concat(), KNOWN[0].1);
    for text in [header_of_two, quote_gone] {
        let once = redactor().text(&text).value;
        let twice = redactor().text(once.as_str());
        assert_eq!(twice.value.as_str(), once.as_str(), "{text:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_engine_agrees_with_trying_everything_everywhere(text in text()) {
        let redactor = redactor();
        let hay = text.as_bytes();
        let mut found = vec![false; hay.len()];
        for finding in redactor.scan(hay) {
            found[finding.start..finding.end].fill(true);
        }
        // The naive one paints bytes; the engine widens to whole characters, which these secrets never need.
        prop_assert_eq!(found, paint(redactor, hay), "{:?}", text);
    }

    #[test]
    fn redacting_twice_changes_nothing(text in text()) {
        let redactor = redactor();
        let once = redactor.text(&text).value;
        let twice = redactor.text(once.as_str());
        prop_assert_eq!(twice.value.as_str(), once.as_str(), "{:?}", text);
        prop_assert_eq!(twice.n_redactions, 0);
    }

    #[test]
    fn chunks_do_not_matter(text in text(), size in 1usize..80) {
        let redactor = redactor();
        let whole = redactor.text(&text);
        let mut out = Vec::new();
        let mut stream = redactor.stream();
        text.as_bytes().chunks(size).for_each(|chunk| stream.push(chunk, &mut out));
        let stats = stream.finish(&mut out);
        prop_assert_eq!(String::from_utf8(out).unwrap(), whole.value.as_str());
        prop_assert_eq!(stats.n_redactions, whole.n_redactions);
    }

    #[test]
    fn bytes_outside_findings_stay(bytes in proptest::collection::vec(any::<u8>(), 0..400), text in text()) {
        let redactor = redactor();
        // A scan also sees through control characters, which a stream passes on as they are.
        let bytes: Vec<u8> = bytes.into_iter().filter(|byte| *byte >= 0x20 && *byte != 0x7f && *byte != 0xc2).collect();
        let hay = [bytes.as_slice(), text.as_bytes(), bytes.as_slice()].concat();
        let mut expected = Vec::new();
        let mut written = 0;
        for finding in redactor.scan(&hay) {
            expected.extend_from_slice(&hay[written..finding.start]);
            expected.extend_from_slice(format!("[REDACTED:{}]", finding.rule).as_bytes());
            written = finding.end;
        }
        expected.extend_from_slice(&hay[written..]);
        let mut out = Vec::new();
        let mut stream = redactor.stream();
        hay.chunks(7).for_each(|chunk| stream.push(chunk, &mut out));
        stream.finish(&mut out);
        prop_assert_eq!(out, expected);
    }
}

#[test]
fn every_rule_compiles_and_fits_its_window() {
    for rule in rules() {
        assert_eq!(
            compile(rule).is_some(),
            matches!(rule.pattern, Pattern::Regex(_) | Pattern::Beside(_)),
            "{}",
            rule.name
        );
        assert_eq!(crate::RuleName::new(rule.name).as_str(), rule.name, "not kebab case");
        assert!(!rule.about.is_empty() && !rule.keywords.is_empty(), "{}", rule.name);
        let lower = |keyword: &&str| keyword.bytes().all(|byte| !byte.is_ascii_uppercase());
        assert!(rule.case == crate::rule::Case::Exact || rule.keywords.iter().all(lower), "{}", rule.name);
        assert!(rule.rank != Rank::Known);
        let spelled = rules().filter(|other| other.name == rule.name).count();
        assert_eq!(spelled, 1, "{} is there twice", rule.name);
    }
}

#[test]
fn no_rule_matches_its_own_placeholder() {
    let redactor = redactor();
    let names = rules().map(|rule: &Rule| rule.name).chain([
        "env-app-value",
        "env-other",
        "custom-pattern-1",
        "high-entropy",
    ]);
    for name in names {
        let text =
            format!("password = \"[REDACTED:{name}]\" token=[REDACTED:{name}]; {name}: [REDACTED:{name}]");
        assert_eq!(redactor.text(&text).n_redactions, 0, "{name}");
    }
}
