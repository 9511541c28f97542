//! How many connections one address holds. THREAT: P12, one of them must not keep out all the others.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use ipnet::IpNet;
use vambrace_auth::{AddressKey, is_trusted_proxy};

/// LIMIT: of one address, half of all. There are never more addresses than connections.
#[derive(Debug, Clone)]
pub(super) struct Places {
    most: usize,
    held: Arc<Mutex<HashMap<AddressKey, usize>>>,
}

/// One connection, until it is dropped. `None`: of a proxy, behind which there are many.
#[derive(Debug)]
pub(super) struct Place(Option<(Places, AddressKey)>);

impl Places {
    pub(super) fn new(max_connections: usize) -> Places {
        Places { most: max_connections.div_ceil(2), held: Arc::default() }
    }

    /// `None`: the address has as many as it may.
    pub(super) fn take(&self, peer: IpAddr, proxies: &[IpNet]) -> Option<Place> {
        if is_trusted_proxy(peer, proxies) {
            return Some(Place(None));
        }
        let key = AddressKey::of(peer);
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let n_held = held.entry(key).or_insert(0);
        if *n_held >= self.most {
            return None;
        }
        *n_held += 1;
        drop(held);
        Some(Place(Some((self.clone(), key))))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let Some((places, key)) = self.0.take() else { return };
        let mut held = places.held.lock().unwrap_or_else(PoisonError::into_inner);
        let is_last = match held.get_mut(&key) {
            Some(n_held) => {
                *n_held = n_held.saturating_sub(1);
                *n_held == 0
            }
            None => false,
        };
        if is_last {
            held.remove(&key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_address_holds_half_of_all_and_a_proxy_holds_more() {
        let address = |last| IpAddr::from([192, 0, 2, last]);
        for (max, most) in [(0, 0), (1, 1), (2, 1), (3, 2), (10, 5)] {
            let places = Places::new(max);
            let taken: Vec<Place> = (0..max).filter_map(|_| places.take(address(1), &[])).collect();
            assert_eq!(taken.len(), most, "{max}");
            if most > 0 {
                assert!(places.take(address(2), &[]).is_some(), "another address");
                drop(taken);
                assert!(places.take(address(1), &[]).is_some(), "given back");
            }
            assert!(places.held.lock().unwrap().values().all(|n_held| *n_held == 0), "{max}");
            let proxies = [IpNet::from(address(1))];
            let taken: Vec<Place> = (0..max).filter_map(|_| places.take(address(1), &proxies)).collect();
            assert_eq!(taken.len(), max);
        }
    }
}
