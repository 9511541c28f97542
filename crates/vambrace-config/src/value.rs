//! The small checked values that settings are made of. They know their own spelling and nothing about sections.
//!
//! INVARIANT: serializing any of these is safe to show. A secret comes out as a mask, an address without its password.

use std::borrow::Cow;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use vambrace_types::Secret;

/// What stands in place of a secret wherever settings are shown.
pub const MASK: &str = "[secret]";

/// A text that must not be shown: a token, a key, a password.
#[derive(Debug, Clone)]
pub struct SecretText(Secret<String>);

impl SecretText {
    pub fn new(text: String) -> SecretText {
        SecretText(Secret::new(text))
    }

    pub fn secret(&self) -> &Secret<String> {
        &self.0
    }
}

impl Serialize for SecretText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(MASK)
    }
}

impl<'de> Deserialize<'de> for SecretText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<SecretText, D::Error> {
        String::deserialize(deserializer).map(SecretText::new)
    }
}

impl JsonSchema for SecretText {
    fn schema_name() -> Cow<'static, str> {
        "SecretText".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "format": "secret", "writeOnly": true})
    }
}

/// Reads an optional secret; the empty text means none, as specification 001 writes it.
pub(crate) fn secret_or_none<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<SecretText>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?;
    Ok(text.filter(|text| !text.is_empty()).map(SecretText::new))
}

/// An address that may carry a user name and a password, such as `postgres://user:password@host/name`.
#[derive(Debug, Clone)]
pub struct ConnectionUrl(Secret<String>);

impl ConnectionUrl {
    pub fn new(text: String) -> ConnectionUrl {
        ConnectionUrl(Secret::new(text))
    }

    pub fn secret(&self) -> &Secret<String> {
        &self.0
    }

    /// The address without what stands before `@` and after `?`.
    pub fn masked(&self) -> String {
        let text = self.0.expose();
        let (plain, query) = match text.split_once('?') {
            Some((plain, _)) => (plain, "?…"),
            None => (text.as_str(), ""),
        };
        match (plain.split_once("://"), plain.rsplit_once('@')) {
            (Some((scheme, _)), Some((_, host))) => format!("{scheme}://{MASK}@{host}{query}"),
            (None, Some((_, host))) => format!("{MASK}@{host}{query}"),
            (Some(_) | None, None) => format!("{plain}{query}"),
        }
    }
}

impl Serialize for ConnectionUrl {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.masked())
    }
}

impl<'de> Deserialize<'de> for ConnectionUrl {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<ConnectionUrl, D::Error> {
        String::deserialize(deserializer).map(ConnectionUrl::new)
    }
}

impl JsonSchema for ConnectionUrl {
    fn schema_name() -> Cow<'static, str> {
        "ConnectionUrl".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "format": "secret"})
    }
}

/// A span of time: a number of seconds, or text with a unit (`500ms`, `30s`, `5m`, `24h`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Period(Duration);

impl Period {
    /// Longer waits are mistakes, not settings.
    pub const LONGEST: Duration = Duration::from_secs(366 * 24 * 60 * 60);

    pub const fn seconds(seconds: u64) -> Period {
        Period(Duration::from_secs(seconds))
    }

    pub const fn milliseconds(milliseconds: u64) -> Period {
        Period(Duration::from_millis(milliseconds))
    }

    pub fn duration(self) -> Duration {
        self.0
    }

    /// Nothing means "for ever" by being zero: a period is longer than nothing and at most a year.
    pub fn from_seconds(seconds: f64) -> Option<Period> {
        let duration = Duration::try_from_secs_f64(seconds).ok()?;
        (duration > Duration::ZERO && duration <= Self::LONGEST).then_some(Period(duration))
    }

    pub fn parse(text: &str) -> Option<Period> {
        let text = text.trim();
        let unit_at = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let (number, unit) = text.split_at_checked(unit_at)?;
        let number: f64 = number.parse().ok()?;
        let factor = match unit.trim() {
            "ms" => 0.001,
            "" | "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            "d" => 86_400.0,
            _ => return None,
        };
        Period::from_seconds(number * factor)
    }
}

