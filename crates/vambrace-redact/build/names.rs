//! The Rust behind the names that files of rules use: each name, and the item of the crate that it
//! stands for.

use super::class::{self, ByteClass};

/// What most rules of a kind have in common, up to the fields that they name.
pub(crate) const KINDS: &[(&str, &str)] = &[
    ("token", "Rule::TOKEN"),
    ("prefixed", "form::PREFIXED"),
    ("named", "Rule::NAMED"),
    ("named-token", "form::NAMED_TOKEN"),
    ("beside-hex", "form::BESIDE_HEX"),
    ("beside-mixed", "form::BESIDE_MIXED"),
];

/// Sets of bytes, for `follow`, `lead run`, `left` and `right`.
pub(crate) const CLASSES: &[(&str, &str, ByteClass)] = &[
    ("any", "class::any", class::any),
    ("none", "class::none", class::none),
    ("word", "class::word", class::word),
    ("token", "class::token", class::token),
    ("base64", "class::base64", class::base64),
    ("digit", "class::digit", class::digit),
    ("hex", "class::hex", class::hex),
    ("lower-hex", "class::lower_hex", class::lower_hex),
    ("alphanumeric", "class::alphanumeric", class::alphanumeric),
    ("alphabetic", "class::alphabetic", class::alphabetic),
    ("uppercase", "(|byte: u8| byte.is_ascii_uppercase())", |byte| byte.is_ascii_uppercase()),
    ("lowercase", "(|byte: u8| byte.is_ascii_lowercase())", |byte| byte.is_ascii_lowercase()),
    ("space", "(|byte: u8| byte.is_ascii_whitespace())", |byte| byte.is_ascii_whitespace()),
    ("user-name", "class::user_name", class::user_name),
];

/// Looks at the secret alone. Several in one line must all be content.
pub(crate) const CHECKS: &[(&str, &str)] = &[
    ("anything", "form::anything"),
    ("authorization", "form::authorization"),
    ("cased-or-odd", "form::cased_or_odd"),
    ("community", "form::community"),
    ("device-word", "form::device_word"),
    ("encoded-jwt", "form::encoded_jwt"),
    ("encoded-pair", "check::encoded_pair"),
    ("few-tildes", "form::few_tildes"),
    ("github-checksum", "structure::github_checksum"),
    ("has-digit", "form::has_digit"),
    ("header-value", "form::header_value"),
    ("jumbled", "check::jumbled"),
    ("jumbled-letters", "form::jumbled_letters"),
    ("long-lived", "form::long_lived"),
    ("luhn", "check::luhn"),
    ("many-kinds", "form::many_kinds"),
    ("mixed", "check::mixed"),
    ("mixed-or-cased", "form::mixed_or_cased"),
    ("model-key", "form::model_key"),
    ("not-code", "form::not_code"),
    ("not-dummy", "check::not_dummy"),
    ("not-hex", "form::not_hex"),
    ("odd", "check::odd"),
    ("paired", "form::paired"),
    ("password", "check::is_password"),
    ("plausible", "check::plausible"),
    ("printable", "form::printable"),
    ("private-key-header", "form::private_key_header"),
    ("random", "structure::random"),
    ("scattered", "form::scattered"),
    ("token-header", "form::long_token_header"),
    ("url-password", "form::url_password"),
    ("varied", "check::varied"),
    ("vercel-checksum", "structure::vercel_checksum"),
    ("word-list", "form::word_list"),
];

/// Small parsers, for what no expression tells.
pub(crate) const PARSERS: &[(&str, &str)] = &[
    ("assignment", "Pattern::Assignment"),
    ("command-password", "Pattern::Parsed(Sight::Line, command::password)"),
    ("cookie", "Pattern::Parsed(Sight::Line, cookie::find)"),
    ("curl-user", "Pattern::Parsed(Sight::Line, command::curl_user)"),
    ("jwk", "Pattern::Parsed(Sight::Lines, jwk::find)"),
    ("kubernetes", "Pattern::Parsed(Sight::Lines, kubernetes::find)"),
    ("named-entry", "Pattern::Parsed(Sight::Line, block::named)"),
    ("netrc", "Pattern::Parsed(Sight::Line, netrc::find)"),
    ("private-key", "Pattern::PrivateKey"),
    ("putty", "Pattern::Parsed(Sight::Lines, pem::putty)"),
    ("unattended", "Pattern::Parsed(Sight::Lines, unattended::find)"),
    ("yaml-block", "Pattern::Parsed(Sight::Lines, block::find)"),
];

/// A look at the keyword's line before a parser waits for the lines behind it.
pub(crate) const GLANCES: &[(&str, &str)] = &[("jwk", "jwk::glance"), ("kubernetes", "kubernetes::glance")];
