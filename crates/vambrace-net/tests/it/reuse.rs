//! Connections that are kept, and those that must not be.

use std::net::IpAddr;
use std::sync::Mutex;

use vambrace_policy::Answers;

use crate::dns::{Dns, Family, Said, given};
use crate::server::{Server, ok};
use crate::world::{Choices, World, get};

/// The body, as text.
async fn body(world: &World, url: &str) -> String {
    String::from_utf8(world.fetch(get(url)).await.unwrap().body).unwrap()
}

#[tokio::test]
async fn a_connection_serves_the_next_request() {
    let server = Server::always("127.0.0.1:0", ok("page"));
    let world = World::new(Choices::default());
    for _ in 0..5 {
        assert_eq!(body(&world, &format!("http://127.0.0.1:{}/", server.port())).await, "page");
    }
    assert_eq!((server.n_connections(), server.requests().len()), (1, 5));
}

#[tokio::test]
async fn a_connection_leads_to_an_address_of_this_request() {
    let one = Server::always("127.0.0.1:0", ok("one"));
    let two = Server::always(&format!("127.0.0.2:{}", one.port()), ok("two"));
    let rounds = [
        (vec!["127.0.0.1"], "one", (1, 0)),
        (vec!["127.0.0.2"], "two", (1, 1)),
        // Both may be had, and both are there.
        (vec!["127.0.0.2", "127.0.0.1"], "two", (1, 1)),
        (vec!["127.0.0.1"], "one", (1, 1)),
        (vec!["127.0.0.3", "127.0.0.1"], "one", (1, 1)),
    ];
    let world = World::new(Choices::default());
    for (addresses, expected, connections) in rounds {
        let mut action = get(&format!("http://site.test:{}/", one.port()));
        action.answers =
            Answers::Found(addresses.iter().map(|text| text.parse::<IpAddr>().unwrap()).collect());
        let response = world.send(action).await.unwrap();
        assert_eq!(response.body, expected.as_bytes(), "{addresses:?}");
        assert_eq!((one.n_connections(), two.n_connections()), connections, "{addresses:?}");
    }
}

#[tokio::test]
async fn a_name_does_not_use_the_connection_of_another() {
    let server = Server::always("127.0.0.1:0", ok("page"));
    let dns = Dns::fixed(&["127.0.0.1"]);
    let world = World::asking(dns.at);
    body(&world, &format!("http://site.test:{}/", server.port())).await;
    body(&world, &format!("http://127.0.0.1:{}/", server.port())).await;
    assert_eq!(server.n_connections(), 2);
}

#[tokio::test]
async fn what_is_not_kept() {
    let closing = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 4\r\n\r\npage";
    let old = "HTTP/1.0 200 OK\r\ncontent-length: 4\r\n\r\npage";
    // More than its length says: the rest must not become the next answer.
    let more = ok("page") + &ok("evil");
    let long = ok(&format!("page{}", "x".repeat(10_000)));
    for answer in [closing.to_owned(), old.to_owned(), more, long] {
        let server = Server::always("127.0.0.1:0", answer.clone());
        let world = World::new(Choices { max_body_bytes: 4, ..Choices::default() });
        for _ in 0..3 {
            let text = body(&world, &format!("http://127.0.0.1:{}/", server.port())).await;
            assert!(text.starts_with("page") && !text.contains("evil"), "{text}");
        }
        assert_eq!(server.n_connections(), 3, "{answer}");
    }
}

#[tokio::test]
async fn a_connection_that_ended_meanwhile_is_replaced() {
    // The first one takes a second request and ends without a word.
    let server = Server::at("127.0.0.1:0", |mut guest| {
        guest.request();
        guest.say(ok("page"));
        guest.request();
        if guest.nth > 0 {
            guest.say(ok("page"));
        }
    });
    let world = World::new(Choices::default());
    let url = format!("http://127.0.0.1:{}/", server.port());
    for _ in 0..2 {
        assert_eq!(body(&world, &url).await, "page");
    }
    assert_eq!((server.n_connections(), server.requests().len()), (2, 3));
}

#[tokio::test]
async fn a_kept_connection_that_speaks_nonsense_is_replaced() {
    // The first one says this to the second request.
    for nonsense in
        ["nobody's protocol\r\n\r\n", "HTTP/1.1 2000 OK\r\n\r\n", "HTTP/1.1 200 OK\r\na b: c\r\n\r\n"]
    {
        let server = Server::at("127.0.0.1:0", move |mut guest| {
            guest.request();
            guest.say(ok("page"));
            guest.request();
            guest.say(nonsense);
        });
        let world = World::new(Choices::default());
        let url = format!("http://127.0.0.1:{}/", server.port());
        for _ in 0..2 {
            assert_eq!(body(&world, &url).await, "page", "{nonsense}");
        }
        assert_eq!((server.n_connections(), server.requests().len()), (2, 3));
    }
}

#[tokio::test]
async fn what_changes_things_is_sent_once_over_a_new_connection() {
    let server = Server::always("127.0.0.1:0", ok("page"));
    let world = World::new(Choices::default());
    let url = format!("http://127.0.0.1:{}/", server.port());
    assert_eq!(body(&world, &url).await, "page");
    for n in 2..4 {
        let mut action = get(&url);
        action.method = "POST".to_owned();
        world.fetch(action).await.unwrap();
        assert_eq!((server.n_connections(), server.requests().len()), (n, n));
    }
}

#[tokio::test]
async fn a_name_that_moved_takes_its_requests_along() {
    let one = Server::always("127.0.0.1:0", ok("one"));
    let two = Server::always(&format!("127.0.0.2:{}", one.port()), ok("two"));
    let now: &'static Mutex<IpAddr> = Box::leak(Box::new(Mutex::new(IpAddr::from([127, 0, 0, 1]))));
    let dns = Dns::new(|asked| match asked.family {
        Family::Four => given(asked, 0, &[*now.lock().unwrap()]),
        Family::Six => Said::Code(3),
    });
    let world = World::asking(dns.at);
    let url = format!("http://site.test:{}/", one.port());
    assert_eq!(body(&world, &url).await, "one");
    *now.lock().unwrap() = IpAddr::from([127, 0, 0, 2]);
    assert_eq!(body(&world, &url).await, "two");
    assert_eq!((one.n_connections(), two.n_connections()), (1, 1));
}
