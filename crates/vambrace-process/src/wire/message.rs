//! The messages: what is asked of the launcher and of a cell, and what they answer. A spec goes to
//! the launcher as it is.

use std::path::PathBuf;

use borsh::{BorshDeserialize, BorshSerialize};

use super::path;
use crate::cage::Missing;
use crate::finished::Exit;
use crate::mark::Mark;
use crate::namespace::Namespaces;
use crate::order::Order;
use crate::spec::CageSpec;

/// To a cell.
#[derive(Debug, Clone, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub(crate) enum Request<O = Order> {
    /// With three descriptors beside it: input, output, errors.
    Run(O),
    Terminate,
    Kill,
}

/// To a runner inside another backend, once, before any command.
#[derive(Debug, Clone, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub(crate) enum Confine {
    Nothing,
    As {
        spec: Box<CageSpec>,
        /// Those of whoever asks, which it must not be in.
        outside: Namespaces,
        /// Without all of these it serves nothing.
        marks: Vec<Mark>,
    },
}

/// From the launcher.
#[derive(Debug, Clone, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub(crate) enum Answer {
    /// With the cell's process descriptor beside it.
    Made { pid: u64 },
    Refused {
        why: String,
        /// This system does not do such things, whatever the moment.
        lacks: bool,
    },
}

/// From a cell.
#[derive(Debug, Clone, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub(crate) enum Report {
    /// With the listening socket beside it, if a way out was asked for and the network is the cage's own.
    Ready(Vec<Missing>),
    /// As in `Answer`.
    Refused {
        why: String,
        lacks: bool,
    },
    Done(Done),
    /// After every `Done`, once it was looked for: nothing of the order is left that the next one could see.
    Clean(bool),
}

#[derive(Debug, Clone, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub(crate) struct Done {
    pub(crate) end: End,
    /// As a shell tells them, of every command that was started, in order.
    pub(crate) statuses: Vec<i32>,
    pub(crate) refused: Refused,
}

/// Told by name; of more, only how many.
pub(crate) const MOST_REFUSED: usize = 20;

/// Protected names that programs tried to make.
#[derive(Debug, Clone, PartialEq, Eq, Default, BorshSerialize, BorshDeserialize)]
pub struct Refused {
    /// The first of them, as the cage spells them.
    #[borsh(serialize_with = "path::write_all", deserialize_with = "path::read_all")]
    pub paths: Vec<PathBuf>,
    pub n_tries: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub(crate) enum End {
    Exited(Exit),
    /// The program's file is not the one that was looked up.
    Changed(#[borsh(serialize_with = "path::write", deserialize_with = "path::read")] PathBuf),
    NotStarted {
        #[borsh(serialize_with = "path::write", deserialize_with = "path::read")]
        program: PathBuf,
        errno: i32,
    },
}
