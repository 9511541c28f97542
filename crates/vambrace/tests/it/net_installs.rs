//! `install_dependencies` against registries that the test serves, with only their host listed.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::net_world::NetWorld;
use crate::net_world::registry::{STANDARD, archive, base64, digest, files, hexadecimal, zip};
use crate::programs_host::has;
use crate::support::{Ran, World, finish, skip};

/// Serves the folder `registry` beside the workspace.
fn world(world: World) -> NetWorld {
    let folder = world.dir().join("registry");
    fs::create_dir(&folder).unwrap();
    NetWorld::with(world, move |request| files(&folder, request))
        .set(json!({"sandbox": {"net": [{"host": "site.test", "cidr": "127.0.0.1/32"}]}}))
}

fn publish(world: &NetWorld, path: &str, bytes: impl AsRef<[u8]>) {
    let path = world.world.dir().join("registry").join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

#[track_caller]
fn install(world: &NetWorld, manager: &str) -> Value {
    let ran: Ran = world.call("install_dependencies", &json!({"manager": manager}));
    let result = ran.json();
    assert_eq!((ran.code, &result["data"]["exit_code"]), (0, &json!(0)), "{ran:?}");
    let hosts: Vec<Value> =
        world.world.records().into_iter().filter(|line| line["event"] == "egress").collect();
    assert!(
        !hosts.is_empty() && hosts.iter().all(|line| line["call_id"] == result["metadata"]["call_id"]),
        "{hosts:?}"
    );
    world.trap.untouched(manager);
    result
}

fn world_has(world: &NetWorld, name: &str) -> bool {
    world.world.work().join(name).exists()
}

fn temporary(world: &NetWorld) -> &Path {
    world.world.dir()
}

#[test]
fn npm_installs_what_the_lock_file_names() {
    if !has("npm", "npm through the proxy") {
        return;
    }
    let world = world(World::new());
    let manifest = json!({"name": "tiny", "version": "1.0.0", "main": "index.js"}).to_string();
    let packed = archive(
        temporary(&world),
        &[("package/package.json", &manifest), ("package/index.js", "module.exports = 'tiny';\n")],
    );
    let integrity = format!("sha512-{}==", base64(&digest("sha512sum", &packed), STANDARD));
    publish(&world, "tiny/-/tiny-1.0.0.tgz", &packed);
    let resolved = world.url("/tiny/-/tiny-1.0.0.tgz");
    let wanted = json!({"name": "own", "version": "1.0.0", "dependencies": {"tiny": "1.0.0"}});
    let lock = json!({
        "name": "own", "version": "1.0.0", "lockfileVersion": 3, "requires": true,
        "packages": {
            "": wanted,
            "node_modules/tiny": {"version": "1.0.0", "resolved": resolved, "integrity": integrity},
        },
    });
    world.world.file("package.json", wanted.to_string()).file("package-lock.json", lock.to_string());
    world.world.file(
        ".npmrc",
        format!("registry={}\naudit=false\nfund=false\nupdate-notifier=false\n", world.url("/")),
    );
    install(&world, "npm");
    assert_eq!(world.world.text("node_modules/tiny/index.js"), "module.exports = 'tiny';\n");

    // A lock file that names another place gets nothing from there.
    fs::remove_dir_all(world.world.work().join("node_modules")).unwrap();
    for host in ["trap.test", "127.0.0.1"] {
        let resolved = format!("http://{host}:{}/tiny-1.0.0.tgz", world.trap.port());
        let mut lock = lock.clone();
        lock["packages"]["node_modules/tiny"]["resolved"] = json!(resolved);
        world.world.file("package-lock.json", lock.to_string());
        world.world.file(
            ".npmrc",
            format!("registry={}\nfetch-retries=0\nreplace-registry-host=never\n", world.url("/")),
        );
        let ran = world.call("install_dependencies", &json!({"manager": "npm"}));
        assert_ne!(ran.json()["data"]["exit_code"], 0, "{ran:?}");
        world.trap.untouched("a lock file");
    }
}

#[test]
fn cargo_fetches_what_the_lock_file_names() {
    if !has("cargo", "cargo through the proxy") {
        return;
    }
    // Toolchains are found beneath the person's home.
    let world = world(World::new().with_env("HOME", &std::env::var("HOME").unwrap()));
    let manifest = "[package]\nname = \"tiny-dep\"\nversion = \"1.0.0\"\nedition = \"2021\"\n";
    let source = "pub fn name() -> &'static str { \"tiny\" }\n";
    let packed = archive(
        temporary(&world),
        &[("tiny-dep-1.0.0/Cargo.toml", manifest), ("tiny-dep-1.0.0/src/lib.rs", source)],
    );
    let sum = hexadecimal(&digest("sha256sum", &packed));
    publish(&world, "crates/tiny-dep-1.0.0.crate", &packed);
    let download = world.url("/crates/{crate}-{version}.crate");
    publish(&world, "index/config.json", json!({"dl": download}).to_string());
    let line = json!({"name": "tiny-dep", "vers": "1.0.0", "deps": [], "cksum": sum, "features": {}, "yanked": false});
    publish(&world, "index/ti/ny/tiny-dep", format!("{line}\n"));
    let index = format!("sparse+{}", world.url("/index/"));
    // A project's own compiler and wrapper run in its builds, and not where they could write among the packages.
    let settings = "[build]\nrustc = \"./rustc.sh\"\nrustc-wrapper = \"./wrapper.sh\"\n\n";
    world.world.file(".cargo/config.toml", format!("{settings}[registries.test]\nindex = \"{index}\"\n"));
    for (name, then) in [("rustc.sh", "rustc"), ("wrapper.sh", "")] {
        let script = format!("#!/bin/sh\ntouch {name}.ran $CARGO_HOME/planted 2>&-\nexec {then} \"$@\"\n");
        world.world.file(name, script);
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(world.world.work().join(name), mode).unwrap();
    }
    world.world.file(
        "Cargo.toml",
        "[package]\nname = \"own\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[dependencies]\n\
         tiny-dep = { version = \"1.0.0\", registry = \"test\" }\n",
    );
    world.world.file(
        "Cargo.lock",
        format!(
            "version = 3\n\n[[package]]\nname = \"own\"\nversion = \"0.1.0\"\ndependencies = [\n \"tiny-dep\",\n]\n\n\
             [[package]]\nname = \"tiny-dep\"\nversion = \"1.0.0\"\nsource = \"{index}\"\nchecksum = \"{sum}\"\n"
        ),
    );
    world.world.file("src/lib.rs", "#[test]\nfn one() {\n    assert_eq!(tiny_dep::name(), \"tiny\");\n}\n");
    install(&world, "cargo");
    assert!(!world_has(&world, "rustc.sh.ran") && !world_has(&world, "wrapper.sh.ran"));
    // What was fetched is there for the tests, which have no network.
    let without = world.set(json!({"sandbox": {"net": []}}));
    let ran = without.call("run_test", &json!({"language": "rust"}));
    assert_eq!(ran.json()["data"]["exit_code"], 0, "{ran:?}");
    assert_eq!(ran.json()["data"]["summary"]["passed"], 1, "{ran:?}");
    let fetched = fetched(&without, "cargo");
    assert!(fetched.join("registry/cache").is_dir() && !fetched.join("planted").exists());
    assert!(world_has(&without, "rustc.sh.ran") && world_has(&without, "wrapper.sh.ran"));
    out_of_reach(&without, "CARGO_HOME", &fetched);
}

/// Go's own registry cannot be served here, and no setting that a cage lets in names another. So the download of
/// the call is refused, and the test does it instead.
#[test]
fn go_uses_what_was_downloaded() {
    if !has("go", "modules of Go") {
        return;
    }
    let world = world(World::new());
    let (name, version, module) = ("example.test/tiny", "v1.0.0", "module example.test/tiny\n\ngo 1.18\n");
    let source = "package tiny\n\nfunc Name() string { return \"tiny\" }\n";
    let files = [("go.mod", module), ("tiny.go", source)];
    let inside = files.map(|(file, text)| (format!("{name}@{version}/{file}"), text));
    let packed = zip(&inside.each_ref().map(|(path, text)| (path.as_str(), *text)));
    // The sum of the sums, as `go.sum` has it.
    let sum = |files: &[(&str, &str)]| {
        let line = |(path, text): &(&str, &str)| {
            format!("{}  {path}\n", hexadecimal(&digest("sha256sum", text.as_bytes())))
        };
        let lines: String = files.iter().map(line).collect();
        format!("h1:{}=", base64(&digest("sha256sum", lines.as_bytes()), STANDARD))
    };
    let whole = sum(&inside.each_ref().map(|(path, text)| (path.as_str(), *text)));
    let alone = sum(&[("go.mod", module)]);
    publish(&world, &format!("go/{name}/@v/{version}.info"), json!({"Version": version}).to_string());
    publish(&world, &format!("go/{name}/@v/{version}.mod"), module);
    publish(&world, &format!("go/{name}/@v/{version}.zip"), &packed);
    world.world.file("go.mod", format!("module example.test/own\n\ngo 1.18\n\nrequire {name} {version}\n"));
    world.world.file("go.sum", format!("{name} {version} {whole}\n{name} {version}/go.mod {alone}\n"));
    let test = "package own\n\nimport (\n\t\"testing\"\n\n\t\"example.test/tiny\"\n)\n\n\
                func TestName(t *testing.T) {\n\tif tiny.Name() != \"tiny\" {\n\t\tt.Fail()\n\t}\n}\n";
    world.world.file("own_test.go", test);
    let ran = world.call("install_dependencies", &json!({"manager": "go"}));
    assert!(ran.text().contains("not listed in sandbox.net"), "{}", ran.text());
    let without = world.set(json!({"sandbox": {"net": []}}));
    let fetched = fetched(&without, "go-mod");
    // Nothing was brought in, so nothing is hidden.
    let ran = without.run(&["run", "--", "sh", "-c", "echo \"[$GOMODCACHE]\""]);
    assert_eq!(ran.text(), "[]\n", "{ran:?}");
    let mut download = without.world.bare("go");
    let proxy = format!("http://127.0.0.1:{}/go", without.site.port());
    download.args(["mod", "download"]).current_dir(without.world.work());
    download.env("GOPROXY", proxy).env("GOFLAGS", "-modcacherw").env("GOMODCACHE", &fetched);
    let ran = finish(&mut download, b"");
    assert_eq!(ran.code, 0, "{ran:?}");
    let ran = without.call("run_test", &json!({"language": "go"}));
    assert_eq!(ran.json()["data"]["summary"]["passed"], 1, "{ran:?}");
    out_of_reach(&without, "GOMODCACHE", &fetched);
}

/// Where what was brought in lies: in the state folder, of which only this is shown.
fn fetched(world: &NetWorld, name: &str) -> PathBuf {
    let services: Vec<_> = fs::read_dir(world.world.state().join("fetched")).unwrap().collect();
    assert_eq!(services.len(), 1, "{services:?}");
    let service = services.into_iter().next().unwrap().unwrap().path();
    let found: Vec<_> = fs::read_dir(&service).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(found, [name]);
    service.join(name).canonicalize().unwrap()
}

/// No tool for files and no program but the one that downloads can write there, and no other service sees it.
fn out_of_reach(world: &NetWorld, variable: &str, fetched: &Path) {
    let (state, place) = (world.world.state().canonicalize().unwrap(), fetched.to_str().unwrap());
    let before = World::everything_in(fetched);
    let script = format!(
        "echo \"${variable}\"; ls -A '{}'; cd '{place}' || exit; touch x; mkdir -p gg/.git; echo x > config.toml; \
         rm -rf cache registry; mv * /tmp; chmod 777 .; ls -d x gg config.toml",
        state.display()
    );
    let shell = ["sh", "-c", script.as_str()];
    for net in [&["run", "--"][..], &["run", "--net", "site.test", "--"]] {
        let ran = world.run(&[net, &shell[..]].concat());
        assert_eq!(ran.text(), format!("{place}\nfetched\n"), "{ran:?}");
        assert!(World::everything_in(fetched) == before && !fetched.join("gg").exists(), "{net:?}");
    }
    fs::create_dir(world.world.work().join("other")).unwrap();
    let script = format!("echo \"${variable}\"; ls -A '{place}' '{}'", state.display());
    let ran = world.run(&["--service", "other", "run", "--", "sh", "-c", &script]);
    assert!(!ran.text().contains(place) && !ran.text().contains("fetched"), "{ran:?}");
    // By name, and through a link that a program has made.
    world.world.link("docs", fetched);
    for above in [place, "docs"] {
        let path = format!("{above}/config.toml");
        let ran = world.call("write_file", &json!({"path": path, "content": "x"}));
        assert_ne!(ran.code, 0, "{ran:?}");
        let ran = world.call("list_files", &json!({"path": above}));
        assert_ne!(ran.code, 0, "{ran:?}");
    }
    assert!(World::everything_in(fetched) == before);
    assert!(
        !world.world.work().join(".cage/cargo").exists() && !world.world.work().join(".cage/go-mod").exists()
    );
}

/// Beside the interpreter of the test tools, or in the search path.
fn uv() -> Option<std::path::PathBuf> {
    let beside =
        std::env::var_os("VAMBRACE_TEST_PYTHON").map(|python| Path::new(&python).with_file_name("uv"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let listed = std::env::split_paths(&path).map(|folder| folder.join("uv"));
    beside.into_iter().chain(listed).find(|path| path.is_file())
}

#[test]
fn uv_installs_what_the_lock_file_names() {
    let Some(uv) = uv() else {
        return skip("uv through the proxy: `uv` is not installed (it comes with `cargo xtask test`)");
    };
    let world = world(World::new());
    let programs = world.world.home().join(".local/bin");
    fs::create_dir_all(&programs).unwrap();
    fs::copy(uv, programs.join("uv")).unwrap();
    let wheel = zip(&[
        ("tiny_dep.py", "NAME = 'tiny'\n"),
        ("tiny_dep-1.0.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny-dep\nVersion: 1.0.0\n"),
        (
            "tiny_dep-1.0.0.dist-info/WHEEL",
            "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        ),
        (
            "tiny_dep-1.0.0.dist-info/RECORD",
            "tiny_dep.py,,\ntiny_dep-1.0.0.dist-info/METADATA,,\ntiny_dep-1.0.0.dist-info/WHEEL,,\n\
             tiny_dep-1.0.0.dist-info/RECORD,,\n",
        ),
    ]);
    let (name, sum) = ("tiny_dep-1.0.0-py3-none-any.whl", hexadecimal(&digest("sha256sum", &wheel)));
    publish(&world, &format!("files/{name}"), &wheel);
    let (index, place) = (world.url("/simple"), world.url(&format!("/files/{name}")));
    publish(&world, "simple/tiny-dep/index.html", format!("<a href=\"{place}#sha256={sum}\">{name}</a>"));
    world.world.file(
        "pyproject.toml",
        format!(
            "[project]\nname = \"own\"\nversion = \"0.1.0\"\nrequires-python = \">=3.8\"\ndependencies = [\"tiny-dep\"]\n\n\
             [[tool.uv.index]]\nurl = \"{index}\"\ndefault = true\n"
        ),
    );
    world.world.file(
        "uv.lock",
        format!(
            "version = 1\nrequires-python = \">=3.8\"\n\n\
             [[package]]\nname = \"own\"\nversion = \"0.1.0\"\nsource = {{ virtual = \".\" }}\n\
             dependencies = [\n    {{ name = \"tiny-dep\" }},\n]\n\n\
             [package.metadata]\nrequires-dist = [{{ name = \"tiny-dep\" }}]\n\n\
             [[package]]\nname = \"tiny-dep\"\nversion = \"1.0.0\"\nsource = {{ registry = \"{index}\" }}\n\
             wheels = [\n    {{ url = \"{place}\", hash = \"sha256:{sum}\", size = {} }},\n]\n",
            wheel.len()
        ),
    );
    install(&world, "uv");
    let found = World::everything_in(&world.world.work().join(".venv"));
    assert!(found.iter().any(|(path, _)| path.ends_with("site-packages/tiny_dep.py")), "{}", found.len());
}

/// Without a grant the same call fails, and says why.
#[test]
fn nothing_is_installed_without_a_grant() {
    if !has("npm", "npm without a grant") {
        return;
    }
    let world = world(World::new()).set(json!({"sandbox": {"net": []}}));
    let wanted = json!({"name": "own", "version": "1.0.0", "dependencies": {"tiny": "1.0.0"}});
    let resolved = world.url("/tiny-1.0.0.tgz");
    let lock = json!({
        "name": "own", "version": "1.0.0", "lockfileVersion": 3,
        "packages": {"": wanted, "node_modules/tiny": {"version": "1.0.0", "resolved": resolved}},
    });
    world.world.file("package.json", wanted.to_string()).file("package-lock.json", lock.to_string());
    world.world.file(".npmrc", "fetch-retries=0\n");
    let ran = world.call("install_dependencies", &json!({"manager": "npm"}));
    assert_ne!(ran.json()["data"]["exit_code"], 0, "{ran:?}");
    assert!(world.site.requests().is_empty());
}
