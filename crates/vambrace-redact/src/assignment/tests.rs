use super::*;

#[track_caller]
fn check(line: &str, expected: Option<&str>) {
    let hay = line.as_bytes();
    let (_, rule) = crate::rules::assignment().unwrap();
    let found = (0..hay.len()).find_map(|place| {
        rule.keywords.iter().find_map(|keyword| {
            rule.keyword_at(keyword, hay, place).then(|| find(hay, place, keyword)).flatten()
        })
    });
    assert_eq!(found.and_then(|found| line.get(found.value)), expected, "{line}");
}

#[test]
fn every_joint_leads_to_its_value() {
    let value = ["kd8", "f7ah3", "kq9x"].concat();
    for line in [
        "password = \"V\"",
        "DB_PASSWORD=V",
        "  api_key: V",
        "\"secret\": \"V\",",
        "\\\"token\\\": \\\"V\\\"",
        "--token V",
        "--password=V",
        "get(\"api_token\", \"V\")",
        "<password>V</password>",
        "<string name=\"api_key\">V</string>",
        "<property name=\"dbPassword\" value=\"V\"/>",
        "let token: &str = \"V\";",
        "secretAccessKey => 'V'",
        ":api_key => \"V\"",
        "token := \"V\"",
        "new Client { Password = \"V\" }",
        "ALTER USER me WITH PASSWORD 'V'",
        "spring.datasource.password=V",
        "?access_token=V&x=1",
        "Server=a;Password=V;Database=b",
        "define('DB_PASSWORD', 'V');",
        "hmac_key: V",
        "jwt.key=V",
        "private-key: 'V'",
        "db_pass = 'V'",
    ] {
        check(&line.replace('V', &value), Some(&value));
    }
}

#[test]
fn names_that_are_no_secret() {
    for line in [
        "token == \"V\"",
        "token_url = \"V\"",
        "tokenizer = \"V\"",
        "public_token = \"V\"",
        "authenticity_token\" value=\"V\"",
        "nextToken: \"V\"",
        "compass = \"V\"",
        "cache_key = \"V\"",
        "primary_key: \"V\"",
        "credentialsId: 'V'",
        "badge.svg?token=V",
        "io.jsonwebtoken:V",
    ] {
        check(&line.replace('V', &["kd8", "f7ah3", "kq9x"].concat()), None);
    }
}

#[test]
fn passwords_may_be_words_and_code_is_none() {
    check("PASSWORD=correcthorse", Some("correcthorse"));
    check("password: \"S3cret!\"", Some("S3cret!"));
    check("password: \"hunter2!\"", Some("hunter2!"));
    check("pwd = 'hunter2'", Some("hunter2"));
    check("password: hunter2!", Some("hunter2!"));
    check("password: \"P@ssword\"", Some("P@ssword"));
    check("--password hunter2", Some("hunter2"));
    check("password: \"Password\"", None);
    check("password: \"Forgot password?\"", None);
    check("password: \"Passwort!\"", None);
    check("password: \"sha256\"", None);
    check("password: \"pbkdf2_sha256\"", None);
    check("password: \"^[a-z0-9]+$\"", None);
    check("password: \"\\\\d{8}x1\"", None);
    check("password = getPassword1a2b()", None);
    check("password = ${DB_PASSWORD}", None);
    check("password = password2", None);
    check("token = config.token2a.b3c", None);
    check("token: \"unexpected-token\"", None);
    check("token: \"m2m-access-token-12345\"", None);
    check("token: Html5everToken)", None);
    check("pub const TOKEN_READ: TOKEN_ACCESS_MASK = 131080u32;", None);
    check("secret = \"/run/secrets/a1b2c3\"", None);
    check("password: [REDACTED:jwt]", None);
    check("password: \"me@mail.local1\"", None);
    check("secret: SHARED_SECRET_2B9X_V7", None);
}

#[test]
fn a_key_needs_another_word_and_a_value_like_one() {
    let hex = ["0f3b9c1e", "77a2d4f8"].concat().repeat(2);
    let uuid = ["0f3b9c1e", "-77a2-4d", "f8-9b1c-", "5e6f7a8b", "9c0d"].concat();
    let value = ["kd8", "f7ah3", "kq9x", "Zp4v", "W2mT7"].concat();
    for line in ["ACME_KEY=V", "acme_key = \"V\"", "acmeKey: \"V\"", "acme.key=V", "X-Acme-Key: V", "--key V"]
    {
        for value in [&hex, &uuid, &value] {
            check(&line.replace('V', value), Some(value));
        }
    }
    for line in
        ["key = \"V\"", "cacheKey: \"V\"", "pub_key=V", "sort-key: V", "key_id = \"V\"", "item.key = \"V\""]
    {
        check(&line.replace('V', &hex), None);
    }
    check("ACME_KEY=left_arrow_2", None);
    check("ADDRESS_PAT = r\"[0-9a-f]+\\.x1\"", None);
    check(&format!("ACME_PAT={hex}"), Some(&hex));
}

#[test]
fn signs_quotes_and_comments_around_a_password() {
    check("db_password=Tr0ub&3\n", Some("Tr0ub&3"));
    check("password: Tr0ub&3", Some("Tr0ub&3"));
    check("password=ab&user=c1\n", None);
    check("f(host='a', user='b', passwd='s3cret')", Some("s3cret"));
    check("f(passwd='s3cret')", None);
    check("host=a password=s3cret dbname=b", Some("s3cret"));
    let value = ["kd8", "f7ah3", "kq9x"].concat();
    for line in [
        "token = \"\"\"V\"\"\"",
        "token = '''V'''",
        "token = `V`",
        "token = rb\"V\"",
        "token = f\"V\"",
        "token: /* live */ \"V\"",
        "token /* live */ = \"V\"",
        "\\\\\\\"token\\\\\\\": \\\\\\\"V\\\\\\\"",
    ] {
        check(&line.replace('V', &value), Some(&value));
    }
    check(&format!("token = f\"{value}{{name}}\""), None);
}

/// The oracle of the short look at a name: every keyword at every place of the line.
fn is_secret_leaf_slowly(name: &str, leaf: &str) -> bool {
    let line = format!("\"{name}\": \"{leaf}\"");
    let hay = line.as_bytes();
    let (_, rule) = crate::rules::assignment().unwrap();
    let at = |place: usize| {
        rule.keywords
            .iter()
            .any(|keyword| rule.keyword_at(keyword, hay, place) && find(hay, place, keyword).is_some())
    };
    (0..name.len() + 1).any(at)
}

#[test]
fn a_short_look_at_the_name_is_enough() {
    let (_, rule) = crate::rules::assignment().unwrap();
    assert_eq!(rule.keywords, KEYWORDS);
    // None can reach over the quotation mark behind the name.
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
    assert!(KEYWORDS.iter().all(|keyword| keyword.bytes().all(is_plain)));
    let leaf = ["kd8", "f7ah3", "kq9x"].concat();
    for keyword in KEYWORDS {
        for name in [
            keyword.to_owned(),
            keyword.to_uppercase(),
            format!("my_{keyword}"),
            format!("my{keyword}s"),
            format!("{keyword}.x"),
            format!("ä{keyword}ä"),
            keyword.chars().skip(1).collect(),
        ] {
            let found = is_secret_leaf(&name, &leaf);
            assert_eq!(found, is_secret_leaf_slowly(&name, &leaf), "{name}");
        }
    }
}
