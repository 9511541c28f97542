//! The clients that people use, over HTTP: the reference client (PyPI package `mcp`) and the MCP Inspector (npm).

use serde_json::Value;

use crate::http_world::Served;
use crate::support::{Ran, World, finish, skip};

const SCRIPT: &str = r#"
import asyncio
import sys

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client


async def main(mode, expected_version, url, header, token):
    async with httpx2.AsyncClient(headers={header: token}, timeout=30) as http:
        async with Client(streamable_http_client(url, http_client=http), mode=mode, read_timeout_seconds=30) as client:
            assert client.protocol_version == expected_version, client.protocol_version
            assert client.server_info.name == "vambrace", client.server_info
            names = [tool.name for tool in (await client.list_tools()).tools]
            assert "read_file" in names and "write_file" in names, names
            assert len(set(names)) == len(names), names

            read = await client.call_tool("read_file", {"path": "a.txt"})
            assert not read.is_error and read.structured_content["data"]["content"] == "one\ntwo\n", read
            assert read.content[0].text == "one\ntwo\n", read

            edit = {"path": "a.txt", "old_text": "two", "new_text": mode}
            edited = await client.call_tool("edit_file", edit)
            assert not edited.is_error and "+" + mode in edited.content[0].text, edited
            back = await client.call_tool("write_file", {"path": "a.txt", "content": "one\ntwo\n"})
            assert not back.is_error, back

            # Many at once over the one client: each gets its own answer.
            async def part(line):
                got = await client.call_tool("read_file", {"path": "a.txt", "offset": line, "limit": 1})
                assert not got.is_error, got
                return got.structured_content["data"]["content"]

            parts = await asyncio.gather(*(part(n % 2) for n in range(20)))
            assert parts == ["one\n", "two\n"] * 10, parts

            denied = await client.call_tool("read_file", {"path": "../x"})
            error = denied.structured_content["error"]
            assert denied.is_error and error["code"] == "PathOutsideProject", denied
            for half in ("code", "message", "suggestion"):
                assert error[half] in denied.content[0].text, denied
    print("done")


asyncio.run(main(*sys.argv[1:]))
"#;

/// Each credential's header, once: who may come in does not depend on the revision.
#[test]
fn the_reference_client_lists_and_calls_over_http() {
    let Some(python) = std::env::var_os("VAMBRACE_TEST_PYTHON") else {
        return skip("the reference MCP client: VAMBRACE_TEST_PYTHON is not set (cargo xtask test sets it)");
    };
    let world = World::new();
    world.file("a.txt", "one\ntwo\n");
    let script = world.beside("client.py", SCRIPT);
    let served = Served::start(&world);
    let url = format!("http://{}/mcp", served.address);
    let run = |mode: &str, version: &str, header: &str, token: &str| {
        finish(world.bare(&python).args([&script, mode, version, &url, header, token]), b"")
    };
    let bearer = format!("Bearer {}", served.token);
    for (mode, version, header, token) in [
        ("auto", "2026-07-28", "X-API-Key", &served.token),
        ("legacy", "2025-11-25", "Authorization", &bearer),
    ] {
        let ran = run(mode, version, header, token);
        let told = (ran.stderr.as_str(), served.log());
        assert_eq!((ran.code, ran.stdout.as_slice()), (0, &b"done\n"[..]), "{mode}: {told:?}");
    }
    assert_ne!(run("auto", "2026-07-28", "X-API-Key", "wrong").code, 0);
    let calls = calls(&world);
    let denied = calls.iter().filter(|record| record["decision"] == "deny").count();
    assert_eq!((denied, calls.len()), (2, 48), "{calls:?}");
}

#[test]
fn the_inspector_lists_and_calls_over_http() {
    let Some(inspector) = std::env::var_os("VAMBRACE_TEST_INSPECTOR") else {
        return skip("the MCP Inspector: VAMBRACE_TEST_INSPECTOR is not set (cargo xtask test sets it)");
    };
    let world = World::new();
    world.file("a.txt", "one\n");
    let served = Served::start(&world);
    let url = format!("http://{}/mcp", served.address);
    let run = |token: &str, args: &[&str]| -> Ran {
        let mut command = world.bare(&inspector);
        command.args(["--cli", &url, "--transport", "http", "--header", &format!("X-API-Key: {token}")]);
        finish(command.args(args), b"")
    };
    let list = run(&served.token, &["--method", "tools/list"]);
    assert_eq!(list.code, 0, "{list:?}");
    let names: Vec<Value> =
        list.json()["tools"].as_array().unwrap().iter().map(|tool| tool["name"].clone()).collect();
    assert!(names.contains(&"read_file".into()) && names.contains(&"edit_file".into()), "{names:?}");

    let call = |path: &str| {
        let path = format!("path={path}");
        run(&served.token, &["--method", "tools/call", "--tool-name", "read_file", "--tool-arg", &path])
    };
    let read = call("a.txt");
    assert_eq!(read.code, 0, "{read:?}");
    assert_eq!(read.json()["structuredContent"]["data"]["content"], "one\n", "{read:?}");
    let denied = call("../x");
    assert_eq!(denied.json()["isError"], true, "{denied:?}");
    let text = denied.json()["content"][0]["text"].as_str().unwrap().to_owned();
    assert!(text.contains("PathOutsideProject"), "{text}");
    let stranger = run("wrong", &["--method", "tools/list"]);
    assert_ne!(stranger.code, 0, "{stranger:?}");
    assert_eq!(calls(&world).len(), 2);
}

/// The record without those who were not let in.
fn calls(world: &World) -> Vec<Value> {
    world.calls().into_iter().filter(|record| record["tool"].is_string()).collect()
}
