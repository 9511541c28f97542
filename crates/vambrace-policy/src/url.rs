//! Which addresses may be reached. Pure: a name is judged by its form, what it resolved to is judged when
//! somebody has asked.
//!
//! Order: parse, the operator's lists, metadata, the form of the name, an address in place of a name, the port,
//! then every address that a name has.

mod address;
mod binding;
mod explain;
mod grant;
mod header;
mod host;
mod list;
mod port;
mod refusal;
mod rules;
mod web_url;

pub use address::{AddressClass, classify, is_private_ip};
pub use binding::{Binding, BindingError, Place as BoundPlace};
pub use explain::UrlStep;
pub use grant::{Grants, ProgramGrant};
pub use header::{is_method, is_ours, is_token};
pub(crate) use header::{is_refused_from_models, is_value};
pub use list::{AllowEntry, HostPattern, HostPatternError};
pub use refusal::{Attempt, Listing, UrlRefusal, Voice};
pub use rules::{HostRules, OnDnsFailure, Ranges, Terms, UrlPolicy, UrlSettings};
pub(crate) use web_url::undone;
pub use web_url::{Host, Scheme, WebUrl};
