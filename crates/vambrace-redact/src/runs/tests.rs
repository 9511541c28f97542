use proptest::prelude::*;

use super::*;

const BASE62: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const BASE64: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const BASE64_URL: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const BASE36: &[u8] = b"abcdefghijklmnopqrstuvwxyz0123456789";
const BASE32: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const HEX: &[u8] = b"0123456789abcdef";

/// Always the same numbers, so that the counts below are exact.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % sides
    }

    fn token(&mut self, alphabet: &[u8], length: usize) -> String {
        (0..length).map(|_| char::from(alphabet[self.roll(alphabet.len())])).collect()
    }
}

#[test]
fn a_long_run_is_not_held_back() {
    let hay = "aB3".repeat(400);
    let decided =
        search(Entropy::Context, hay.as_bytes(), 0, Whole::MoreMayCome, &mut |_| panic!("no secret"));
    assert_eq!(decided, hay.len());
    assert!(in_pieces(Entropy::Aggressive, hay.as_bytes(), 7).is_empty());
}

/// Digests and the like, in the same places; `Aggressive` does not take them either.
#[test]
fn hex_is_never_random() {
    let mut dice = Dice(0xD1CE);
    for length in [20, 32, 40, 64, 128] {
        for place in PLACES {
            let digest = dice.token(HEX, length);
            for value in [digest.to_uppercase(), dashed(&digest), digest] {
                let text = place.replace('@', &value);
                assert!(found(Entropy::Aggressive, &text).is_empty(), "{text}");
            }
        }
    }
}

/// As a UUID is written.
fn dashed(digest: &str) -> String {
    digest.as_bytes().chunks(4).map(|four| String::from_utf8_lossy(four)).collect::<Vec<_>>().join("-")
}

#[test]
fn off_is_off() {
    let token = Dice(7).token(BASE62, 40);
    let text = format!("secret_key = \"{token}\"");
    assert_eq!(found(Entropy::Context, &text), [token.as_str()]);
    assert!(found(Entropy::Off, &text).is_empty());
    let text = format!("see {token} there");
    assert!(found(Entropy::Context, &text).is_empty());
    assert_eq!(found(Entropy::Aggressive, &text), [token.as_str()]);
}

fn found(entropy: Entropy, text: &str) -> Vec<&str> {
    let mut values = Vec::new();
    search(entropy, text.as_bytes(), 0, Whole::Yes, &mut |secret| values.extend(text.get(secret.value)));
    values
}

/// Every run by looking at every byte, judged with the whole text at hand.
pub(crate) fn naive(hay: &[u8]) -> Vec<Found> {
    let in_run = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/_-.~".contains(byte);
    let mut secrets = Vec::new();
    let mut start = 0;
    while start < hay.len() {
        let end = start + hay[start..].iter().take_while(|byte| in_run(byte)).count();
        let turn = |pair: &[u8]| {
            let (a, b) = (pair[0], pair[1]);
            (a.is_ascii_alphabetic() && b.is_ascii_digit())
                || (a.is_ascii_digit() && b.is_ascii_alphabetic())
                || (a.is_ascii_lowercase() && b.is_ascii_uppercase())
        };
        let n_turns = hay[start..end].windows(2).filter(|pair| turn(pair)).count();
        if (18..=256).contains(&(end - start))
            && n_turns >= 3
            && let Verdict::Secret(secret) = judge(Entropy::Context, hay, start, end, Whole::Yes)
        {
            secrets.push(secret);
        }
        start = end.max(start + 1);
    }
    secrets
}

/// The search on a text that arrives in pieces of `size` bytes, of which only the last `KEPT` are kept before
/// the cursor, as in a stream.
fn in_pieces(entropy: Entropy, hay: &[u8], size: usize) -> Vec<Found> {
    let mut secrets = Vec::new();
    let (mut cursor, mut arrived) = (0, 0);
    while arrived < hay.len() {
        arrived = hay.len().min(arrived + size);
        let whole = if arrived == hay.len() { Whole::Yes } else { Whole::MoreMayCome };
        let base = usize::saturating_sub(cursor, crate::engine::LOOK_BEHIND);
        let decided = search(entropy, &hay[base..arrived], cursor - base, whole, &mut |found| {
            let shift = |range: std::ops::Range<usize>| range.start + base..range.end + base;
            secrets.push(Found { value: shift(found.value), extent: shift(found.extent) });
        });
        assert!(base + decided >= cursor);
        cursor = base + decided;
        assert!(arrived - cursor <= LONGEST + 2 * place::AHEAD + 2, "too much is held back");
    }
    secrets
}

