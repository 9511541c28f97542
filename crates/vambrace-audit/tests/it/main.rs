//! One binary for all tests that touch a folder.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "helpers of tests may fail loudly"
)]

mod alerts;
mod crash;
mod fuzzed;
mod places;
mod support;
mod switch;
mod tamper;
mod views;
mod writers;
