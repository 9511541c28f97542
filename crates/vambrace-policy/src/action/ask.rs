//! Questions to several agents at once. Each is a request of its own and decided again when it is sent.

use std::time::Duration;

use vambrace_types::{Caller, ScopedPath, ToolError};

use super::{Access, Action, Allowance, FetchUrl, sealed};
use crate::{Capability, Denial, Judgement, Kinds, PolicySettings};

#[derive(Debug, Clone)]
pub struct AskAgents {
    pub asked: Vec<Asked>,
}

/// One question.
#[derive(Debug, Clone)]
pub struct Asked {
    pub agent: String,
    /// The error when this one cannot be asked; the others can.
    pub request: Result<FetchUrl, ToolError>,
}

impl AskAgents {
    fn requests(&self) -> impl Iterator<Item = &FetchUrl> {
        self.asked.iter().filter_map(|asked| asked.request.as_ref().ok())
    }
}

impl sealed::Sealed for AskAgents {}
impl Action for AskAgents {
    const CAPABILITY: Capability = Capability::FetchWeb;
    const KINDS: Kinds = Kinds::SENDS;

    fn targets(&self) -> Vec<(&ScopedPath, Access)> {
        Vec::new()
    }

    fn sent(&self) -> Vec<String> {
        self.requests().flat_map(FetchUrl::sent).collect()
    }

    /// One that may not be sent refuses them all: the operator's mistake is to be seen.
    fn judge(&self, settings: &PolicySettings, caller: &Caller) -> Result<Judgement, Denial> {
        let judged = self.requests().map(|request| request.judge(settings, caller));
        let judged = judged.collect::<Result<Vec<_>, _>>()?;
        Ok(judged.into_iter().next().unwrap_or_default())
    }

    /// They are sent at the same time.
    fn time(&self) -> Allowance {
        let times = self.requests().filter_map(|request| request.time);
        times.max().map_or(Allowance::Usual, |time: Duration| Allowance::Own(time))
    }
}
