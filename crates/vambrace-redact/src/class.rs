//! Sets of bytes. The build script has them too, because the index of the rules depends on them.

pub(crate) type ByteClass = fn(u8) -> bool;

pub(crate) fn any(_: u8) -> bool {
    true
}

pub(crate) fn none(_: u8) -> bool {
    false
}

pub(crate) fn word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

pub(crate) fn token(byte: u8) -> bool {
    word(byte) || byte == b'-'
}

pub(crate) fn base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

pub(crate) fn digit(byte: u8) -> bool {
    byte.is_ascii_digit()
}

pub(crate) fn hex(byte: u8) -> bool {
    byte.is_ascii_hexdigit()
}

pub(crate) fn lower_hex(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}

pub(crate) fn alphanumeric(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

pub(crate) fn alphabetic(byte: u8) -> bool {
    byte.is_ascii_alphabetic()
}

/// What a password of a data source name has before it.
pub(crate) fn user_name(byte: u8) -> bool {
    byte.is_ascii_graphic() && !b"\"'`()<>@/,;=".contains(&byte)
}
