//! expect: clippy::print_stdout
//! Standard output belongs to the binary; over stdio it is the protocol.

pub fn chat() {
    println!("hello");
}

fn main() {}
