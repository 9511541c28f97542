//! expect: E0277
//! Only the redactor makes clean text.

use vambrace_redact::RedactedText;

pub fn launder(text: String) -> RedactedText {
    text.into()
}

fn main() {}
