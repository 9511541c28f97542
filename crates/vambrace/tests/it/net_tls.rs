//! HTTPS: certificates are checked, a tunnel is for the host it was asked for, and nothing goes back to plain HTTP.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;

use serde_json::json;

use crate::net_world::NetWorld;
use crate::net_world::http::page;
use crate::programs_host::{has, until};
use crate::support::{PATIENCE, Ran, World};

/// OpenSSL's own server. It gives files that hold whole answers, head and body.
struct Server {
    child: Child,
    port: u16,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    /// For the host of this certificate.
    fn start(world: &World, name: &str) -> Server {
        Server::launch(world, name, &["-HTTP"], Stdio::null(), Stdio::null())
    }

    /// One that says the same to everybody and sends on what it heard before.
    fn listening(world: &World, name: &str, says: &str) -> (Server, Receiver<String>) {
        let mut server = Server::launch(world, name, &[], Stdio::piped(), Stdio::piped());
        let (mut stdin, stdout) = (server.child.stdin.take().unwrap(), server.child.stdout.take().unwrap());
        let says = says.replace('\n', "\r\n");
        let (sender, heard) = mpsc::channel();
        thread::spawn(move || {
            let mut head = String::new();
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                head.push_str(&line);
                head.push('\n');
                if line.trim().is_empty() {
                    let told = sender.send(std::mem::take(&mut head));
                    if told.is_err() || stdin.write_all(says.as_bytes()).is_err() {
                        return;
                    }
                }
            }
        });
        (server, heard)
    }

    fn launch(world: &World, name: &str, more: &[&str], stdin: Stdio, stdout: Stdio) -> Server {
        let folder = world.dir().join("served");
        fs::create_dir_all(&folder).unwrap();
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
        let mut command = Command::new("openssl");
        command.args(["s_server", "-quiet"]).args(more).args(["-accept", &format!("127.0.0.1:{port}")]);
        command.arg("-cert").arg(world.dir().join(format!("{name}.pem")));
        command.arg("-key").arg(world.dir().join(format!("{name}.key"))).current_dir(&folder);
        let child = command.stdin(stdin).stdout(stdout).stderr(Stdio::null()).spawn().unwrap();
        let server = Server { child, port };
        until("the server listens", || TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok());
        server
    }
}

fn answer(world: &World, name: &str, text: &str) {
    fs::create_dir_all(world.dir().join("served")).unwrap();
    fs::write(world.dir().join("served").join(name), text.replace('\n', "\r\n")).unwrap();
}

/// An authority, and a certificate for one host that it has signed.
fn certificate(world: &World, name: &str) {
    let path = |file: String| world.dir().join(file).to_str().unwrap().to_owned();
    let authority = [path(format!("{name}-ca.pem")), path(format!("{name}-ca.key"))];
    let own = [path(format!("{name}.pem")), path(format!("{name}.key"))];
    let host = format!("subjectAltName=DNS:{name}");
    let leaf = ["-CA", &authority[0], "-CAkey", &authority[1], "-addext", &host];
    let leaf = [&leaf[..], &["-addext", "basicConstraints=critical,CA:FALSE"]].concat();
    let rows = [(&authority, "test authority", &[][..]), (&own, name, &leaf[..])];
    for ([certificate, key], name, more) in rows {
        let mut command = Command::new("openssl");
        command.args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]);
        command.args(["-days", "3650", "-subj", &format!("/CN={name}"), "-keyout", key, "-out", certificate]);
        let ended = command.args(more).output().unwrap();
        assert!(ended.status.success(), "{ended:?}");
    }
}

/// A world that trusts the authority of `site.test` and no other.
fn world() -> NetWorld {
    let world = World::new();
    certificate(&world, "site.test");
    certificate(&world, "other.test");
    answer(&world, "hello", "HTTP/1.0 200 OK\nContent-Type: text/plain\n\nhello");
    let trusted = world.dir().join("site.test-ca.pem");
    let world = world.with_env("SSL_CERT_FILE", trusted.to_str().unwrap());
    NetWorld::with(world, |_| page("text/plain", "plain"))
}

fn is_missing() -> bool {
    !has("openssl", "HTTPS")
}

#[track_caller]
fn fails(ran: &Ran, exit: i32, code: &str) {
    assert_eq!((ran.code, ran.error_code().as_str()), (exit, code), "{ran:?}");
}

