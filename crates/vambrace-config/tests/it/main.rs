//! The crate from outside: files in, settings or messages out.

#[cfg(test)]
mod bench;
#[cfg(test)]
mod formats;
#[cfg(test)]
mod fuzzed;
#[cfg(test)]
mod keys;
#[cfg(test)]
mod layers;
#[cfg(test)]
mod mistakes;
#[cfg(test)]
mod property;
#[cfg(test)]
mod seeds;
#[cfg(test)]
mod shown;
