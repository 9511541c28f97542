//! From files, environment and flags to one checked configuration, with the origin of every value.
//!
//! It knows the outside's spellings: file formats, both letter cases, the five specifications' keys. It reads only the
//! files that its caller points at, takes the environment as an argument, decides nothing and writes nothing.

mod api_keys;
mod baseline;
mod casing;
mod check;
mod consistency;
mod env_ref;
mod layer;
mod load;
mod node;
mod problem;
mod profile;
pub mod resolve;
mod schema;
pub mod section;
mod shape;
mod show;
mod source;
mod starter;
mod strength;
mod tighten;
mod value;
mod weaker;

pub use baseline::{Accepted, BaselineFile};
pub use layer::{Origin, Origins};
pub use load::{Loaded, Overrides, Sources, Warning, load, user_folder};
pub use node::Place;
pub use problem::{ConfigError, ConfigErrors, Problem};
pub use schema::schema;
pub use section::{Config, ProfileName};
pub use show::{ShownValue, show};
pub use starter::init_text;
pub use value::{Cidr, ConnectionUrl, MASK, Period, SecretText, Sha256Hex, SocketAddress};
pub use weaker::Weaker;
