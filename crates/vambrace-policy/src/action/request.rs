//! Requests that are a kind of their own, so that rules can tell them from those of a caller's choice.

use vambrace_types::{Caller, ScopedPath};

use super::{Access, Action, Allowance, FetchUrl, sealed};
use crate::{Capability, Denial, Judgement, Kinds, Permit, PolicySettings, Sends};

/// A page to be read: nothing is sent but the wish for it.
#[derive(Debug, Clone)]
pub struct ReadPage {
    pub request: FetchUrl,
}

/// News of a task for an address that its caller named: who may fetch is not thereby allowed to
/// have results sent away.
#[derive(Debug, Clone)]
pub struct SendNotification {
    pub request: FetchUrl,
}

macro_rules! requests {
    ($($action:ident $capability:ident $sends:ident;)*) => { $(
        impl sealed::Sealed for $action {}
        impl Action for $action {
            const CAPABILITY: Capability = Capability::$capability;
            const KINDS: Kinds = Kinds { sends: Sends::$sends, ..Kinds::NONE };

            fn targets(&self) -> Vec<(&ScopedPath, Access)> {
                self.request.targets()
            }

            fn sent(&self) -> Vec<String> {
                self.request.sent()
            }

            fn judge(&self, settings: &PolicySettings, caller: &Caller) -> Result<Judgement, Denial> {
                self.request.judge(settings, caller)
            }

            fn time(&self) -> Allowance {
                self.request.time()
            }
        }

        impl Permit<$action> {
            /// For the network, which knows requests only.
            pub fn into_request(self) -> Permit<FetchUrl> {
                self.map(|action| action.request)
            }
        }
    )* };
}

requests! {
    ReadPage FetchWeb Page;
    SendNotification SendNotifications News;
}
