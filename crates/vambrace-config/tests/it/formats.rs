//! The four formats say the same thing, and our JSON reader agrees with others.

#![expect(clippy::disallowed_methods, reason = "a test reads its own JSON")]

use proptest::prelude::*;

use crate::bench::Bench;

#[test]
fn the_same_settings_in_every_format() {
    let yaml = "limits:\n  time: 7\nallowed_commands: [git]\nrag: {similarity_threshold: 0.5}\nscope:\n";
    let json =
        r#"{"limits": {"time": 7}, "allowedCommands": ["git"], "rag": {"similarity_threshold": 5e-1}}"#;
    let json5 =
        "{limits: {time: +0x7,}, 'allowed_commands': ['g\\x69t',], rag: {similarityThreshold: .5}, // end\n}";
    let toml = "allowed_commands = [\"git\"]\nlimits.time = 7\n[rag]\nsimilarity_threshold = 0.5\n";
    let load = |name: &str, text: &str| format!("{:?}", Bench::new().config(name, text).loaded().config);
    let expected = load("c.yaml", yaml);
    for (name, text) in [("c.yml", yaml), ("c.json", json), ("c.json5", json5), ("c.toml", toml)] {
        assert_eq!(load(name, text), expected, "{name}");
    }
    assert_eq!(load("c.json", &format!("\u{feff}{json}")), expected);
}

#[test]
fn an_empty_file_sets_nothing() {
    for (name, text) in
        [("c.yaml", ""), ("c.yaml", "# nothing\n"), ("c.json", "{}"), ("c.json5", "{/**/}"), ("c.toml", "\n")]
    {
        assert!(Bench::new().config(name, text).loaded().weaker.is_empty(), "{name}");
    }
}

#[test]
fn text_from_the_environment_becomes_what_its_key_needs() {
    let loaded = Bench::new()
        .config(
            "c.yaml",
            "server: {agent_port: '${PORT:-9000}'}\na2a: {polling: '${POLL}'}\nagent_name: '${PORT:-9000}'\n",
        )
        .environment("POLL", "false")
        .loaded();
    assert_eq!(loaded.config.server.agent_port, 9000);
    assert!(!loaded.config.a2a.polling);
    assert_eq!(loaded.config.agent_name, "9000");
    // Written out in the file, a text is a text.
    assert!(Bench::new().config("c.yaml", "server: {agent_port: '9000'}").load().is_err());
}

/// Any text without a dollar sign, which means the environment here.
fn text() -> impl Strategy<Value = String> {
    any::<String>().prop_map(|text| text.replace('$', ""))
}

/// Any JSON value, kept shallow.
fn json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        any::<f64>().prop_filter("finite", |number| number.is_finite()).prop_map(Into::into),
        text().prop_map(Into::into),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Into::into),
            prop::collection::btree_map(text(), inner, 0..6)
                .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
        ]
    })
}

/// Loads a tool whose input schema is the value, and gives back what arrived.
fn through(name: &str, text: &str) -> Result<serde_json::Value, String> {
    let text = format!(
        "{{\"tools\":{{\"declared\":[{{\"name\":\"a\",\"kind\":\"command\",\"binary\":\"a\",\"input_schema\":{text}}}]}}}}"
    );
    let loaded = Bench::new().config(name, text).load().map_err(|errors| errors.to_string())?;
    Ok(loaded.config.tools.declared[0].input_schema.clone().unwrap_or_default())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn json_is_read_as_others_read_it(value in json()) {
        let text = value.to_string();
        prop_assert_eq!(through("c.json", &text), Ok(value.clone()));
        prop_assert_eq!(through("c.json5", &text), Ok(value));
    }

    #[test]
    fn garbage_is_refused_where_others_refuse_it(text in "[\\[\\]{}:,\"'a-c0-9.eExu+ \\\\/*\n-]{0,24}") {
        // Ours may refuse more: a key that stands twice, for one.
        if through("c.json", &text).is_ok() {
            prop_assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok(), "JSON {}", text);
        }
        if through("c.json5", &text).is_ok() {
            prop_assert!(json5::from_str::<serde_json::Value>(&text).is_ok(), "JSON5 {}", text);
        }
    }

    #[test]
    fn no_file_makes_it_panic(text in ".{0,200}", name in prop::sample::select(vec!["c.yaml", "c.json", "c.json5", "c.toml"])) {
        let _ = Bench::new().config(name, text).load();
    }
}
