//! The reader from outside.

mod strict;
