//! A set of bytes, as rules write it: names of classes and single signs, a byte of any of them;
//! after `not`, of none.

use super::class::ByteClass;
use super::names::CLASSES;

pub(crate) struct Class {
    not: bool,
    named: Vec<(&'static str, ByteClass)>,
    signs: Vec<u8>,
}

impl Class {
    pub(crate) fn read(text: &str) -> Result<Class, String> {
        let (not, words) = match text.strip_prefix("not ") {
            Some(words) => (true, words),
            None => (false, text),
        };
        let mut class = Class { not, named: Vec::new(), signs: Vec::new() };
        for word in words.split(' ') {
            match (word.as_bytes(), CLASSES.iter().find(|(name, ..)| *name == word)) {
                ([sign], _) => class.signs.push(*sign),
                (_, Some((_, path, holds))) => class.named.push((path, *holds)),
                (_, None) => {
                    let known: Vec<&str> = CLASSES.iter().map(|(name, ..)| *name).collect();
                    return Err(format!(
                        "no class of bytes is called `{word}`; there are {}",
                        known.join(", ")
                    ));
                }
            }
        }
        Ok(class)
    }

    pub(crate) fn holds(&self, byte: u8) -> bool {
        let any = self.signs.contains(&byte) || self.named.iter().any(|(_, holds)| holds(byte));
        any != self.not
    }

    /// The same as Rust.
    pub(crate) fn code(&self) -> String {
        if let ([(path, _)], [], false) = (self.named.as_slice(), self.signs.as_slice(), self.not) {
            return (*path).to_owned();
        }
        let mut any: Vec<String> = self.named.iter().map(|(path, _)| format!("{path}(byte)")).collect();
        if !self.signs.is_empty() {
            let signs: Vec<String> =
                self.signs.iter().map(|sign| format!("b{:?}", char::from(*sign))).collect();
            any.push(format!("matches!(byte, {})", signs.join(" | ")));
        }
        match (any.as_slice(), self.not) {
            ([one], true) => format!("|byte| !{one}"),
            (any, true) => format!("|byte| !({})", any.join(" || ")),
            (any, false) => format!("|byte| {}", any.join(" || ")),
        }
    }
}
