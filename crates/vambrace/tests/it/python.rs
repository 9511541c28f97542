//! The reference client (PyPI package `mcp`) over stdio, in the revision it chooses and in the older one.

use crate::support::{World, binary, finish, skip};

const SCRIPT: &str = r#"
import asyncio
import sys

from mcp import Client, StdioServerParameters

ALL = ["bash_command", "count_matches", "create_directory", "delete_file", "delete_memory", "edit_file", "exec_shell", "fetch_url", "git_add",
       "git_checkout", "git_commit", "git_diff", "git_status", "install_dependencies", "list_files", "memory_read",
       "memory_write", "posture_report", "read_file", "read_output", "run_lint", "run_test", "save_to_memory", "search_file",
       "search_memory", "spawn", "update_memory", "web_fetch", "write_file"]


async def main(mode, expected_version, binary, *args):
    told = []

    async def progress(done, total, message):
        told.append(done)

    server = StdioServerParameters(command=binary, args=list(args))
    async with Client(server, mode=mode, read_timeout_seconds=30) as client:
        assert client.protocol_version == expected_version, client.protocol_version
        assert client.server_info.name == "vambrace", client.server_info
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == ALL, tools
        for tool in tools:
            hints = tool.annotations
            each = [hints.read_only_hint, hints.destructive_hint, hints.idempotent_hint, hints.open_world_hint]
            assert all(isinstance(hint, bool) for hint in each), tool

        read = await client.call_tool("read_file", {"path": "a.txt"}, progress_callback=progress)
        assert not read.is_error and read.structured_content["data"]["content"] == "one\ntwo\n", read
        assert read.content[0].text == "one\ntwo\n", read

        edit = {"path": "a.txt", "old_text": "two", "new_text": mode}
        edited = await client.call_tool("edit_file", edit)
        assert not edited.is_error and "+" + mode in edited.content[0].text, edited
        back = await client.call_tool("write_file", {"path": "a.txt", "content": "one\ntwo\n"})
        assert not back.is_error, back

        denied = await client.call_tool("read_file", {"path": "../x"})
        error = denied.structured_content["error"]
        assert denied.is_error and error["code"] == "PathOutsideProject", denied
        for half in ("code", "message", "suggestion"):
            assert error[half] in denied.content[0].text, denied

        wrong = await client.call_tool("read_file", {"path": 7})
        assert wrong.is_error and wrong.structured_content["error"]["code"] == "ValidationError", wrong
    print("done")


asyncio.run(main(*sys.argv[1:]))
"#;

#[test]
fn the_reference_client_lists_and_calls() {
    let Some(python) = std::env::var_os("VAMBRACE_TEST_PYTHON") else {
        return skip("the reference MCP client: VAMBRACE_TEST_PYTHON is not set (cargo xtask test sets it)");
    };
    let world = World::new();
    world.file("a.txt", "one\ntwo\n");
    let script = world.beside("client.py", SCRIPT);
    for (mode, version) in [("auto", "2026-07-28"), ("legacy", "2025-11-25")] {
        let mut command = world.bare(&python);
        command.args([&script, mode, version, binary(), "mcp", "--workspace"]).arg(world.work());
        command.arg("--state").arg(world.state());
        let ran = finish(&mut command, b"");
        assert_eq!((ran.code, ran.stdout.as_slice()), (0, &b"done\n"[..]), "{mode}: {}", ran.stderr);
    }
    let denied = world.calls().iter().filter(|record| record["decision"] == "deny").count();
    assert_eq!((denied, world.calls().len()), (2, 10));
}
