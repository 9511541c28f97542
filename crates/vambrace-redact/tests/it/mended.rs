//! What people found who looked for holes, so that it stays closed.

use vambrace_redact::{Redactor, RedactorSettings};

fn redactor() -> Redactor {
    Redactor::new(RedactorSettings::default()).unwrap()
}

#[track_caller]
fn gone(text: &str, secret: &str) {
    let shown = redactor().text(text).value.into_string();
    assert!(shown.contains("[REDACTED:"), "{text}");
    assert!(!shown.contains(secret), "{shown}");
}

#[track_caller]
fn stays(text: &str) {
    assert_eq!(redactor().text(text).value.as_str(), text);
}

#[test]
fn a_password_may_begin_with_any_sign_and_a_reference_stays() {
    let tail = ["BrOO0U", "CORGH0m"].concat();
    for sign in ["#", "@", "&", "*"] {
        gone(&format!("password = \"{sign}{tail}\"\n"), &tail);
        gone(&format!("DB_PASSWORD={sign}{tail}\n"), &tail);
    }
    for reference in
        ["$DB_PASSWORD", "${DB_PASSWORD}", "<your password>", "{{ .Values.password }}", "&self.password"]
    {
        stays(&format!("password = \"{reference}\"\n"));
    }
}

#[test]
fn a_long_value_goes_whole() {
    let value: String = (0..300u64).map(|n| format!("{:x}Q", n.wrapping_mul(2_654_435_761) % 4096)).collect();
    let shown = redactor().text(&format!("password = \"{value}\"\n")).value.into_string();
    assert_eq!(shown, "password = \"[REDACTED:secret-assignment]\"\n");
}

#[test]
fn a_header_in_prose_swallows_nothing() {
    let label = ["PRIVATE", "KEY"].join(" ");
    let digest = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
    stays(&format!(
        "A key starts with `-----BEGIN RSA {label}-----`.\nCommit {digest} mended it.\nMore text.\n"
    ));
}

#[test]
fn an_access_key_may_have_no_digit_and_a_lock_file_has_none() {
    let id = ["AKIA", "IINFVSQE", "ABCVPQXE"].concat();
    gone(&format!("aws_access_key_id = {id}\n"), &id);
    stays("  Datadog: 4b825dc642cb6eb9a060e54bf8d69288fbee4904\n");
}

#[test]
fn the_word_kind_in_a_value_ends_no_document() {
    let value = ["bWVpbkdl", "aGVpbW5pcw=="].concat();
    gone(&format!("kind: Secret\ndata:\n  url: kindSecretdata\n  pw: {value}\n"), &value);
}

#[test]
fn a_log_of_other_kinds_is_not_held_back() {
    let redactor = redactor();
    let (mut stream, mut out) = (redactor.stream(), Vec::new());
    let line = b"{\"kind\":\"Event\",\"apiVersion\":\"events.k8s.io/v1\"}\n";
    stream.push(&line.repeat(3), &mut out);
    assert!(out.starts_with(&line.repeat(2)), "{}", String::from_utf8_lossy(&out));
    stream.finish(&mut out);
    assert_eq!(out, line.repeat(3));
}
