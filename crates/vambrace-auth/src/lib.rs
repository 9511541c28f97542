//! Who is calling, from where, and how often. Pure: the front end hands in what a request shows, the keys and
//! the time, and gets an identity or a refusal. Nothing here opens a socket, reads a clock or makes a secret.

mod api_key;
mod asserted;
mod authenticator;
mod claims;
mod client_address;
mod contexts;
mod failures;
mod hosts;
mod jwt;
mod key_set;
mod rate_limit;
mod refusal;
mod slack;
mod task;
mod token;
mod verified;

pub use api_key::{ApiKey, KeyDigest};
pub use asserted::{IgnoredHeader, WhyIgnored};
pub use authenticator::{
    Attempt, AuthSettings, Authenticator, Credential, Identity, Mode, Offered, is_reserved_caller,
};
pub use client_address::{AddressKey, ForwardedFor, client_address, is_trusted_proxy};
pub use contexts::{ContextMatch, ContextRow, ContextRows};
pub use failures::FailureLimiter;
pub use hosts::{is_host_allowed, is_origin_allowed};
pub use jwt::{JwtSettings, JwtTrust, KeySource, Operators};
pub use key_set::{KeySet, KeySetError, SignatureAlgorithm};
pub use rate_limit::{Draw, Moment, Rate, RateLimiter};
pub use refusal::Refusal;
pub use slack::SlackKey;
pub use task::{LONGEST_TASK, Task, TaskKey};
pub use token::{Weakness, api_key, internal_token, is_caller_name, weakness};
