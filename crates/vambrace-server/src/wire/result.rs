//! A `ToolResult`: as a value, and as text straight from the reply, because it may be megabytes and every call has one.

use std::fmt::Write as _;

use serde_json::{Value, json};
use vambrace_runtime::{Reply, ReplyError};
use vambrace_types::{Metadata, Status, Tree, write_json_text};

use super::value_of;

pub(crate) struct ToolResult<'r> {
    status: &'static str,
    data: &'r Tree,
    error: Option<ErrorShape<'r>>,
    metadata: &'r Metadata,
}

struct ErrorShape<'r> {
    code: &'static str,
    message: &'r str,
    suggestion: &'r str,
    details: Option<&'r Tree>,
}

impl<'r> ToolResult<'r> {
    pub(crate) fn of(reply: &'r Reply) -> ToolResult<'r> {
        ToolResult {
            status: match reply.status() {
                Status::Success => "success",
                Status::Error => "error",
            },
            data: reply.data().as_tree(),
            error: reply.error().map(ErrorShape::of),
            metadata: reply.metadata(),
        }
    }

    pub(super) fn value(&self) -> Value {
        json!({
            "status": self.status,
            "data": value_of(self.data),
            "error": self.error.as_ref().map(ErrorShape::value),
            "metadata": metadata(self.metadata),
        })
    }

    /// The same as JSON text.
    pub(crate) fn write(&self, out: &mut String) {
        // Writing to a string cannot fail. Our own words need no escape.
        let _ = write!(out, r#"{{"status":"{}","data":"#, self.status);
        self.data.write_json(out);
        out.push_str(r#","error":"#);
        match &self.error {
            Some(error) => error.write(out),
            None => out.push_str("null"),
        }
        out.push_str(r#","metadata":"#);
        write_metadata(self.metadata, out);
        out.push('}');
    }
}

impl<'r> ErrorShape<'r> {
    fn of(error: &'r ReplyError) -> ErrorShape<'r> {
        ErrorShape {
            code: error.code.as_str(),
            message: error.message.as_str(),
            suggestion: error.suggestion.as_str(),
            details: error.details.as_ref().map(|details| details.as_tree()),
        }
    }

    fn value(&self) -> Value {
        let ErrorShape { code, message, suggestion, details } = self;
        let mut value = json!({"code": code, "message": message, "suggestion": suggestion});
        if let (Some(details), Value::Object(error)) = (details, &mut value) {
            error.insert("details".to_owned(), value_of(details));
        }
        value
    }

    fn write(&self, out: &mut String) {
        let _ = write!(out, r#"{{"code":"{}","message":"#, self.code);
        write_json_text(self.message, out);
        out.push_str(r#","suggestion":"#);
        write_json_text(self.suggestion, out);
        if let Some(details) = self.details {
            out.push_str(r#","details":"#);
            details.write_json(out);
        }
        out.push('}');
    }
}

pub(super) fn metadata(metadata: &Metadata) -> Value {
    let mut value = json!({
        "call_id": metadata.call_id.as_str(),
        "duration_ms": metadata.duration_ms,
        "security_checks": metadata.security_checks.as_str(),
        "dry_run": metadata.dry_run,
        "truncated": metadata.truncated,
        "redactions": metadata.redactions,
        "enforcement": metadata.enforcement.as_str(),
        "checkpoint": metadata.checkpoint,
    });
    if let (false, Value::Object(shape)) = (metadata.warnings.is_empty(), &mut value) {
        shape.insert("warnings".to_owned(), json!(metadata.warnings));
    }
    value
}

fn write_metadata(metadata: &Metadata, out: &mut String) {
    out.push_str(r#"{"call_id":"#);
    write_json_text(metadata.call_id.as_str(), out);
    let _ = write!(
        out,
        r#","duration_ms":{},"security_checks":"{}","dry_run":{},"truncated":{},"redactions":{},"enforcement":"{}","checkpoint":"#,
        metadata.duration_ms,
        metadata.security_checks.as_str(),
        metadata.dry_run,
        metadata.truncated,
        metadata.redactions,
        metadata.enforcement.as_str(),
    );
    match &metadata.checkpoint {
        Some(checkpoint) => write_json_text(checkpoint, out),
        None => out.push_str("null"),
    }
    for (place, warning) in metadata.warnings.iter().enumerate() {
        out.push_str(if place == 0 { r#","warnings":["# } else { "," });
        write_json_text(warning, out);
    }
    out.push_str(if metadata.warnings.is_empty() { "}" } else { "]}" });
}

#[cfg(test)]
mod tests {
    use vambrace_types::{CallId, Enforcement, SecurityChecks, Timestamp};

    use super::*;

    fn metadata_with(checkpoint: Option<&str>, warnings: &[&str]) -> Metadata {
        Metadata {
            call_id: CallId::new(Timestamp::from_millis(1), [7; 10]),
            duration_ms: 12,
            security_checks: SecurityChecks::Passed,
            dry_run: false,
            truncated: true,
            redactions: 3,
            enforcement: Enforcement::Full,
            checkpoint: checkpoint.map(str::to_owned),
            warnings: warnings.iter().map(|warning| (*warning).to_owned()).collect(),
        }
    }

    #[track_caller]
    fn check(result: &ToolResult<'_>) {
        let mut text = String::new();
        result.write(&mut text);
        assert_eq!(vambrace_json::own_line::<Value>(text.as_bytes()).unwrap(), result.value(), "{text}");
    }

    #[test]
    fn the_text_is_that_of_the_value() {
        let texts = ["", "a", "\"\\/\u{8}\u{c}\n\r\t\u{1f}\u{7f}", "ä\u{2028}😀"];
        let mut items: Vec<Tree> = texts.into_iter().map(Tree::text).collect();
        items.extend([0.0, -0.0, 1.5, 1e300, f64::NAN, f64::INFINITY].map(Tree::Float));
        items.extend([0, -1, i64::MIN, i64::MAX].map(Tree::Int));
        items.extend([Tree::Null, Tree::Bool(true), Tree::List(Vec::new()), Tree::Map(Vec::new())]);
        let tree = Tree::map([("a\"b", Tree::List(items.clone())), ("c", Tree::map([("d", Tree::Null)]))]);
        items.push(tree);
        let plain = metadata_with(None, &[]);
        for data in &items {
            check(&ToolResult { status: "success", data, error: None, metadata: &plain });
        }
        for metadata in [metadata_with(Some("c\"1"), &["a\n"]), metadata_with(None, &["a", "\"", ""]), plain]
        {
            for details in items.iter().map(Some).chain([None]) {
                let (message, suggestion) = ("No\t`\"`.", "");
                let error = Some(ErrorShape { code: "FileNotFound", message, suggestion, details });
                check(&ToolResult { status: "error", data: &Tree::Null, error, metadata: &metadata });
            }
        }
    }
}
