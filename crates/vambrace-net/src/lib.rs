//! Door two: connections to checked addresses, and nothing else.
//!
//! A name is resolved once, every address is judged, and only judged ones are dialled; what answers must be what
//! was dialled. No proxy of the system is used, no redirect is followed here, and no body is larger than its limit.

mod body;
mod checked;
mod client;
mod connect;
mod credential;
mod error;
mod html;
mod operator;
mod pool;
mod proxy;
mod redirect;
mod request;
mod resolve;
mod stream;
mod text;
mod tls;

pub use body::{Coding, Decoded, Decoder, Stop};
pub use checked::CheckedAddr;
pub use client::{BODY_MARGIN, Response, Web, WebSettings};
pub use credential::{Credential, Credentials};
pub use error::{Missing, NetError};
pub use html::{readable, visible};
pub use proxy::{Contact, Egress, Outcome, Serving};
pub use redirect::{MOST_HOPS, Next, Redirects, next};
pub use text::{Braces, decode, safe_body_string};
pub use tls::{LocalAuthority, TlsError};
