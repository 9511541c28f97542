//! The MCP Inspector (npm package `@modelcontextprotocol/inspector`) over stdio.

use crate::support::{Ran, World, binary, finish, skip};

#[test]
fn the_inspector_lists_and_calls() {
    let Some(inspector) = std::env::var_os("VAMBRACE_TEST_INSPECTOR") else {
        return skip("the MCP Inspector: VAMBRACE_TEST_INSPECTOR is not set (cargo xtask test sets it)");
    };
    let world = World::new();
    world.file("a.txt", "one\n");
    let run = |args: &[&str]| -> Ran {
        let mut command = world.bare(&inspector);
        command.arg("--cli").args(args).args(["--", binary(), "mcp", "--workspace"]).arg(world.work());
        command.arg("--state").arg(world.state());
        finish(&mut command, b"")
    };
    let list = run(&["--method", "tools/list"]);
    assert_eq!(list.code, 0, "{list:?}");
    let tools = list.json();
    assert_eq!(tools["tools"].as_array().unwrap().len(), 29, "{list:?}");

    let call = |path: &str| {
        let path = format!("path={path}");
        run(&["--method", "tools/call", "--tool-name", "read_file", "--tool-arg", &path])
    };
    let read = call("a.txt");
    assert_eq!(
        (read.code, &read.json()["structuredContent"]["data"]["content"]),
        (0, &"one\n".into()),
        "{read:?}"
    );
    let denied = call("../x");
    assert_eq!(denied.json()["isError"], true, "{denied:?}");
    let text = denied.json()["content"][0]["text"].as_str().unwrap().to_owned();
    assert!(text.contains("PathOutsideProject"), "{text}");
    assert_eq!(world.calls().len(), 2);
}
