//! expect: E0423
//! We dial what was judged: an address does not become a checked one by being written so.

use std::net::SocketAddr;

use vambrace_net::CheckedAddr;

pub fn forge(address: SocketAddr) -> CheckedAddr {
    CheckedAddr(address)
}

fn main() {}
