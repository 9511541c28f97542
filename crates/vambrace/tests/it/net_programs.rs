//! Programs in a cage and the hosts that were listed for them: those are reached through the proxy, and nothing else is.

use std::path::Path;

use serde_json::{Value, json};

use crate::net_world::NetWorld;
use crate::net_world::dns::{addresses, fleeting};
use crate::net_world::http::{Reply, Request, missing, page, redirect};
use crate::net_world::registry::{files, git};
use crate::programs_host::{as_nobody, has, is_root, on_host};
use crate::support::{Ran, World, finish, skip};

/// `/hello` is a page, `/away?URL` redirects, `/git/…` is git's own server, `/plain/…` are files.
fn script(folder: &Path, request: &Request) -> Reply {
    let inner = |path: &str| Request { target: path.to_owned(), ..request.clone() };
    match request.path() {
        "/hello" => page("text/plain", "hello\n"),
        "/control" => page("text/plain", "CONTROL\n"),
        "/away" => redirect(302, request.query()),
        path if path.starts_with("/git/") => git(folder, request),
        path => match path.strip_prefix("/plain") {
            Some(path) => files(folder, &inner(path)),
            None => missing(),
        },
    }
}

fn world() -> NetWorld {
    let world = World::new();
    let folder = world.dir().to_owned();
    NetWorld::with(world, move |request| script(&folder, request))
}

fn granted() -> NetWorld {
    world().set(json!({"sandbox": {"net": [{"host": "site.test", "cidr": "127.0.0.1/32"}]}}))
}

#[track_caller]
fn run_with(world: &NetWorld, program: &[&str]) -> Ran {
    world.run(&[&["run", "--timeout", "20", "--net", "site.test", "--"], program].concat())
}

const CURL: [&str; 3] = ["curl", "-sS", "--fail"];

#[test]
fn a_listed_host_is_reached_by_name_and_is_on_record() {
    if !has("curl", "`curl` through the proxy") {
        return;
    }
    let world = world();
    let url = world.url("/hello");
    let ran = run_with(&world, &[&CURL[..], &[url.as_str()]].concat());
    assert_eq!((ran.code, ran.text().as_str()), (0, "hello\n"), "{ran:?}");
    let seen = world.site.requests();
    assert_eq!(seen.len(), 1);
    assert_eq!(seen[0].header("host"), Some(format!("site.test:{}", world.site.port()).as_str()));
    assert_eq!(seen[0].target, "/hello", "in the form of a server's own");
    assert_eq!(seen[0].header("proxy-connection"), None);
    let egress: Vec<Value> =
        world.world.records().into_iter().filter(|line| line["event"] == "egress").collect();
    assert_eq!(egress.len(), 1, "{egress:?}");
    assert!(egress[0].to_string().contains("site.test"), "{egress:?}");
    let id = egress[0]["call_id"].as_str().unwrap();
    let calls = world.world.calls();
    assert!(calls.iter().any(|line| line["tool"] == "run" && line["call_id"] == id), "{id}: {calls:?}");
}

/// The same as somebody who may do nothing special.
#[test]
fn an_ordinary_user_reaches_a_listed_host_and_nothing_else() {
    if !is_root() {
        return skip("the proxy as another user: the tests are not root");
    }
    if !has("setpriv", "the proxy as another user") || !has("curl", "the proxy as another user") {
        return;
    }
    let world = granted();
    let config = world.config();
    let trap = format!("http://127.0.0.1:{}/", world.trap.port());
    let run = |url: &str| {
        let args = [&["--config", &config, "run", "--timeout", "20", "--"], &CURL[..], &[url]].concat();
        finish(&mut as_nobody(&world.world, &args), b"")
    };
    let ran = run(&world.url("/hello"));
    assert_eq!((ran.code, ran.text().as_str()), (0, "hello\n"), "{ran:?}");
    assert_ne!(run(&trap).code, 0);
    world.trap.untouched("an ordinary user");
}

