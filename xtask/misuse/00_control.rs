//! expect: nothing
//! The right way round: everything that the cases take for granted exists and compiles.

use vambrace_audit::{IntentReceipt, Receipt};
use vambrace_files::{Deadline, Files, Root};
use vambrace_policy::{Action, Epoch, Obligations, Permit, ReadFile, WriteFile};
use vambrace_redact::RedactedText;
use vambrace_runtime::Reply;
use vambrace_tools::Hands;
use vambrace_types::{Enforcement, RawOutput, ScopedPath, Secret};

pub fn redeem_once<A: Action>(permit: Permit<A>, door: Epoch) -> bool {
    permit.redeem(door).is_ok()
}

pub fn read_with_a_read_permit(files: &Files, permit: Permit<ReadFile>, deadline: &Deadline) -> bool {
    files.read(permit, deadline).is_ok()
}

pub fn expose(secret: &Secret<String>) -> (usize, bool, String) {
    (secret.expose().len(), secret.matches(secret), format!("{secret:?}"))
}

pub fn look(enforcement: Enforcement, path: &ScopedPath) -> bool {
    enforcement >= Enforcement::Partial && path.is_root()
}

pub fn use_within_the_call<'call>(hands: &'call Hands<'call>) -> &'call Hands<'call> {
    hands
}

pub type Named = (RawOutput, RedactedText, Receipt, IntentReceipt, Reply, WriteFile, Obligations, Root);

fn main() {}
