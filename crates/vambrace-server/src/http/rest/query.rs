//! What stands behind the `?`. An unknown name is a mistake that must not pass for a wish that was granted.

use axum::extract::Query;
use http::Uri;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::body::invalid;
use crate::http::Problem;

pub(in crate::http) fn read<T: DeserializeOwned>(uri: &Uri) -> Result<T, Problem> {
    match Query::try_from_uri(uri) {
        Ok(Query(wish)) => Ok(wish),
        Err(rejection) => {
            let reason = rejection.body_text();
            let reason = reason.rsplit_once(": ").map_or(reason.as_str(), |(_, reason)| reason);
            Err(invalid(&format!("The query does not fit: {reason}.")))
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

pub(in crate::http) fn none(uri: &Uri) -> Result<(), Problem> {
    read::<Nothing>(uri).map(|Nothing {}| ())
}