#[test]
fn certificates_are_checked() {
    if is_missing() {
        return;
    }
    let world = world();
    let server = Server::start(&world.world, "site.test");
    let ran = world.fetch(&format!("https://site.test:{}/hello", server.port));
    assert_eq!((ran.code, &ran.json()["data"]["body"]), (0, &json!("hello")), "{ran:?}");
    // The right certificate under another name, and one that nobody trusts.
    let ran = world.fetch(&format!("https://other.test:{}/hello", server.port));
    fails(&ran, 1, "ConnectionFailed");
    assert!(ran.text().contains("certificate"), "{ran:?}");
    let other = Server::start(&world.world, "other.test");
    for host in ["site.test", "other.test"] {
        let ran = world.fetch(&format!("https://{host}:{}/hello", other.port));
        fails(&ran, 1, "ConnectionFailed");
        assert!(ran.text().contains("certificate"), "{ran:?}");
    }
    let ran = world.fetch(&format!("https://site.test:{}/", world.site.port()));
    fails(&ran, 1, "ConnectionFailed");
}

#[test]
fn no_redirect_leads_back_to_plain_http() {
    if is_missing() {
        return;
    }
    let world = world();
    answer(&world.world, "away", &format!("HTTP/1.0 302 Found\nLocation: {}\n\n", world.url("/")));
    let server = Server::start(&world.world, "site.test");
    for tool in ["web_fetch", "fetch_url"] {
        let ran = world.call(tool, &json!({"url": format!("https://site.test:{}/away", server.port)}));
        fails(&ran, 3, "RedirectRefused");
    }
    assert!(world.site.requests().is_empty());
}

/// The certificate has to be where programs see it.
fn in_workspace(world: &NetWorld) {
    fs::copy(world.world.dir().join("site.test-ca.pem"), world.world.work().join("ca.pem")).unwrap();
}

#[track_caller]
fn curl(world: &NetWorld, args: &[&str]) -> Ran {
    let front =
        ["run", "--timeout", "20", "--net", "site.test", "--", "curl", "-sS", "--fail", "--cacert", "ca.pem"];
    world.run(&[&front[..], args].concat())
}

#[test]
fn a_tunnel_is_for_the_host_it_was_asked_for() {
    if is_missing() || !has("curl", "a tunnel through the proxy") {
        return;
    }
    let world = world();
    in_workspace(&world);
    let server = Server::start(&world.world, "site.test");
    let port = server.port;
    let ran = curl(&world, &[&format!("https://site.test:{port}/hello")]);
    assert_eq!((ran.code, ran.text().as_str()), (0, "hello"), "{ran:?}");
    let other = format!("other.test:{port}:site.test:{port}");
    let rows: [&[&str]; 4] = [
        // Asked for one host, greeted another.
        &["-k", "--connect-to", &other, &format!("https://other.test:{port}/hello")],
        &["-k", &format!("https://other.test:{port}/hello")],
        &["-k", &format!("https://127.0.0.1:{port}/hello")],
        &["-k", &format!("https://trap.test:{}/", world.trap.port())],
    ];
    for row in rows {
        let ran = curl(&world, row);
        assert!(ran.code != 0 && ran.text().is_empty(), "{row:?}: {ran:?}");
    }
    world.trap.untouched("a tunnel");
    let record = world.run(&["audit", "export"]).text();
    assert!(record.contains("site.test") && record.contains("other.test"), "{record}");
}

/// With the operator's consent a bound secret goes into HTTPS too; the program holds a placeholder.
#[test]
fn a_bound_secret_reaches_an_https_host() {
    const VALUE: &str = "fourteenletter";
    if is_missing() || !has("curl", "a bound secret in HTTPS") {
        return;
    }
    let world = world();
    let says = "HTTP/1.1 200 OK\nContent-Type: text/plain\nContent-Length: 5\n\nhello";
    let (server, heard) = Server::listening(&world.world, "site.test", says);
    let NetWorld { world: inner, dns, site, other, trap, .. } = world;
    drop((dns, site, other, trap));
    let world = NetWorld::with(inner.with_env("SERVICE", VALUE), |_| page("text/plain", "plain"));
    let binding = json!({"secret": "service", "host": "site.test", "port": server.port, "path": "/"});
    let world = world.set(json!({
        "sandbox": {"net": [{"host": "site.test", "cidr": "127.0.0.1/32"}], "local_ca": true},
        "secrets": {"env": {"service": "${SERVICE}"}, "bindings": [binding]},
    }));
    let url = format!("https://site.test:{}/hello", server.port);
    let ran = world.run(&["run", "--timeout", "20", "--", "curl", "-sS", "--fail", &url]);
    assert_eq!((ran.code, ran.text().as_str()), (0, "hello"), "{ran:?}");
    let heard = heard.recv_timeout(PATIENCE).unwrap();
    assert!(heard.to_ascii_lowercase().contains(&format!("authorization: bearer {VALUE}")), "{heard}");
    let shown = world.run(&["run", "--", "sh", "-c", "env"]);
    assert!(!shown.text().contains(VALUE), "{shown:?}");
    assert!(!world.world.raw_records().contains(VALUE));
}
