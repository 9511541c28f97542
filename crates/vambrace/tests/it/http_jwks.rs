//! Keys for bearer tokens: from a file, from an address, and exchanged while we serve.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::http_world::{NO_LIMIT, Served};
use crate::support::{World, skip};

/// A key made for this test by the openssl program.
struct Key {
    id: &'static str,
    file: String,
    modulus: Vec<u8>,
}

pub(crate) fn openssl(args: &[&str], input: &[u8]) -> Vec<u8> {
    let mut child = Command::new("openssl")
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    child.wait_with_output().unwrap().stdout
}

fn base64url(bytes: &[u8]) -> String {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let number = three.iter().fold(0u32, |so_far, byte| so_far << 8 | u32::from(*byte));
        let number = number << (8 * (3 - three.len()));
        for place in 0..=three.len() {
            text.push(char::from(DIGITS[(number >> (18 - 6 * place) & 63) as usize]));
        }
    }
    text
}

impl Key {
    fn new(world: &World, id: &'static str) -> Key {
        let file = world.beside(&format!("{id}.pem"), "");
        let made = openssl(&["genrsa", "2048"], b"");
        std::fs::write(&file, made).unwrap();
        let hex = String::from_utf8(openssl(&["rsa", "-in", &file, "-noout", "-modulus"], b"")).unwrap();
        let hex = hex.trim().trim_start_matches("Modulus=").to_owned();
        let digits = hex.as_bytes().chunks(2);
        let modulus = digits.map(|two| u8::from_str_radix(std::str::from_utf8(two).unwrap(), 16).unwrap());
        Key { id, file, modulus: modulus.collect() }
    }

