//! A reply as text. Some clients show a model only this half, so it says everything that the structured half says.

use std::fmt::Write as _;

use vambrace_runtime::Reply;

pub fn text(reply: &Reply) -> String {
    let mut out = String::new();
    match reply.error() {
        Some(error) => {
            let _ = write!(out, "Error: {}", error.message.as_str());
            if !error.suggestion.is_empty() {
                let _ = write!(out, "\n{}", error.suggestion.as_str());
            }
            let _ = write!(out, "\n(code {}", error.code.as_str());
            if !reply.rule().is_empty() {
                let _ = write!(out, ", rule {}", reply.rule().as_str());
            }
            out.push(')');
            if let Some(details) = &error.details {
                let _ = write!(out, "\nDetails: {}", details.as_tree().to_json());
            }
        }
        None => reply.write_data(&mut out),
    }
    notes(reply, &mut out);
    out
}

fn notes(reply: &Reply, out: &mut String) {
    let metadata = reply.metadata();
    let mut note = |text: String| {
        if !out.is_empty() && !out.ends_with('\n') {
            out.push('\n');
        }
        let _ = writeln!(out, "[{text}]");
    };
    // The words of specification 002 stand alone, and say it themselves.
    if metadata.dry_run && reply.error().is_none() && !reply.tells_dry_run() {
        note("dry run: nothing was changed".to_owned());
    }
    if metadata.redactions > 0 {
        note(format!("{} secrets were redacted", metadata.redactions));
    }
    if metadata.truncated {
        note("truncated".to_owned());
    }
    for warning in &metadata.warnings {
        note(warning.clone());
    }
}
