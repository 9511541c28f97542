//! `GET /`: where a person sees that it runs, and as whom they are known. No scripts.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::response::Html;
use vambrace_types::{Door, Rank};

use super::{Admitted, Front};

pub(super) async fn page(
    State(front): State<Arc<Front>>,
    Extension(admitted): Extension<Admitted>,
) -> Html<String> {
    let caller = admitted.caller(Door::Rest);
    let n_tools = front.corridor.tools_for(&caller).len();
    let rank = match caller.rank {
        Rank::Agent => "sees its own records",
        Rank::Operator => "sees every record and answers questions",
    };
    let rows = [
        ("Version", env!("CARGO_PKG_VERSION").to_owned()),
        ("Up for", format!("{} s", front.moment().as_secs())),
        ("You are", caller.id.clone()),
        ("From", admitted.address.to_string()),
        ("Role", format!("{} ({rank})", caller.role.as_str())),
        ("Tools for you", n_tools.to_string()),
    ];
    let rows: String = rows
        .iter()
        .map(|(name, value)| format!("<tr><th>{name}</th><td>{}</td></tr>\n", escaped(value)))
        .collect();
    Html(format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Vambrace</title></head><body>\n\
         <h1>Vambrace</h1>\n<table>\n{rows}</table>\n\
         <p><a href=\"/api/tools\">Tools</a> <a href=\"/api/audit\">Record</a> <a href=\"/api/alerts\">Alerts</a> \
         <a href=\"/api/approvals\">Questions</a> <a href=\"/openapi.json\">Interface</a> \
         <a href=\"/health\">Health</a> <a href=\"/metrics\">Metrics</a></p>\n</body></html>\n"
    ))
}

/// A name that a token brought is text, never markup. THREAT: P13.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_no_markup() {
        assert_eq!(escaped("<a href='x'>&\"</a>"), "&lt;a href=&#39;x&#39;&gt;&amp;&quot;&lt;/a&gt;");
        assert_eq!(escaped("ann@example.com"), "ann@example.com");
    }
}
