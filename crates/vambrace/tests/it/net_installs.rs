//! `install_dependencies` against registries that the test serves, with only their host listed.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::net_world::NetWorld;
use crate::net_world::registry::{STANDARD, archive, base64, digest, files, hexadecimal, zip};
use crate::programs_host::has;
use crate::support::{Ran, World, skip};

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
    world.world.file(".cargo/config.toml", format!("[registries.test]\nindex = \"{index}\"\n"));
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
    // What was fetched is there for the tests, which have no network.
    let without = world.set(json!({"sandbox": {"net": []}}));
    let ran = without.call("run_test", &json!({"language": "rust"}));
    assert_eq!(ran.json()["data"]["exit_code"], 0, "{ran:?}");
    assert_eq!(ran.json()["data"]["summary"]["passed"], 1, "{ran:?}");
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