/// The self-attack goes through the proxy where there is one.
#[test]
fn the_doctor_dials_a_private_address_through_the_proxy() {
    let row = |ran: &Ran| {
        let rows = ran.json();
        let is_wanted = |row: &&Value| row["row"] == "dial a private address through the proxy";
        rows.as_array().unwrap().iter().find(is_wanted).unwrap().clone()
    };
    for world in [world(), granted()] {
        let row = row(&world.run(&["doctor"]));
        assert_eq!(row["state"], "holds", "{row}");
        assert!(!row["detail"].as_str().unwrap().contains("no way out"), "nothing was attacked: {row}");
    }
}

#[test]
fn without_a_grant_there_is_no_network() {
    if !has("curl", "`curl` without a grant") {
        return;
    }
    let world = world();
    let url = world.url("/hello");
    for url in [url.as_str(), "http://127.0.0.1:3128/"] {
        let ran = world.run(&[&["run", "--"], &CURL[..], &[url]].concat());
        assert_ne!(ran.code, 0, "{ran:?}");
    }
    assert!(world.site.requests().is_empty());
}

/// By name, by address, by redirect, past the proxy, and through it in forms that no client uses.
#[test]
fn nothing_else_is_reached() {
    if !has("curl", "`curl` to other hosts") {
        return;
    }
    let world = world();
    world.dns.name("hidden.example.com", addresses(&["127.0.0.1"]));
    let (trap, site, other) = (world.trap.port(), world.site.port(), world.other.port());
    let trap_hosts = [
        "trap.test",
        "hidden.example.com",
        "127.0.0.1",
        "localhost",
        "[::1]",
        "0x7f.1",
        "2130706433",
        "0",
        "[::ffff:127.0.0.1]",
        "trap.test.",
    ];
    let mut rows: Vec<Vec<String>> = Vec::new();
    let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<String>>();
    for host in trap_hosts {
        rows.push(owned(&[&format!("http://{host}:{trap}/")]));
        rows.push(owned(&["--noproxy", "", &format!("http://{host}:{trap}/")]));
        rows.push(owned(&["--noproxy", "*", &format!("http://{host}:{trap}/")]));
        rows.push(owned(&["--proxytunnel", &format!("http://{host}:{trap}/")]));
        rows.push(owned(&["-k", &format!("https://{host}:{trap}/")]));
        rows.push(owned(&["-L", &world.url(&format!("/away?http://{host}:{trap}/"))]));
        rows.push(owned(&["-H", "Host: site.test", &format!("http://{host}:{trap}/")]));
    }
    rows.push(owned(&[&world.other_url("/hello")])); // in `allowed_domains`, and not listed for programs
    rows.push(owned(&["-L", &world.url(&format!("/away?http://other.test:{other}/hello"))]));
    rows.push(owned(&[&format!("http://127.0.0.1:{site}/hello")])); // the listed host, not by its name
    rows.push(owned(&["--noproxy", "*", &world.url("/hello")]));
    rows.push(owned(&[
        "--noproxy",
        "*",
        "--resolve",
        &format!("site.test:{site}:127.0.0.1"),
        &world.url("/hello"),
    ]));
    rows.push(owned(&["--proxytunnel", &world.url("/hello")])); // no TLS in a tunnel
    rows.push(owned(&["-H", "Host: other.test", &world.url("/hello")]));
    rows.push(owned(&[
        "--connect-to",
        &format!("::127.0.0.1:{trap}"),
        "--noproxy",
        "*",
        &world.url("/hello"),
    ]));
    let lines: String = rows
        .iter()
        .map(|row| {
            let words: Vec<String> = row.iter().map(|word| format!("'{word}'")).collect();
            format!(
                "curl -sS --fail --max-time 5 {} && echo REACHED {}\n",
                words.join(" "),
                words.join(" ").replace('\'', "")
            )
        })
        .collect();
    let control = format!("curl -sS --fail {}\necho \"$((0)) END\"\n", world.url("/control"));
    world.world.file("rows.sh", lines + &control);
    let ran = world.run(&["run", "--timeout", "50", "--net", "site.test", "--", "sh", "rows.sh"]);
    assert!(
        ran.text().ends_with("CONTROL\n0 END\n"),
        "the rows ran, and the proxy stands after them: {ran:?}"
    );
    assert!(!ran.text().contains("REACHED"), "{}", ran.text());
    world.trap.untouched("a program");
    assert!(world.other.requests().is_empty(), "{:?}", world.other.requests());
    let answered: Vec<Request> =
        world.site.requests().into_iter().filter(|request| request.path() == "/hello").collect();
    assert!(answered.is_empty(), "{answered:?}");
    let record = world.run(&["audit", "export"]).text();
    for host in ["trap.test", "hidden.example.com", "other.test"] {
        assert!(record.contains(host), "{host} is not on record");
    }
}

