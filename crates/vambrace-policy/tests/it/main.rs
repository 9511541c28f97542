//! What the policy says, held against three other things: a second policy written from the specifications, tables
//! that any language can read, and the public corpus of path traversals.

#![cfg(test)]
#![expect(clippy::disallowed_methods, reason = "tests read rows of JSON")]

mod agree;
mod command_judge;
mod command_judge_corpus;
mod command_judge_property;
mod command_line;
mod command_line_bash;
mod command_line_brush;
mod command_line_generate;
mod command_script;
mod corpus;
mod fuzzed;
mod generate;
mod grants;
mod notify;
mod permission;
mod property;
mod question;
mod reference;
mod table;
mod tool;
mod url_address;
mod url_corpus;
mod url_explain;
