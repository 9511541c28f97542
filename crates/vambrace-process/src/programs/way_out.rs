//! The way out of one job's cage: who serves it, and what its programs are told about it.

use super::Programs;
use super::keep::Kept;
use crate::environment::{Authorities, Reach};
use crate::network::{Network, certificates};
use crate::spec::Mount;
use crate::{Layer, ProgramError};

/// Served while this lives.
pub(super) struct WayOut {
    pub(super) reach: Reach,
    _serving: Option<Box<dyn Send>>,
}

impl Programs {
    /// What a cage has to show so that programs trust the proxy. None: the job has no way out, or there is no cage.
    pub(super) fn trusted_by(&self, network: Option<&dyn Network>) -> Option<Vec<Mount>> {
        let network = network.filter(|_| self.is_caging())?;
        Some(network.certificate().map(|own| certificates(&own)).unwrap_or_default())
    }

    /// Has the socket served that the cage's first process has made.
    ///
    /// INVARIANT: no program of the job has been started yet.
    pub(super) fn open_way_out(
        &self,
        kept: &mut Kept,
        network: Option<&dyn Network>,
    ) -> Result<WayOut, ProgramError> {
        let Some(network) = network else { return Ok(WayOut { reach: Reach::Nothing, _serving: None }) };
        let broken = |why: String| ProgramError::Broken { why: format!("the way out of the cage: {why}") };
        let Some(listener) = kept.cell.take_way_out() else {
            // Where programs have the machine's own network there is nothing to serve.
            if kept.layers.has(Layer::NetworkNamespace) {
                return Err(broken("its socket is missing".to_owned()));
            }
            return Ok(WayOut { reach: Reach::Machine, _serving: None });
        };
        let serving = network.serve(listener).map_err(|error| broken(error.to_string()))?;
        // Without a private root nothing is shown that the machine does not have.
        let authorities = match (network.certificate(), kept.layers.has(Layer::PrivateRoot)) {
            (Some(_), true) => Authorities::AndOurs,
            (Some(_), false) | (None, _) => Authorities::System,
        };
        let reach = Reach::Proxy { authorities, further: network.variables() };
        Ok(WayOut { reach, _serving: Some(serving) })
    }
}
