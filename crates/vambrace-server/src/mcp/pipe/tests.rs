use super::*;

#[track_caller]
fn id_is(message: &str, expected: Option<Value>) {
    let id = id_of(message.as_bytes()).map(|id| json!(id));
    assert_eq!(id, expected, "{message}");
}

#[test]
fn only_the_messages_own_id_is_found() {
    id_is(r#"{"jsonrpc":"2.0","id":7,"method":"x","params":{"id":8}}"#, Some(json!(7)));
    id_is(r#"{ "id" : "a\"b", "method":"x"}"#, Some(json!("a\"b")));
    id_is(r#"{"method":"x","params":{"id":8},"jsonrpc":"2.0","id":9}"#, Some(json!(9)));
    id_is(r#"{"method":"\ud800\"","id":-9}"#, Some(json!(-9)));
    id_is(r#"{"id":5"#, Some(json!(5)));
    id_is(r#"{"id":5,"method":"#, Some(json!(5)));
    id_is(r#"{"method":"id","x":"\"id\":4"}"#, None);
    id_is(r#"{"method":"x","params":{"arguments":{"id":8}}}"#, None);
    id_is(r#"{"method":"x","params":{"id":8}"#, None);
    id_is(r#"{"x":[],"id":1.5}"#, None);
    id_is(r#"{"id":5x}"#, None);
    id_is(r#"{"id":null,"method":"x"}"#, None);
    id_is(r#"[{"id":5}]"#, None);
    id_is(r#"}{{"id":5}"#, None);
    id_is(r#"{"id"#, None);
    id_is("not json", None);
    id_is("", None);
    assert_eq!(id_at_end(br#"xxx","id":7} "#), Some(RequestId::Number(7)));
    assert_eq!(id_at_end(br#"xxx":{"id":7}}"#), None);
    assert_eq!(id_at_end(br#"xxx","id":[7]}"#), None);
}

/// What is said to each line of the input, besides the messages that are heard.
fn said(input: &[u8]) -> (usize, Vec<Value>, usize) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let (output, mut heard) = tokio::io::duplex(1 << 20);
    let (alarms, told) = std::sync::mpsc::channel();
    let input = std::io::Cursor::new(input.to_vec());
    let mut pipe = Pipe::new(input, output, move || alarms.send(()).unwrap());
    let n_messages = runtime.block_on(async {
        let mut n_messages = 0;
        while pipe.receive().await.is_some() {
            n_messages += 1;
        }
        pipe.close().await.unwrap();
        n_messages
    });
    let mut text = String::new();
    runtime.block_on(tokio::io::AsyncReadExt::read_to_string(&mut heard, &mut text)).unwrap();
    let answers = text.lines().map(|line| vambrace_json::read(line.as_bytes(), Limits::message(LONGEST)));
    let answers = answers.map(|answer| answer.unwrap()).collect();
    drop(pipe);
    (n_messages, answers, told.iter().count())
}

#[track_caller]
fn check(line: &[u8], expected: Option<(Option<Value>, i64)>) {
    let ping = br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let (n_messages, answers, _) = said(&[line, b"\n", ping, b"\n"].concat());
    let shown = String::from_utf8_lossy(line.get(..200).unwrap_or(line)).into_owned();
    let answers: Vec<_> = answers
        .iter()
        .map(|answer| (answer.get("id").cloned(), answer["error"]["code"].as_i64().unwrap()))
        .collect();
    assert_eq!(answers, expected.into_iter().collect::<Vec<_>>(), "{shown}");
    assert_eq!(n_messages, 1, "the next is heard: {shown}");
}

#[test]
fn a_line_that_is_no_message_is_answered_under_its_id() {
    let h = Some(json!("h"));
    check(b"", None);
    check(b" \r", None);
    check(b"{", Some((None, -32700)));
    check(b"not json", Some((None, -32700)));
    check(b"\xff\xfe{", Some((None, -32700)));
    check(b"{\"jsonrpc\":\"2.0\",\"id\":\"h\",\"method\":\"\xff\"}", Some((h.clone(), -32700)));
    check(br#"{"jsonrpc":"2.0","id":"h","method":"\ud800"}"#, Some((h.clone(), -32700)));
    check(
        br#"{"method":"tools/call","params":{"name":"\ud800"},"jsonrpc":"2.0","id":7}"#,
        Some((Some(json!(7)), -32700)),
    );
    check(br#"{"jsonrpc":"2.0","id":5}"#, Some((Some(json!(5)), -32600)));
    check(br#"{"jsonrpc":"1.0","id":5,"method":"ping"}"#, Some((Some(json!(5)), -32600)));
    check(br#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, Some((None, -32600)));
    check(br#"{"jsonrpc":"2.0","id":5,"id":6,"method":"ping"}"#, Some((Some(json!(5)), -32600)));
    check(b"[]", Some((None, -32600)));
    check(b"7", Some((None, -32600)));
    check(br#"{"jsonrpc":"1.0","method":"notifications/cancelled"}"#, None);
    check(br#"{"jsonrpc":"1.0","id":"h","result":7}"#, None);
    let deep = format!(r#"{{"id":"h","params":{}{}}}"#, "[".repeat(100), "]".repeat(100));
    check(deep.as_bytes(), Some((h.clone(), -32600)));
    let reserved =
        br#"{"jsonrpc":"2.0","id":"h","method":"ping","params":{"$serde_json::private::RawValue":"{}"}}"#;
    check(reserved, Some((h, -32600)));
    assert_eq!(said(&[&reserved[..], b"\n{\n"].concat()).2, 1, "of attacks somebody is told");
}

#[test]
fn a_line_that_is_too_long_is_answered_and_the_next_is_heard() {
    let long = "a".repeat(LONGEST);
    check(format!(r#"{{"id":1,"x":"{long}"}}"#).as_bytes(), Some((Some(json!(1)), -32600)));
    check(format!(r#"{{"x":"{long}","id":1}}"#).as_bytes(), Some((Some(json!(1)), -32600)));
    check(long.as_bytes(), Some((None, -32600)));
}

/// The library waits for several things at once, and begins again with whatever did not come first.
#[test]
fn who_stops_waiting_loses_nothing() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let (mut sender, input) = tokio::io::duplex(8);
        let (output, mut heard) = tokio::io::duplex(8);
        let mut pipe = Pipe::new(input, output, || {});
        let sending = tokio::spawn(async move {
            sender.write_all(b"{\n{\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n").await.unwrap();
            sender
        });
        let hearing = tokio::spawn(async move {
            let mut text = String::new();
            tokio::io::AsyncReadExt::read_to_string(&mut heard, &mut text).await.unwrap();
            text
        });
        let mut n_messages = 0;
        while n_messages == 0 {
            tokio::select! {
                biased;
                message = pipe.receive() => n_messages += usize::from(message.is_some()),
                () = tokio::task::yield_now() => {}
            }
        }
        drop(sending.await.unwrap());
        drop(pipe);
        let text = hearing.await.unwrap();
        assert_eq!(text.lines().count(), 2, "{text}");
        assert!(text.lines().all(|line| line.contains("-32700") && line.ends_with('}')), "{text}");
    });
}
