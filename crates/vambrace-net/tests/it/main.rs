//! The door against servers of names and pages that lie, hang and flood. All of them are on the loopback of this
//! machine.

#[cfg(test)]
mod answer;
#[cfg(test)]
mod dns;
#[cfg(test)]
mod lookup;
#[cfg(test)]
mod operator;
#[cfg(test)]
mod request;
#[cfg(test)]
mod reuse;
#[cfg(test)]
mod server;
#[cfg(test)]
mod world;