    fn jwk(&self) -> String {
        let n = base64url(&self.modulus);
        format!(r#"{{"kty":"RSA","use":"sig","alg":"RS256","kid":"{}","n":"{n}","e":"AQAB"}}"#, self.id)
    }

    fn token(&self, subject: &str) -> String {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
        let head = format!(r#"{{"alg":"RS256","typ":"JWT","kid":"{}"}}"#, self.id);
        let claims = format!(r#"{{"sub":"{subject}","iat":{now},"exp":{}}}"#, now + 600);
        let signed = format!("{}.{}", base64url(head.as_bytes()), base64url(claims.as_bytes()));
        let signature = openssl(&["dgst", "-sha256", "-sign", &self.file], signed.as_bytes());
        format!("{signed}.{}", base64url(&signature))
    }
}

fn set(keys: &[&Key]) -> String {
    let keys: Vec<String> = keys.iter().map(|key| key.jwk()).collect();
    format!(r#"{{"keys":[{}]}}"#, keys.join(","))
}

#[track_caller]
fn status(served: &Served, token: &str) -> u16 {
    served.send("GET", "/", &[("Authorization", &format!("Bearer {token}"))], b"").status
}

pub(crate) fn has_openssl() -> bool {
    let found =
        Command::new("openssl").arg("version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok();
    if !found {
        skip("bearer tokens over HTTP: there is no openssl program to make keys with");
    }
    found
}

#[test]
fn a_file_of_keys_is_read_again_when_a_key_is_new() {
    if !has_openssl() {
        return;
    }
    let world = World::new();
    let (old, new) = (Key::new(&world, "old"), Key::new(&world, "new"));
    let file = world.beside("keys.json", &set(&[&old]));
    let served = Served::with_config(&world, &format!("{NO_LIMIT}auth: {{jwt: {{jwks: {file}}}}}\n"));
    served.hear("the keys for bearer tokens were loaded");
    assert_eq!(status(&served, &old.token("ann")), 200);
    assert_eq!(status(&served, &new.token("ann")), 401);
    std::fs::write(&file, set(&[&new])).unwrap();
    // However coarse the clock of the file system is.
    let opened = std::fs::File::options().write(true).open(Path::new(&file)).unwrap();
    opened.set_modified(UNIX_EPOCH).unwrap();
    assert_eq!(status(&served, &new.token("ann")), 200);
    assert_eq!(status(&served, &old.token("ann")), 401, "what is gone is gone");
}

#[test]
fn keys_are_fetched_and_fetched_again_but_not_for_everybody() {
    if !has_openssl() {
        return;
    }
    let world = World::new();
    let (known, new, unknown) =
        (Key::new(&world, "known"), Key::new(&world, "new"), Key::new(&world, "unknown"));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let keys = Arc::new(Mutex::new(set(&[&known])));
    let asked = Arc::new(AtomicUsize::new(0));
    let (serving, counting) = (Arc::clone(&keys), Arc::clone(&asked));
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut head = [0; 4096];
            let _ = stream.read(&mut head);
            counting.fetch_add(1, Ordering::SeqCst);
            let body = serving.lock().unwrap().clone();
            let _ = write!(
                stream,
                "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
                body.len()
            );
        }
    });
    let config = format!("{NO_LIMIT}auth: {{jwt: {{jwks: 'http://{address}/keys'}}}}\n");
    let served = Served::with_config(&world, &config);
    served.hear("without TLS");
    served.hear("the keys for bearer tokens were loaded");
    assert_eq!((status(&served, &known.token("ann")), asked.load(Ordering::SeqCst)), (200, 1));
    // A key that was exchanged a moment after we asked is looked for when it is first shown.
    *keys.lock().unwrap() = set(&[&known, &new]);
    assert_eq!((status(&served, &new.token("ann")), asked.load(Ordering::SeqCst)), (200, 2));
    // After that, strangers with invented keys do not make us ask again and again.
    for _ in 0..5 {
        assert_eq!(status(&served, &unknown.token("eve")), 401);
    }
    assert_eq!(asked.load(Ordering::SeqCst), 2);
    served.hear("Invalid bearer token attempt");
}

#[test]
fn without_keys_every_token_is_refused() {
    if !has_openssl() {
        return;
    }
    let world = World::new();
    let key = Key::new(&world, "some");
    let missing = world.dir().join("missing.json");
    let config = format!("{NO_LIMIT}auth: {{jwt: {{jwks: {}}}}}\n", missing.display());
    let served = Served::with_config(&world, &config);
    served.hear("no keys for bearer tokens");
    assert_eq!(status(&served, &key.token("ann")), 401);
    let health = served.send("GET", "/health", &[], b"").json();
    assert_eq!(
        (&health["status"], &health["dependencies"]["jwks"]["status"]),
        (&"degraded".into(), &"unhealthy".into())
    );
}

#[test]
fn a_key_that_is_taken_out_of_the_file_opens_nothing_any_more() {
    if !has_openssl() {
        return;
    }
    let world = World::new();
    let (kept, gone) = (Key::new(&world, "kept"), Key::new(&world, "gone"));
    let renewed = Key::new(&world, "kept-2");
    let renewed = Key { id: "kept", ..renewed };
    let more = Key::new(&world, "more");
    let file = world.beside("keys.json", &set(&[&kept, &gone]));
    let served = Served::with_config(&world, &format!("{NO_LIMIT}auth: {{jwt: {{jwks: {file}}}}}\n"));
    served.hear("the keys for bearer tokens were loaded (2)");
    assert_eq!((status(&served, &kept.token("ann")), status(&served, &gone.token("ann"))), (200, 200));
    // Nobody shows an unknown key, and still it is noticed.
    std::fs::write(&file, set(&[&kept])).unwrap();
    served.hear("the keys for bearer tokens were loaded (1)");
    assert_eq!((status(&served, &kept.token("ann")), status(&served, &gone.token("ann"))), (200, 401));
    // Another key under the same name.
    std::fs::write(&file, set(&[&renewed, &gone, &more])).unwrap();
    served.hear("the keys for bearer tokens were loaded (3)");
    assert_eq!((status(&served, &renewed.token("ann")), status(&served, &kept.token("ann"))), (200, 401));
    // A spoiled file changes nothing at once, and an empty set refuses everybody.
    std::fs::write(&file, "spoiled").unwrap();
    served.hear("no keys for bearer tokens: the key set is not");
    assert_eq!(status(&served, &renewed.token("ann")), 200);
    std::fs::write(&file, set(&[])).unwrap();
    served.hear("the keys for bearer tokens were loaded (0)");
    assert_eq!(status(&served, &renewed.token("ann")), 401);
}

#[test]
fn a_client_with_a_new_key_is_not_locked_out() {
    if !has_openssl() {
        return;
    }
    let world = World::new();
    let (known, new) = (Key::new(&world, "known"), Key::new(&world, "new"));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let body = set(&[&known]);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 4096]);
            let length = body.len();
            let _ = write!(
                stream,
                "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
            );
        }
    });
    let config = format!("{NO_LIMIT}auth: {{jwt: {{jwks: 'http://{address}/keys'}}}}\n");
    let served = Served::with_config(&world, &config);
    served.hear("the keys for bearer tokens were loaded (1)");
    for _ in 0..30 {
        assert_eq!(status(&served, &new.token("ann")), 401);
    }
    let forged = Key { id: "known", file: new.file.clone(), modulus: Vec::new() };
    // A signature that is wrong is a guess, however.
    let statuses: Vec<u16> = (0..30).map(|_| status(&served, &forged.token("eve"))).collect();
    assert!(statuses.contains(&429), "{statuses:?}");
}

#[test]
fn a_password_in_the_address_of_the_keys_is_not_shown() {
    let world = World::new();
    let secret = format!("user:{}", "pass-word-9");
    let config = format!("{NO_LIMIT}auth: {{jwt: {{jwks: 'http://{secret}@127.0.0.1:1/keys'}}}}\n");
    let served = Served::with_config(&world, &config);
    served.hear("without TLS");
    served.hear("no keys for bearer tokens");
    assert!(!served.log().contains("pass-word-9"), "{}", served.log());
}
