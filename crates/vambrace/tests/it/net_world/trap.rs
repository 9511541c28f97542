//! A port of this machine that nothing may reach.

use std::io::ErrorKind;
use std::net::{Ipv4Addr, Ipv6Addr, TcpListener};

/// On 127.0.0.1 and ::1, one port for both. It accepts nothing until it is asked, so no connection is missed.
pub(crate) struct Trap {
    port: u16,
    listeners: Vec<TcpListener>,
}

impl Trap {
    pub(crate) fn set() -> Trap {
        for _ in 0..100 {
            let v4 = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
            let port = v4.local_addr().unwrap().port();
            let Ok(v6) = TcpListener::bind((Ipv6Addr::LOCALHOST, port)) else { continue };
            let listeners = vec![v4, v6];
            for listener in &listeners {
                listener.set_nonblocking(true).unwrap();
            }
            return Trap { port, listeners };
        }
        panic!("no port is free on both loopback addresses");
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// How many connections were made since the last look.
    pub(crate) fn count(&self) -> usize {
        self.listeners.iter().map(waiting).sum()
    }

    #[track_caller]
    pub(crate) fn untouched(&self, by: &str) {
        assert_eq!(self.count(), 0, "the trap was reached by {by}");
    }
}

fn waiting(listener: &TcpListener) -> usize {
    let mut n = 0;
    loop {
        match listener.accept() {
            Ok(_) => n += 1,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return n,
            Err(error) => panic!("{error}"),
        }
    }
}