/// A grant says which name, and a name alone says nothing about this machine.
#[test]
fn a_listed_name_that_leads_elsewhere_is_refused() {
    if !has("curl", "`curl` to a name that flips") {
        return;
    }
    let world = world();
    world.dns.name("mixed.test", addresses(&["127.0.0.1", "::1"]));
    let port = world.trap.port();
    for host in ["trap.test", "trap6.test", "mixed.test", "127.0.0.1", "[::1]", "localhost"] {
        let url = format!("http://{host}:{port}/");
        let ran = world.run(&[&["run", "--timeout", "20", "--net", host, "--"], &CURL[..], &[&url]].concat());
        assert!(ran.code != 0 && ran.text().is_empty(), "{host}: {ran:?}");
    }
    world.trap.untouched("a grant without addresses");
    // Each request is looked up and judged: the first answer is the listed one, the next is not.
    let world = world.set(json!({"sandbox": {"net": [{"host": "flips.test", "cidr": "127.0.0.1/32"}]}}));
    world.dns.in_turn("flips.test", vec![fleeting(&["127.0.0.1"]), fleeting(&["::1"])]);
    let first = format!("http://flips.test:{}/hello", world.site.port());
    let second = format!("http://flips.test:{port}/");
    world
        .world
        .file("flip.sh", format!("curl -sS --fail {first}\ncurl -sS --fail {second} && echo REACHED\n"));
    let ran = world.run(&["run", "--timeout", "20", "--", "sh", "flip.sh"]);
    assert_eq!(ran.text(), "hello\n", "{ran:?}");
    world.trap.untouched("a name that flips");
}

/// Names and datagrams: the cage has neither.
#[test]
fn there_is_no_dns_and_no_udp_inside() {
    if !has("python3", "datagrams from inside") {
        return;
    }
    let world = world();
    let port = world.dns.address().port();
    let script = format!(
        "import socket\n\
         def tried(what, f):\n    try:\n        print(what, 'REACHED', f())\n    except Exception as e:\n        print(what, 'failed')\n\
         def udp(address):\n    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n    s.settimeout(1)\n\
         \x20   s.sendto(b'\\x00\\x01\\x01\\x00\\x00\\x01\\x00\\x00\\x00\\x00\\x00\\x00\\x04site\\x04test\\x00\\x00\\x01\\x00\\x01', address)\n\
         \x20   return s.recv(10)\n\
         tried('name', lambda: socket.gethostbyname('site.test'))\n\
         tried('udp', lambda: udp(('127.0.0.1', {port})))\n\
         tried('tcp', lambda: socket.create_connection(('127.0.0.1', {port}), 1))\n"
    );
    world.world.file("inside.py", script);
    let ran = run_with(&world, &["python3", "inside.py"]);
    assert_eq!(ran.text().matches("failed").count(), 3, "{ran:?}");
    assert!(!ran.text().contains("REACHED"), "{ran:?}");
    assert_eq!(world.dns.lookups("site.test"), 0);
}

#[track_caller]
fn exec(world: &NetWorld, line: &str) -> Ran {
    world.call("exec_shell", &json!({"command": line}))
}

