//! A `ToolResult` as it is written, straight from the reply: it may be megabytes, and every call has one.

use serde::ser::{Serialize, Serializer};
use vambrace_runtime::{Reply, ReplyError};
use vambrace_types::{Metadata, Status, Tree};

#[derive(serde::Serialize)]
pub(crate) struct ToolResult<'r> {
    status: &'static str,
    data: Twin<'r>,
    error: Option<ErrorShape<'r>>,
    metadata: MetadataShape<'r>,
}

#[derive(serde::Serialize)]
struct ErrorShape<'r> {
    code: &'static str,
    message: &'r str,
    suggestion: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<Twin<'r>>,
}

#[derive(serde::Serialize)]
pub(super) struct MetadataShape<'r> {
    call_id: &'r str,
    duration_ms: u64,
    security_checks: &'static str,
    dry_run: bool,
    truncated: bool,
    redactions: usize,
    enforcement: &'static str,
    checkpoint: Option<&'r str>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    warnings: &'r [String],
}

/// The serializable twin of a tree.
pub(super) struct Twin<'r>(pub(super) &'r Tree);

impl<'r> ToolResult<'r> {
    pub(crate) fn of(reply: &'r Reply) -> ToolResult<'r> {
        ToolResult {
            status: match reply.status() {
                Status::Success => "success",
                Status::Error => "error",
            },
            data: Twin(reply.data().as_tree()),
            error: reply.error().map(ErrorShape::of),
            metadata: MetadataShape::of(reply.metadata()),
        }
    }
}

impl<'r> ErrorShape<'r> {
    fn of(error: &'r ReplyError) -> ErrorShape<'r> {
        ErrorShape {
            code: error.code.as_str(),
            message: error.message.as_str(),
            suggestion: error.suggestion.as_str(),
            details: error.details.as_ref().map(|details| Twin(details.as_tree())),
        }
    }
}

impl<'r> MetadataShape<'r> {
    pub(super) fn of(metadata: &'r Metadata) -> MetadataShape<'r> {
        MetadataShape {
            call_id: metadata.call_id.as_str(),
            duration_ms: metadata.duration_ms,
            security_checks: metadata.security_checks.as_str(),
            dry_run: metadata.dry_run,
            truncated: metadata.truncated,
            redactions: metadata.redactions,
            enforcement: metadata.enforcement.as_str(),
            checkpoint: metadata.checkpoint.as_deref(),
            warnings: &metadata.warnings,
        }
    }
}

impl Serialize for Twin<'_> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Tree::Null => out.serialize_unit(),
            Tree::Bool(value) => out.serialize_bool(*value),
            Tree::Int(value) => out.serialize_i64(*value),
            // JSON has no word for what is no number.
            Tree::Float(value) if value.is_finite() => out.serialize_f64(*value),
            Tree::Float(_) => out.serialize_unit(),
            Tree::Text(text) => out.serialize_str(text),
            Tree::List(items) => out.collect_seq(items.iter().map(Twin)),
            Tree::Map(entries) => out.collect_map(entries.iter().map(|(key, value)| (key, Twin(value)))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::value_of;

    #[test]
    fn a_tree_is_written_as_its_value_is() {
        let texts = ["", "a", "\"\\/\u{8}\u{c}\n\r\t\u{1f}\u{7f}", "ä\u{2028}😀"];
        let mut items: Vec<Tree> = texts.into_iter().map(Tree::text).collect();
        items.extend([0.0, -0.0, 1.5, 1e300, f64::NAN, f64::INFINITY].map(Tree::Float));
        items.extend([0, -1, i64::MIN, i64::MAX].map(Tree::Int));
        items.extend([Tree::Null, Tree::Bool(true), Tree::List(Vec::new()), Tree::Map(Vec::new())]);
        let tree = Tree::map([("a\"b", Tree::List(items.clone())), ("c", Tree::map([("d", Tree::Null)]))]);
        items.push(tree);
        for tree in items {
            assert_eq!(serde_json::to_string(&Twin(&tree)).unwrap(), value_of(&tree).to_string());
        }
    }
}