fn text() -> impl Strategy<Value = String> {
    let words = [
        " ",
        "\n",
        "\n\n",
        "=",
        ": ",
        "\"",
        "'",
        "token",
        "api_key",
        "service",
        "sha256",
        "x",
        "ordinary words ",
        "camelCaseIdentifierOfSomeLength",
        "/usr/share/doc/packages",
        "<tag>",
        "</tag>",
        "é",
        "==",
        "-----",
    ];
    let atom = prop_oneof![
        6 => proptest::sample::select(words.map(str::to_owned).to_vec()),
        2 => "[a-zA-Z0-9]{18,44}",
        1 => "[a-zA-Z0-9+/_.-]{1,30}",
        1 => "[a-z]{2,6}[_.-][a-zA-Z0-9]{24,40}[.]{0,2}",
        1 => "[a-zA-Z0-9]{250,262}",
        1 => "[ -~\n]{0,40}",
        1 => (300usize..700).prop_map(|length| " ".repeat(length)),
    ];
    proptest::collection::vec(atom, 0..20).prop_map(|atoms| atoms.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn leaping_finds_what_looking_at_every_byte_finds(text in text()) {
        let mut secrets = Vec::new();
        search(Entropy::Context, text.as_bytes(), 0, Whole::Yes, &mut |secret| secrets.push(secret));
        prop_assert_eq!(secrets, naive(text.as_bytes()));
    }

    #[test]
    fn pieces_do_not_matter(text in text(), size in 1usize..700) {
        for entropy in [Entropy::Context, Entropy::Aggressive] {
            let mut secrets = Vec::new();
            search(entropy, text.as_bytes(), 0, Whole::Yes, &mut |secret| secrets.push(secret));
            prop_assert_eq!(in_pieces(entropy, text.as_bytes(), size), secrets);
        }
    }
}

/// Places where secrets stand; `@` is the secret.
const PLACES: [&str; 22] = [
    "@",
    "\n@\n",
    "$ cat token.txt\n@\n$ ls\n",
    "SERVICE_KEY=@",
    "export SERVICE_VALUE=@\n",
    "  service: @\n",
    "{\"apiKey\": \"@\", \"x\": 1}",
    "{\"service\":\"@\"}",
    "config.connection = '@';",
    "let service: &'static str = \"@\";",
    "const char *service[] = { }; service = \"@\";",
    "'service' => '@',",
    "service := `@`",
    "set(\"service\", \"@\")",
    "Authorization: Bearer @",
    "X-Service: @\r\n",
    "> X-Auth: @",
    "curl -H 'X-Service: @' localhost",
    "tool --auth @ --verbose",
    "the access token is @, keep it",
    "<service>@</service>",
    "GET /x?signer=@&y=1",
];

/// How many of a thousand tokens are found whole in every place, counted on fewer.
#[track_caller]
fn check_share(alphabet: &[u8], length: usize, at_least: usize) {
    let mut dice = Dice(0x5EED + length as u64);
    let tokens: Vec<String> = (0..100).map(|_| dice.token(alphabet, length)).collect();
    for place in PLACES {
        let hits =
            tokens.iter().filter(|token| found(Entropy::Context, &place.replace('@', token)) == [*token]);
        let n_hits = hits.count();
        assert!(n_hits * 1000 >= at_least * tokens.len(), "{n_hits} of length {length} in {place:?}");
    }
}

#[test]
fn random_tokens_are_found_in_places_where_secrets_stand() {
    for length in [32, 36, 40, 48, 64] {
        check_share(BASE62, length, 990);
        check_share(BASE64_URL, length, 980);
        check_share(BASE64, length, 960);
        check_share(BASE36, length, 980);
        check_share(BASE32, length, 950);
    }
    check_share(BASE62, 24, 970);
    check_share(BASE62, 20, 900);
}

/// Places that say nothing; `@` is the secret.
const NOWHERE: [&str; 5] = ["x = \"@\"", "see @ there", "it was @.\n", "f('@')", "@\\r"];

#[test]
fn a_token_with_a_prefix_is_found_anywhere() {
    let mut dice = Dice(0xACE);
    for (alphabet, length) in [(BASE62, 24), (BASE62, 40), (BASE36, 32), (BASE32, 36), (BASE64_URL, 48)] {
        for prefix in ["ac_", "acme-", "acme_live_", "acme_v1."] {
            for place in NOWHERE {
                let tokens = (0..200).map(|_| format!("{prefix}{}", dice.token(alphabet, length)));
                let n_hits = tokens
                    .filter(|token| found(Entropy::Context, &place.replace('@', token)) == [token.as_str()])
                    .count();
                assert!(n_hits >= 180, "{n_hits} of {prefix} and {length} in {place:?}");
            }
        }
    }
}

#[test]
fn a_prefix_before_a_digest_says_nothing() {
    let mut dice = Dice(0xDEC);
    for prefix in ["libacme-", "acme_", "acme.", "vpc-"] {
        for length in [24, 32, 40, 64] {
            for place in NOWHERE {
                let text = place.replace('@', &format!("{prefix}{}", dice.token(HEX, length)));
                assert!(found(Entropy::Context, &text).is_empty(), "{text}");
            }
        }
    }
}

#[test]
fn short_tokens_are_found_beside_a_name_for_credentials() {
    let mut dice = Dice(0x5107);
    for (alphabet, length, at_least) in [(BASE62, 18, 180), (BASE36, 18, 160)] {
        let tokens: Vec<String> = (0..200).map(|_| dice.token(alphabet, length)).collect();
        let count = |name: &str| {
            let text = |token: &String| format!("\"{name}\": \"{token}\"");
            tokens.iter().filter(|token| found(Entropy::Context, &text(token)) == [token.as_str()]).count()
        };
        assert!(count("acmeKey") >= at_least, "{} of length {length}", count("acmeKey"));
        assert_eq!(count("acme"), 0);
    }
}