#[test]
fn a_model_uses_curl_and_wget_for_listed_hosts() {
    let world = granted();
    for (program, line) in [
        ("curl", format!("curl -sS {}", world.url("/hello"))),
        ("wget", format!("wget -q -O - {}", world.url("/hello"))),
    ] {
        if !has(program, "a model's downloads") {
            continue;
        }
        let ran = exec(&world, &line);
        assert_eq!(ran.json()["data"]["stdout"], "hello\n", "{line}: {ran:?}");
    }
    let refused = exec(&world, &format!("curl -sS http://trap.test:{}/", world.trap.port()));
    assert_eq!((refused.code, refused.error_code().as_str()), (3, "HostNotAllowed"), "{refused:?}");
    // What the line does not show, the proxy sees.
    let redirected = exec(
        &world,
        &format!("curl -sSLf '{}'", world.url(&format!("/away?http://trap.test:{}/", world.trap.port()))),
    );
    assert_ne!(redirected.json()["data"]["exit_code"], 0, "{redirected:?}");
    world.trap.untouched("a line");
    let without = exec(&world.set(json!({"sandbox": {"net": []}})), "curl -sS http://site.test/");
    assert_eq!(without.code, 3, "{without:?}");
}

/// A grant for one program is none for another.
#[test]
fn a_grant_is_for_the_programs_it_names() {
    if !has("curl", "a grant for one program") || !has("wget", "a grant for one program") {
        return;
    }
    let entry = json!({"host": "site.test", "cidr": "127.0.0.1/32", "programs": ["curl"]});
    let world = world().set(json!({"sandbox": {"net": [entry]}}));
    let ran = exec(&world, &format!("curl -sS {}", world.url("/hello")));
    assert_eq!(ran.json()["data"]["stdout"], "hello\n", "{ran:?}");
    let ran = exec(&world, &format!("wget -q -O - {}", world.url("/hello")));
    assert_ne!(ran.json()["data"]["stdout"], "hello\n", "{ran:?}");
    assert_eq!(world.site.requests().len(), 1);
}

fn git_on_host(world: &World, args: &[&str]) -> String {
    let who = ["-c", "user.name=test", "-c", "user.email=test@example.com", "-c", "commit.gpgsign=false"];
    let ran = on_host(world, &[&["git"], &who[..], args].concat());
    assert_eq!(ran.code, 0, "{args:?}: {ran:?}");
    ran.text().trim().to_owned()
}

/// One commit in the workspace, and a bare repository beside it that the site serves.
fn repositories(world: &NetWorld) -> String {
    let bare = world.world.dir().join("repo.git");
    let bare = bare.to_str().unwrap();
    world.world.file("a.txt", "one\n");
    git_on_host(&world.world, &["init", "-q", "-b", "main"]);
    git_on_host(&world.world, &["add", "a.txt"]);
    git_on_host(&world.world, &["commit", "-q", "-m", "start"]);
    git_on_host(&world.world, &["clone", "-q", "--bare", ".", bare]);
    git_on_host(&world.world, &["-C", bare, "update-server-info"]);
    git_on_host(&world.world, &["-C", bare, "config", "http.receivepack", "true"]);
    bare.to_owned()
}

#[test]
fn git_fetches_from_a_listed_host() {
    if !has("git", "git through the proxy") {
        return;
    }
    let world = granted();
    let bare = repositories(&world);
    let head = git_on_host(&world.world, &["-C", &bare, "rev-parse", "main"]);
    // The plain form over files, and git's own server.
    for front in ["/plain", "/git"] {
        let url = world.url(&format!("{front}/repo.git"));
        let ran = run_with(&world, &["git", "ls-remote", &url, "refs/heads/main"]);
        assert_eq!(ran.text().trim(), format!("{head}\trefs/heads/main"), "{front}: {ran:?}");
    }
    let url = world.url("/git/repo.git");
    git_on_host(&world.world, &["remote", "add", "origin", &url]);
    git_on_host(&world.world, &["-C", &bare, "branch", "other"]);
    let ran = exec(&world, "git fetch origin");
    assert_eq!(ran.json()["data"]["exit_code"], 0, "{ran:?}");
    assert_eq!(git_on_host(&world.world, &["rev-parse", "refs/remotes/origin/other"]), head);
    let ran = run_with(&world, &["git", "ls-remote", &world.other_url("/git/repo.git")]);
    assert_ne!(ran.code, 0, "{ran:?}");
    assert!(world.other.requests().is_empty());
}

