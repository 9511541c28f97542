//! News of a task for an address that its caller named. A request, and a kind of its own: who may fetch is not thereby
//! allowed to have results sent away, and rules can name it.

use vambrace_types::{Caller, ScopedPath};

use super::{Access, Action, Allowance, FetchUrl, sealed};
use crate::{Capability, Denial, Judgement, Permit, PolicySettings};

#[derive(Debug, Clone)]
pub struct SendNotification {
    pub request: FetchUrl,
}

impl sealed::Sealed for SendNotification {}
impl Action for SendNotification {
    const CAPABILITY: Capability = Capability::SendNotifications;

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

impl Permit<SendNotification> {
    /// For the network door, which knows requests only.
    pub fn into_request(self) -> Permit<FetchUrl> {
        self.map(|notification| notification.request)
    }
}
