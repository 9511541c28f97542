//! What comes back: bodies that are too large, too slow, packed, broken or no answer at all.

use std::fs;
use std::io::Write as _;

use serde_json::{Value, json};

use crate::mcp_client::Client;
use crate::net_world::NetWorld;
use crate::net_world::bomb;
use crate::net_world::http::{Reply, Request, missing, page, status};
use crate::support::Ran;

const MEGABYTE: usize = 1 << 20;

fn packed(kind: &str, coding: &str, body: Vec<u8>) -> Reply {
    let headers = [("Content-Type", kind), ("Content-Encoding", coding)];
    let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    Reply::Whole { status: 200, headers, body }
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn zlib(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn deflate(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

const PAGE: &str = "<!doctype html><html><head><title>Birds</title><style>p {color: red}</style></head><body>\
    <script>alert('script')</script><h1>Robins</h1><p>They <b>sing</b> &amp; fly.</p><p hidden>unseen</p>\
    <!-- remark --></body></html>";
const UMLAUTS: &str = "äöüäöüäöü";

fn script(request: &Request) -> Reply {
    let head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n";
    let with = |rest: &[u8]| [&head[..], rest].concat();
    let count = |prefix: &str| request.path().strip_prefix(prefix).and_then(|n| n.parse::<usize>().ok());
    if let Some(n) = count("/bytes/") {
        return page("text/plain", vec![b'x'; n]);
    }
    if let Some(n) = count("/chunked/") {
        let headers = vec![("Content-Type".to_owned(), "text/plain".to_owned())];
        return Reply::Chunked { headers, body: vec![b'x'; n], size: 777 };
    }
    if let Some(code) = count("/status/") {
        return status(u16::try_from(code).unwrap(), "text/plain", "what went wrong");
    }
    match request.path() {
        "/hello" => page("text/plain; charset=utf-8", "hello"),
        "/page" => page("text/html; charset=utf-8", PAGE),
        "/json" => page("application/json", r#"{"a": "{{b}}", "c": [1, 2]}"#),
        "/umlauts" => page("text/plain; charset=utf-8", UMLAUTS),
        "/latin" => page("text/plain; charset=ISO-8859-1", b"gr\xfcn"),
        "/utf16" => page("text/plain", b"\xff\xfeg\0r\0\xfc\0n\0"),
        "/meta" => page("text/html", b"<meta charset=latin1><p>gr\xfcn</p>"),
        "/broken" => page("text/plain; charset=utf-8", b"gr\xfcn"),
        "/gzip" => packed("text/plain", "gzip", gzip(b"packed text")),
        "/zlib" => packed("text/plain", "deflate", zlib(b"packed text")),
        "/deflate" => packed("text/plain", "deflate", deflate(b"packed text")),
        "/members" => packed("text/plain", "gzip", [gzip(b"packed "), gzip(b"text")].concat()),
        "/unknown" => packed("text/plain", "br", b"????".to_vec()),
        "/png" => page("image/png", b"\x89PNG\r\n\x1a\n"),
        "/bomb" => {
            let (first, again) = bomb::endless();
            Reply::Endless(with(&[b"Content-Encoding: gzip\r\n\r\n", &first[..]].concat()), again)
        }
        "/empties" => Reply::Endless(with(b"Content-Encoding: gzip\r\n\r\n"), gzip(b"").repeat(1000)),
        "/endless" => Reply::Endless(with(b"\r\n"), vec![b'x'; 65536]),
        "/endless-chunks" => {
            Reply::Endless(with(b"Transfer-Encoding: chunked\r\n\r\n"), b"1\r\nx\r\n".repeat(5000))
        }
        "/slow" => Reply::Stalled(with(b"Content-Length: 100\r\n\r\nbegun")),
        "/silent" => Reply::Stalled(Vec::new()),
        "/slow-head" => Reply::Stalled(b"HTTP/1.1 200 OK\r\nX-A: ".to_vec()),
        "/long-header" => {
            Reply::Raw(with(&[b"X-Long: ", &vec![b'a'; MEGABYTE][..], b"\r\n\r\nbody"].concat()))
        }
        "/many-headers" => Reply::Raw(with(&[&b"X-Many: a\r\n".repeat(2000)[..], b"\r\nbody"].concat())),
        "/endless-header" => Reply::Endless(with(b"X-Long: "), vec![b'a'; 65536]),
        "/endless-headers" => Reply::Endless(with(b""), b"X-Many: a\r\n".repeat(1000)),
        "/continues" => Reply::Endless(Vec::new(), b"HTTP/1.1 100 Continue\r\n\r\n".repeat(1000)),
        "/ssh" => Reply::Raw(b"SSH-2.0-OpenSSH_9.9\r\n".to_vec()),
        "/nothing" => Reply::Raw(Vec::new()),
        "/short" => Reply::Raw(with(b"Content-Length: 100\r\n\r\nshort")),
        "/lengths" => Reply::Raw(with(b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nab")),
        "/negative" => Reply::Raw(with(b"Content-Length: -1\r\n\r\nab")),
        "/bad-chunk" => Reply::Raw(with(b"Transfer-Encoding: chunked\r\n\r\nzz\r\nab\r\n")),
        "/huge-chunk" => Reply::Raw(with(b"Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\nab\r\n")),
        _ => missing(),
    }
}

fn world() -> NetWorld {
    NetWorld::new(script)
}

#[track_caller]
fn data(world: &NetWorld, path: &str) -> Value {
    let ran = world.fetch(&world.url(path));
    assert_eq!(ran.code, 0, "{path}: {ran:?}");
    ran.json()["data"].clone()
}

#[test]
fn an_answer_has_its_members() {
    let world = world();
    let expected = json!({
        "status": 200, "content_type": "text/plain; charset=utf-8", "body": "hello", "url": world.url("/hello"),
        "bytes": 5, "truncated": false,
    });
    assert_eq!(data(&world, "/hello"), expected);
    let missing = data(&world, "/missing");
    assert_eq!((&missing["status"], &missing["body"]), (&json!(404), &json!("nothing here")));
    let head = world.call("web_fetch", &json!({"url": world.url("/hello"), "method": "HEAD"})).json();
    assert_eq!((&head["data"]["status"], &head["data"]["body"]), (&json!(200), &json!("")), "{head}");
    assert_eq!(data(&world, "/json")["body"], r#"{"a": "{{b}}", "c": [1, 2]}"#, "untouched");
    assert!(!data(&world, "/png")["body"].as_str().unwrap().contains('\u{fffd}'));
}

#[test]
fn a_body_ends_at_its_limit() {
    let world = world().set(json!({"net": {"max_body_bytes": 1000}}));
    for front in ["/bytes", "/chunked"] {
        for (sent, kept, cut) in
            [(999, 999, false), (1000, 1000, false), (1001, 1000, true), (50_000, 1000, true)]
        {
            let data = data(&world, &format!("{front}/{sent}"));
            let length = data["body"].as_str().unwrap().len();
            let found = (&data["bytes"], &data["truncated"], length);
            assert_eq!(found, (&json!(kept), &json!(cut), kept), "{front}/{sent}");
        }
    }
    for path in ["/endless", "/endless-chunks", "/bomb"] {
        let data = data(&world, path);
        assert_eq!((&data["bytes"], &data["truncated"]), (&json!(1000), &json!(true)), "{path}");
    }
}

fn beginning(ran: &Ran) -> String {
    ran.text().chars().take(1000).collect()
}

/// Specification 000's words, at specification 000's limit.
#[test]
fn a_cut_at_ten_megabytes_is_told_in_fixed_words() {
    let world = world();
    let words = "response body truncated at 10MB limit";
    let ran = world.fetch(&world.url("/bytes/10485761"));
    let result = ran.json();
    assert_eq!((ran.code, &result["metadata"]["truncated"]), (0, &json!(true)), "{}", beginning(&ran));
    assert!(ran.text().contains(words), "{}", beginning(&ran));
    assert!(ran.text().contains("10485760"), "{}", beginning(&ran));
    assert!(!world.fetch(&world.url("/bytes/10485760")).text().contains(words));
}

#[test]
fn packed_bodies() {
    let world = world();
    for path in ["/gzip", "/zlib", "/deflate", "/members"] {
        let data = data(&world, path);
        assert_eq!((&data["body"], &data["bytes"]), (&json!("packed text"), &json!(11)), "{path}");
    }
    let ran = world.fetch(&world.url("/unknown"));
    assert_eq!((ran.code, ran.error_code().as_str()), (1, "ConnectionFailed"), "{ran:?}");
}

fn peak(pid: u32) -> usize {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() * 1024
}

/// What never ends, packed or not, takes the limit and little more.
#[test]
fn a_bomb_takes_no_more_memory_than_its_limit() {
    const LIMIT: usize = 10 * MEGABYTE;
    let world = world().set(json!({"net": {"timeout": 20}}));
    let config = world.config();
    let mut client = Client::open(&world.world, &["--config", &config]);
    // The program itself counts too, and how much of it depends on how it was built.
    client.call("list_files", &json!({}));
    let before = peak(client.pid());
    for path in ["/bomb", "/endless", "/endless-chunks", "/long-header"] {
        let result = client.call("web_fetch", &json!({"url": world.url(path)}));
        assert!(result["structuredContent"].is_object(), "{path}");
        let peak = peak(client.pid());
        let more = peak.saturating_sub(before);
        assert!(more < LIMIT + 32 * MEGABYTE, "{} MB more after {path}", more / MEGABYTE);
    }
    assert_eq!(client.close().0, 0);
}

#[test]
fn a_slow_body_ends_with_the_time_of_the_request() {
    let world = world().set(json!({"net": {"timeout": 1}}));
    for path in ["/slow", "/silent", "/slow-head", "/continues"] {
        for tool in ["web_fetch", "fetch_url"] {
            let ran = world.call(tool, &json!({"url": world.url(path)}));
            assert_eq!((ran.code, ran.error_code().as_str()), (1, "Timeout"), "{tool} {path}: {ran:?}");
        }
    }
}

/// Members that hold nothing, for ever: the work is limited too, long before the time is.
#[test]
fn a_body_that_unpacks_to_nothing_ends() {
    let world = world();
    let data = data(&world, "/empties");
    assert_eq!((&data["bytes"], &data["truncated"]), (&json!(0), &json!(true)), "{data}");
}

#[test]
fn what_is_no_answer() {
    let world = world().set(json!({"net": {"timeout": 10}}));
    let rows = [
        "/long-header",
        "/many-headers",
        "/endless-header",
        "/endless-headers",
        "/ssh",
        "/nothing",
        "/short",
        "/lengths",
        "/negative",
        "/bad-chunk",
        "/huge-chunk",
    ];
    for path in rows {
        let ran = world.fetch(&world.url(path));
        assert_eq!((ran.code, ran.error_code().as_str()), (1, "ConnectionFailed"), "{path}: {ran:?}");
    }
    // A port that is taken, so that nobody is given it, and at which nobody listens.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let closed = taken.local_addr().unwrap().port();
    let ran = world.fetch(&format!("http://site.test:{closed}/"));
    assert_eq!((ran.code, ran.error_code().as_str()), (1, "ConnectionFailed"), "{ran:?}");
}

#[test]
fn letters_of_other_alphabets() {
    let world = world();
    for path in ["/latin", "/utf16"] {
        assert_eq!(data(&world, path)["body"], "grün", "{path}");
    }
    assert_eq!(data(&world, "/broken")["body"], "gr\u{fffd}n");
    assert!(data(&world, "/meta")["body"].as_str().unwrap().contains("grün"));
}

#[track_caller]
fn fetched(world: &NetWorld, arguments: &Value) -> Value {
    let ran = world.call("fetch_url", arguments);
    assert_eq!(ran.code, 0, "{arguments}: {ran:?}");
    ran.json()["data"].clone()
}

#[test]
fn a_page_is_readable_text() {
    let world = world();
    let data = fetched(&world, &json!({"url": world.url("/page")}));
    let content = data["content"].as_str().unwrap();
    for word in ["Birds", "Robins", "They sing & fly."] {
        assert!(content.contains(word), "{word}: {content}");
    }
    for word in ["script", "color", "remark", "unseen", "<p>", "&amp;"] {
        assert!(!content.contains(word), "{word}: {content}");
    }
    assert_eq!((&data["success"], &data["error"]), (&json!(true), &Value::Null), "{data}");
    assert_eq!(data["content_type"], "text/html; charset=utf-8");
    assert_eq!(data["final_url"], world.url("/page"));
    let json = fetched(&world, &json!({"url": world.url("/json")}));
    assert_eq!(json["content"], r#"{"a": "{{b}}", "c": [1, 2]}"#, "untouched");
    assert_eq!(fetched(&world, &json!({"url": world.url("/latin")}))["content"], "grün");
}

#[test]
fn a_page_is_cut_between_characters() {
    let world = world();
    let cut = |most: usize| {
        fetched(&world, &json!({"url": world.url("/umlauts"), "max_length": most}))["content"].clone()
    };
    for most in 0..=10 {
        let expected: String = UMLAUTS.chars().take(most).collect();
        assert_eq!(cut(most), json!(expected), "{most}");
    }
}

#[test]
fn another_status_than_200_is_no_success() {
    let world = world();
    for code in [201, 204, 400, 404, 500, 503] {
        let data = fetched(&world, &json!({"url": world.url(&format!("/status/{code}"))}));
        assert_eq!(data["success"], false, "{code}: {data}");
        assert!(data["error"].as_str().unwrap().contains(&code.to_string()), "{code}: {data}");
    }
}

#[test]
fn headers_and_methods_that_no_model_chooses() {
    let world = world();
    let names = [
        "Host",
        "host",
        "Connection",
        "Transfer-Encoding",
        "Content-Length",
        "Upgrade",
        "TE",
        "Trailer",
        "Keep-Alive",
        "Proxy-Authorization",
        "Proxy-Connection",
        "Authorization",
        "Cookie",
        "X-API-Key",
        "Metadata-Flavor",
        "Metadata",
        "X-aws-ec2-metadata-token",
        "X-aws-ec2-metadata-token-ttl-seconds",
        "X-Forwarded-For",
        "Bad Name",
        "Bad\r\nName",
        "",
    ];
    for name in names {
        let ran = world.call("web_fetch", &json!({"url": world.url("/hello"), "headers": {name: "x"}}));
        assert_eq!((ran.code, ran.error_code().as_str()), (3, "HeaderNotAllowed"), "{name:?}: {ran:?}");
    }
    for value in ["a\r\nHost: b", "a\nb", "a\0b"] {
        let ran = world.call("web_fetch", &json!({"url": world.url("/hello"), "headers": {"X-A": value}}));
        assert_eq!((ran.code, ran.error_code().as_str()), (3, "HeaderNotAllowed"), "{value:?}: {ran:?}");
    }
    for method in
        ["POST", "PUT", "DELETE", "PATCH", "CONNECT", "TRACE", "get it", "GET /x HTTP/1.1\r\nX:", ""]
    {
        let ran = world.call("web_fetch", &json!({"url": world.url("/hello"), "method": method}));
        assert_eq!((ran.code, ran.error_code().as_str()), (3, "MethodNotAllowed"), "{method:?}: {ran:?}");
    }
    assert!(world.site.requests().is_empty(), "nothing of it was sent");

    let ran =
        world.call("web_fetch", &json!({"url": world.url("/hello"), "headers": {"Accept-Language": "de"}}));
    assert_eq!(ran.code, 0, "{ran:?}");
    let sent = world.site.requests().pop().unwrap();
    assert_eq!(sent.header("accept-language"), Some("de"));
    assert_eq!(sent.header("host"), Some(format!("site.test:{}", world.site.port()).as_str()));

    let world = world.set(json!({"net": {"methods": ["GET", "POST"]}}));
    let ran = world.call("web_fetch", &json!({"url": world.url("/hello"), "method": "POST"}));
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(world.site.requests().pop().unwrap().method, "POST");
    let ran = world.call("web_fetch", &json!({"url": world.url("/hello"), "method": "PUT"}));
    assert_eq!(ran.error_code(), "MethodNotAllowed");
}

/// A dry run looks the name up and says what would be done.
#[test]
fn a_dry_run_connects_to_nothing() {
    let world = world();
    let ran =
        world.run(&["--dry-run", "call", "web_fetch", &json!({"url": world.url("/hello")}).to_string()]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(world.site.requests().is_empty());
    let ran = world.run(&["--dry-run", "call", "web_fetch", r#"{"url":"http://10.0.0.1/"}"#]);
    assert_eq!(ran.code, 3, "{ran:?}");
}
