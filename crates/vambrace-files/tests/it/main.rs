//! The files door against real trees, links, mounts, crashes and rivals.
//!
//! Nothing here sleeps or reaches the network. What needs root says `not run: needs root` on the terminal when it has
//! to be left out.

#[cfg(test)]
mod child;
#[cfg(test)]
mod crash;
#[cfg(test)]
mod edits;
#[cfg(test)]
mod glob;
#[cfg(test)]
mod journal;
#[cfg(test)]
mod listing;
#[cfg(test)]
mod locks;
#[cfg(test)]
mod migrating;
#[cfg(test)]
mod mounts;
#[cfg(test)]
mod places;
#[cfg(test)]
mod race;
#[cfg(test)]
mod reading;
#[cfg(test)]
mod replacing;
#[cfg(test)]
mod rules;
#[cfg(test)]
mod scenarios;
#[cfg(test)]
mod sweeping;
#[cfg(test)]
mod world;