/// With a person at the terminal who says yes.
fn approved(world: &NetWorld, args: &[&str]) -> Ran {
    let command = world.command(args);
    let words: Vec<String> = std::iter::once(command.get_program())
        .chain(command.get_args())
        .map(|word| format!("'{}'", word.to_str().unwrap()))
        .collect();
    let mut terminal = world.world.bare("script");
    terminal.args(["-q", "-e", "-c", &words.join(" "), "/dev/null"]);
    finish(&mut terminal, b"y\n")
}

#[test]
fn a_push_is_rehearsed_confirmed_and_arrives() {
    if !has("git", "a push through the proxy") || !has("script", "a person at a terminal") {
        return;
    }
    let world = granted();
    let bare = repositories(&world);
    git_on_host(&world.world, &["remote", "add", "origin", &world.url("/git/repo.git")]);
    world.world.file("a.txt", "two\n");
    git_on_host(&world.world, &["commit", "-q", "-a", "-m", "change"]);
    let commit = git_on_host(&world.world, &["rev-parse", "HEAD"]);
    let role = ["--role", "release_manager", "call", "git_push"];
    let first = json!({"remote": "origin", "branch": "main"}).to_string();
    let rehearsal = world.run(&[&role[..], &[&first]].concat());
    assert_eq!((rehearsal.code, &rehearsal.json()["data"]["pushed"]), (0, &json!(false)), "{rehearsal:?}");
    assert_ne!(git_on_host(&world.world, &["-C", &bare, "rev-parse", "main"]), commit, "nothing arrived yet");
    let token = rehearsal.json()["data"]["confirm"].clone();
    let second = json!({"remote": "origin", "branch": "main", "confirm": token}).to_string();
    let unasked = world.run(&[&role[..], &[&second]].concat());
    assert_eq!((unasked.code, unasked.error_code().as_str()), (4, "ApprovalRequired"), "{unasked:?}");
    let pushed = approved(&world, &[&role[..], &[&second]].concat());
    assert_eq!(pushed.code, 0, "{pushed:?}");
    assert_eq!(git_on_host(&world.world, &["-C", &bare, "rev-parse", "main"]), commit, "{pushed:?}");
    assert!(world.run(&["audit", "export"]).text().contains("site.test"));
    // The same remote without a grant.
    let world = world.set(json!({"sandbox": {"net": []}}));
    let ran = world.run(&[&role[..], &[&first]].concat());
    assert_ne!(ran.code, 0, "{ran:?}");
}

/// What a bound secret is worth: the program never sees it, the site does.
#[test]
fn a_program_uses_a_credential_that_it_does_not_hold() {
    const VALUE: &str = "fourteenletter";
    if !has("curl", "a bound secret") {
        return;
    }
    let world = World::new().with_env("SERVICE", VALUE);
    let world = NetWorld::with(world, |request| match request.path() {
        "/api/echo" | "/else" => page("text/plain", format!("{request:?}")),
        _ => missing(),
    });
    let port = world.site.port();
    let world = world.set(json!({
        "sandbox": {"net": [{"host": "site.test", "cidr": "127.0.0.1/32"}]},
        "secrets": {
            "env": {"service": "${SERVICE}"},
            "bindings": [{"secret": "service", "scheme": "http", "host": "site.test", "port": port, "path": "/api"}],
        },
    }));
    let ran = exec(&world, &format!("curl -sS {}", world.url("/api/echo")));
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(!ran.text().contains(VALUE), "{ran:?}");
    let bearer = format!("Bearer {VALUE}");
    assert_eq!(world.site.requests()[0].header("authorization"), Some(bearer.as_str()));
    let ran = exec(&world, &format!("curl -sS {}", world.url("/else")));
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(world.site.requests()[1].header("authorization"), None, "another path");
    // The variable of its name holds a placeholder, which goes nowhere else.
    let shown = run_with(&world, &["sh", "-c", "env; cat /proc/self/environ"]);
    assert!(!shown.text().contains(VALUE), "{shown:?}");
    assert!(!world.world.raw_records().contains(VALUE));
}
