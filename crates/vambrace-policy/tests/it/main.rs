//! What the policy says, held against three other things: a second policy written from the specifications, tables
//! that any language can read, and the public corpus of path traversals.

#![cfg(test)]

mod agree;
mod corpus;
mod generate;
mod property;
mod question;
mod reference;
mod table;
mod tool;