impl Serialize for Period {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.subsec_nanos() {
            0 => serializer.serialize_u64(self.0.as_secs()),
            _ => serializer.serialize_str(&format!("{}ms", self.0.as_millis())),
        }
    }
}

impl<'de> Deserialize<'de> for Period {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Period, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Spelling {
            Seconds(f64),
            Text(String),
        }
        let period = match Spelling::deserialize(deserializer)? {
            Spelling::Seconds(seconds) => Period::from_seconds(seconds),
            Spelling::Text(text) => Period::parse(&text),
        };
        period.ok_or_else(|| D::Error::custom("not a period of time"))
    }
}

impl JsonSchema for Period {
    fn schema_name() -> Cow<'static, str> {
        "Period".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": ["number", "string"],
            "format": "period",
            "exclusiveMinimum": 0,
            "pattern": "^[0-9]+(\\.[0-9]+)?\\s*(ms|s|m|h|d)?$",
        })
    }
}

/// Makes a text type whose form is checked while the file is read, so that a mistake is reported with its line.
macro_rules! checked_text {
    ($(#[$meta:meta])* $name:ident, $format:literal) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub String);

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({"type": "string", "format": $format})
            }
        }
    };
}

checked_text! {
    /// An address or an address range: `203.0.113.50`, `10.0.0.0/8`, `fd00::/8`.
    Cidr, "cidr"
}
checked_text! {
    /// An address with a port: `127.0.0.1:5353`, `[::1]:53`.
    SocketAddress, "socket-address"
}
checked_text! {
    /// A SHA-256 digest: 64 hexadecimal digits.
    Sha256Hex, "sha256"
}

impl Cidr {
    pub fn is_valid(text: &str) -> bool {
        let (address, length) = match text.split_once('/') {
            Some((address, length)) => (address, Some(length)),
            None => (text, None),
        };
        let widest = match address.parse::<std::net::IpAddr>() {
            Ok(std::net::IpAddr::V4(_)) => 32,
            Ok(std::net::IpAddr::V6(_)) => 128,
            Err(_) => return false,
        };
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        length
            .is_none_or(|length| digits(length) && length.parse::<u8>().is_ok_and(|length| length <= widest))
    }
}

impl SocketAddress {
    pub fn is_valid(text: &str) -> bool {
        text.parse::<std::net::SocketAddr>().is_ok()
    }
}

impl Sha256Hex {
    pub fn is_valid(text: &str) -> bool {
        text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_have_units_and_are_never_zero() {
        #[track_caller]
        fn check(text: &str, expected_ms: Option<u128>) {
            assert_eq!(
                Period::parse(text).map(|period| period.duration().as_millis()),
                expected_ms,
                "{text}"
            );
        }
        check("30", Some(30_000));
        check("500ms", Some(500));
        check("1.5s", Some(1_500));
        check("5m", Some(300_000));
        check("24h", Some(86_400_000));
        check("366d", Some(31_622_400_000));
        check("367d", None);
        check("0", None);
        check("-5", None);
        check("", None);
        check("soon", None);
        check("1e9", None);
        check("5 parsecs", None);
    }

    #[test]
    fn shown_addresses_carry_no_password() {
        #[track_caller]
        fn check(text: &str, expected: &str) {
            assert_eq!(ConnectionUrl::new(text.to_owned()).masked(), expected);
        }
        check("embedded", "embedded");
        check("redis://cache:6379", "redis://cache:6379");
        check("postgres://me:p@ss@db/x?sslmode=off", "postgres://[secret]@db/x?…");
        check("me:pw@db", "[secret]@db");
    }

    #[test]
    fn address_ranges() {
        for good in ["10.0.0.0/8", "203.0.113.50", "fd00::/8", "::1", "0.0.0.0/0"] {
            assert!(Cidr::is_valid(good), "{good}");
        }
        for bad in ["10.0.0.0/33", "10.0.0/8", "10.0.0.0/", "10.0.0.0/+8", "host", "", "::/129"] {
            assert!(!Cidr::is_valid(bad), "{bad}");
        }
    }
}
