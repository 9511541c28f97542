//! The proxy of door two as door three sees it: what stands behind the socket that a cage is given.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use vambrace_net::{Contact, Egress, Web};
use vambrace_policy::Policy;
use vambrace_policy::url::Grants;
use vambrace_process::Network;

pub struct WayOut(Egress);

impl WayOut {
    pub(crate) fn new(web: Arc<Web>, granted: Grants) -> WayOut {
        WayOut(Egress::new(web, granted))
    }

    /// One that leads nowhere, for the attacks on it.
    pub fn to_nowhere(web: Arc<Web>, policy: &Policy) -> WayOut {
        WayOut::new(web, policy.grants_nobody())
    }

    pub(crate) fn contacts(&self) -> Vec<Contact> {
        self.0.contacts()
    }
}

impl Network for WayOut {
    fn serve(&self, listener: OwnedFd) -> io::Result<Box<dyn Send>> {
        Ok(Box::new(self.0.serve(listener)?))
    }

    fn certificate(&self) -> Option<String> {
        self.0.certificate()
    }

    fn variables(&self) -> Vec<(String, String)> {
        self.0.placeholders()
    }
}
