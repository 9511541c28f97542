//! The crate from outside: files in, settings or messages out.

mod bench;
mod formats;
mod keys;
mod layers;
mod mistakes;
mod property;
mod seeds;
mod shown;
