//! A listener on loopback plays the cage's, servers on loopback play the world, and a name server of our own
//! knows them.

mod credential;
mod harness;
mod hostile;
mod plain;
mod tunnel;
