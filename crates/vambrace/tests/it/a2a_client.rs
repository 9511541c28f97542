//! The reference client (PyPI package `a2a-sdk`) with an API key: the card, messages in both revisions, streams, tasks.

use serde_json::json;

use crate::http_world::Served;
use crate::support::{World, finish, skip};

const SCRIPT: &str = r#"
import asyncio
import sys
import uuid

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types import a2a_pb2 as pb
from a2a.utils.errors import A2AError
from google.protobuf import json_format


def message(data):
    value = json_format.ParseDict(data, pb.Part().data.__class__())
    return pb.Message(message_id=str(uuid.uuid4()), role=pb.ROLE_USER, parts=[pb.Part(data=value)])


async def each(client, data, immediately=False):
    request = pb.SendMessageRequest(message=message(data))
    request.configuration.return_immediately = immediately
    return [event async for event in client.send_message(request)]


def result_of(artifact):
    return json_format.MessageToDict(artifact.parts[0].data)


async def check(card, http, streaming):
    client = ClientFactory(ClientConfig(httpx_client=http, streaming=streaming)).create(card)
    # Numbers arrive as doubles here, and are whole all the same.
    read = {"tool": "read_file", "arguments": {"path": "a.txt", "max_bytes": 1000}}
    events = await each(client, read)
    kinds = [event.WhichOneof("payload") for event in events]
    if streaming:
        assert kinds == ["task", "status_update", "artifact_update", "status_update"], kinds
        artifact, task_id = events[2].artifact_update.artifact, events[0].task.id
    else:
        assert kinds == ["task"], kinds
        artifact, task_id = events[0].task.artifacts[0], events[0].task.id
    assert result_of(artifact)["data"]["content"] == "one\n", artifact
    assert artifact.parts[1].text == "one\n", artifact

    task = await client.get_task(pb.GetTaskRequest(id=task_id))
    assert task.status.state == pb.TASK_STATE_COMPLETED, task
    try:
        await client.cancel_task(pb.CancelTaskRequest(id=task_id))
        raise AssertionError("a task that is over was canceled")
    except A2AError as error:
        assert "over" in str(error), error

    denied = await each(client, {"tool": "read_file", "arguments": {"path": "../x"}})
    last = denied[-1]
    status = last.status_update.status if streaming else last.task.status
    assert status.state == pb.TASK_STATE_REJECTED, denied

    config = pb.TaskPushNotificationConfig(task_id=task_id, url="http://127.0.0.1:9/")
    try:
        await client.create_task_push_notification_config(config)
        raise AssertionError("news were promised to a private address")
    except A2AError as error:
        assert "News cannot be sent" in str(error), error


async def main(base, key):
    async with httpx.AsyncClient(headers={"X-API-Key": key}, timeout=30) as http:
        card = await A2ACardResolver(http, base).get_agent_card()
        versions = [interface.protocol_version for interface in card.supported_interfaces]
        assert versions == ["1.0", "0.3"], versions
        assert set(card.security_schemes) == {"apiKey", "bearer"}, card
        for streaming in (True, False):
            await check(card, http, streaming)
        client = ClientFactory(ClientConfig(httpx_client=http)).create(card)
        listed = await client.list_tasks(pb.ListTasksRequest(page_size=2))
        assert listed.total_size == 4 and len(listed.tasks) == 2 and listed.next_page_token, listed
        long = await client.get_extended_agent_card(pb.GetExtendedAgentCardRequest())
        assert "read_file" in [skill.id for skill in long.skills], long

        # The same as a client of 0.3.
        old = pb.AgentCard()
        old.CopyFrom(card)
        del old.supported_interfaces[0]
        for streaming in (True, False):
            await check(old, http, streaming)
    print("done")


asyncio.run(main(*sys.argv[1:]))
"#;

#[test]
fn the_reference_client_sends_and_streams() {
    let Some(python) = std::env::var_os("VAMBRACE_TEST_PYTHON") else {
        return skip("the reference A2A client: VAMBRACE_TEST_PYTHON is not set (cargo xtask test sets it)");
    };
    let world = World::new();
    world.file("a.txt", "one\n");
    let key = format!("ka_client_{}", "5f3a".repeat(8));
    let settings = json!({
        "server": {"rate_limit": {"per_second": 1_000_000, "burst": 1_000_000}},
        "api_keys": [{"caller_id": "client", "role": "write", "secret": key}],
    });
    let served = Served::with_config(&world, &settings.to_string());
    let script = world.beside("a2a_client.py", SCRIPT);
    let mut command = world.bare(&python);
    command.args([script, format!("http://{}", served.address), key]);
    let ran = finish(&mut command, b"");
    assert_eq!((ran.code, ran.stdout.as_slice()), (0, &b"done\n"[..]), "{}", ran.stderr);
}
