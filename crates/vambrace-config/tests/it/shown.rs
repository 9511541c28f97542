//! What is shown: the settings in force, the schema, the starter file.

use vambrace_config::{Origin, ProfileName, init_text, schema, show};

use crate::bench::Bench;

#[test]
fn secrets_are_masked_everywhere() {
    let yaml = include_str!("every_section.yaml")
        .replace("user:password@", "user:hushhush@")
        .replace(":password@", ":hushhush@")
        .replace("password: password", "password: hushhush")
        .replace("token: t,", "token: hushhush,")
        .replace("api_key: k", "api_key: hushhush")
        .replace("secret: ka_abc", "secret: hushhush")
        .replace("X-Key: value", "X-Key: hushhush");
    let loaded = Bench::new().config("c.yaml", yaml).environment("INTERNAL_AUTH_TOKEN", "hushhush").loaded();
    let shown = format!("{:?} {:?} {:?}", show(&loaded), loaded, serde_json::to_string(&loaded.config));
    assert!(!shown.contains("hush"), "{shown}");
    assert!(shown.contains("postgres://[secret]@db/memory"), "{shown}");
}

#[test]
fn every_value_has_its_origin() {
    let bench = Bench::new()
        .config("c.yaml", "limits:\n  time: 5\n")
        .file("work/vambrace.toml", "[limits]\nprocesses = 7\n")
        .profile("workspace-agent");
    let loaded = bench.loaded();
    let shown = show(&loaded);
    let of = |key: &str| {
        let value = shown.iter().find(|value| value.key == key).unwrap();
        (value.value.clone(), bench.without_folder(&value.origin.to_string()))
    };
    assert_eq!(of("limits.time"), ("5".to_owned(), "c.yaml:2".to_owned()));
    assert_eq!(of("limits.processes"), ("7".to_owned(), "work/vambrace.toml:2".to_owned()));
    assert_eq!(of("net.headers"), ("\"any\"".to_owned(), "profile workspace-agent".to_owned()));
    assert_eq!(of("profile"), ("\"workspace-agent\"".to_owned(), "command line".to_owned()));
    assert_eq!(of("scope.symlinks"), ("\"inside\"".to_owned(), "default".to_owned()));
    let weaker: Vec<_> =
        loaded.weaker.iter().map(|weaker| (weaker.key.as_str(), weaker.value.as_str())).collect();
    assert!(weaker.contains(&("tools.command_policy.argument_rules", "\"off\"")), "{weaker:?}");
    assert!(!weaker.iter().any(|(key, _)| key.starts_with("limits.")), "{weaker:?}");
}

#[test]
fn strict_is_not_weaker_than_itself() {
    let loaded = Bench::new().loaded();
    assert_eq!(loaded.weaker, []);
    assert!(show(&loaded).iter().all(|value| value.origin == Origin::Default || value.key == "version"));
}

#[test]
fn every_profile_loads_and_announces_itself() {
    for profile in ProfileName::ALL {
        let loaded = Bench::new().profile(profile.as_str()).loaded();
        assert_eq!(loaded.config.profile, profile);
        let weaker: Vec<_> = loaded.weaker.iter().map(|weaker| weaker.key.as_str()).collect();
        assert_eq!(weaker.is_empty(), profile == ProfileName::Strict, "{profile:?} {weaker:?}");
        println!("{profile:?}: {weaker:?}");
    }
}

#[test]
fn the_starter_loads_as_it_stands_and_uncommented() {
    for profile in ProfileName::ALL {
        let text = init_text(profile);
        let plain = Bench::new().config("c.yaml", &text).loaded();
        let strip = |line: &str| line.strip_prefix("# ").unwrap_or(line).to_owned() + "\n";
        let uncommented: String = text.lines().map(strip).collect();
        let mut full = Bench::new().config("c.yaml", &uncommented).loaded();
        assert_eq!(full.config.rules.len(), 1);
        full.config.rules.clear();
        assert_eq!(format!("{:?}", full.config), format!("{:?}", plain.config), "{uncommented}");
        // It is also a valid project file under the same profile.
        Bench::new().file("work/vambrace.yaml", &text).profile(profile.as_str()).loaded();
    }
}

#[test]
fn the_schema_describes_every_key() {
    let schema = schema();
    assert_eq!(schema["title"], "Vambrace configuration");
    let mut missing = Vec::new();
    for (definition, content) in schema["$defs"].as_object().unwrap() {
        for (name, property) in content["properties"].as_object().into_iter().flatten() {
            if property.get("description").is_none() && !(definition == "Net" && name == "http") {
                missing.push(format!("{definition}.{name}"));
            }
        }
    }
    assert_eq!(missing, Vec::<String>::new());
    for pointer in [
        "/properties/jwt/properties/trust",
        "/$defs/Net/properties/http/properties/redirects",
        "/properties/model",
    ] {
        assert!(schema.pointer(pointer).is_some(), "{pointer}");
    }
}
