//! The reader from outside.

#![cfg(test)]

mod strict;
