//! Messages near and past the limit of the door, which is 16 MiB.

use serde_json::json;

use crate::mcp_client::Client;
use crate::support::World;

const MIB: usize = 1 << 20;

#[test]
fn a_large_message_is_served_and_a_larger_one_is_refused() {
    let world = World::new();
    world.file("a.txt", "one\n");
    let mut client = Client::open(&world, &[]);
    let content = "0123456789abcde\n".repeat(15 * MIB / 16);
    let result = client.call("write_file", &json!({"path": "large.txt", "content": content}));
    assert_eq!(result["isError"], false, "{}", result["structuredContent"]["error"]);
    assert_eq!(result["structuredContent"]["data"]["bytes"], 15 * MIB);
    assert_eq!(result["structuredContent"]["metadata"]["truncated"], true, "the diff is cut, and says so");
    assert!(
        result.to_string().len() < 300_000,
        "an answer stays in proportion: {}",
        result.to_string().len()
    );
    assert_eq!(world.text("large.txt"), content);

    let too_large = json!({"path": "b", "content": "x".repeat(17 * MIB)});
    let answer = client.request("tools/call", &json!({"name": "write_file", "arguments": too_large}));
    assert_eq!(answer["error"]["data"]["code"], "MessageTooLarge", "{answer}");
    assert_eq!(client.call("read_file", &json!({"path": "a.txt"}))["isError"], false);
    assert!(!world.work().join("b").exists());
    assert_eq!(client.close().0, 0);
}

#[test]
fn a_batch_line_past_the_limit_is_refused_and_the_next_is_served() {
    let world = World::new();
    world.file("a.txt", "one\n");
    let too_large = json!({"path": "b", "content": "x".repeat(17 * MIB)});
    let lines = [
        json!({"tool": "write_file", "arguments": too_large}).to_string(),
        json!({"tool": "read_file", "arguments": {"path": "a.txt"}}).to_string(),
    ];
    let ran = world.feed(&["call", "--batch"], lines.join("\n"));
    let codes: Vec<_> = ran.lines().iter().map(|line| line["error"]["code"].clone()).collect();
    assert_eq!((ran.code, codes), (0, vec![json!("MessageTooLarge"), json!(null)]));
    let ran = world.call("write_file", &too_large);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("longer than"), "{}", ran.stderr);
    assert!(!world.work().join("b").exists());
}
