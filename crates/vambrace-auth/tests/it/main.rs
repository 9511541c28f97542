//! Authentication, addresses and limits, as the front end uses them.

#![cfg(test)]

mod address_corpus;
mod contexts;
mod credentials;
mod failures;
mod jwt;
mod key_sets;
mod rates;
mod signing;
mod slack_corpus;
mod support;
