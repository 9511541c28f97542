//! Servers of MCP that fetch: ours, and the reference one. Both have to bring the whole page.

use std::time::Duration;

use serde_json::{Value, json};

use super::names::HOST;
use super::site::{END, Page};
use super::{Bench, clean};
use crate::failure::Failure;
use crate::mcp::Server;
use crate::peers::FETCH_SERVER;
use crate::place;

const OURS: &str = "vambrace";
/// The most that the reference server gives.
const MOST_LENGTH: usize = 999_999;
/// More than any page, twice: an answer carries its text plain and structured.
const REPLY_BYTES: usize = 64 << 20;

/// What is asked of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wish {
    /// The page as it is.
    Raw,
    /// Its readable text.
    Readable,
}

/// A server that runs, and how a page is asked of it.
pub(super) struct Fetcher {
    who: &'static str,
    server: Server,
    tool: &'static str,
    arguments: Value,
    /// Where in an answer the text is.
    text: &'static str,
    wish: Wish,
    page: Page,
}

impl Fetcher {
    /// Our server, which asks the bench's name server and may reach the site and nothing else on loopback.
    pub(super) fn ours(bench: &Bench<'_>, page: Page, wish: Wish) -> Result<Fetcher, Failure> {
        let place = bench.place;
        let (workspace, state) = (place.fresh("net")?, place.fresh("net-state")?);
        let config = place.data.join("net.yaml");
        place::write(&config, configuration(bench))?;
        let mut command = clean(place, &place.vambrace);
        command.current_dir(&workspace).args(["mcp", "--quiet", "--workspace"]).arg(&workspace);
        command.arg("--state").arg(&state).arg("--config").arg(&config);
        let server = Server::start(OURS, &mut command, &place.data.join("net-vambrace.stderr"))?;
        let url = format!("http://{HOST}:{}{}", bench.site.port(), page.path());
        let (tool, arguments, text) = match wish {
            Wish::Raw => ("web_fetch", json!({"url": url}), "/structuredContent/data/body"),
            Wish::Readable => {
                let arguments = json!({"url": url, "max_length": MOST_LENGTH});
                ("fetch_url", arguments, "/structuredContent/data/content")
            }
        };
        Fetcher { who: OURS, server, tool, arguments, text, wish, page }.proved()
    }

    /// The reference server, if it is here. It asks no robots.txt and judges no address.
    pub(super) fn theirs(bench: &Bench<'_>, page: Page, wish: Wish) -> Result<Option<Fetcher>, Failure> {
        let Some(program) = bench.fetch_server.program() else { return Ok(None) };
        let mut command = clean(bench.place, program);
        // Where it finds Node, its first page installs packages that nobody pinned, and every page starts a
        // process. Without, it does the same in Python, and faster.
        command.env("PATH", program.parent().unwrap_or(program));
        command.args(["--ignore-robots-txt", "--allow-private-ips"]);
        let complaints = bench.place.data.join("net-mcp-server-fetch.stderr");
        let server = Server::start(FETCH_SERVER, &mut command, &complaints)?;
        let raw = wish == Wish::Raw;
        let arguments = json!({"url": bench.site.plain(page), "max_length": MOST_LENGTH, "raw": raw});
        let (who, tool, text) = (FETCH_SERVER, "fetch", "/content/0/text");
        Fetcher { who, server, tool, arguments, text, wish, page }.proved().map(Some)
    }

    fn proved(mut self) -> Result<Fetcher, Failure> {
        self.one()?;
        Ok(self)
    }

    /// One call, and how long it took.
    pub(super) fn one(&mut self) -> Result<Duration, Failure> {
        let (took, result) = self.server.call(self.tool, &self.arguments)?;
        self.demand_whole(&result)?;
        Ok(took)
    }

    /// Many calls, so many of them under way at once, and how long all took.
    pub(super) fn together(&mut self, n_calls: usize, n_at_once: usize) -> Result<Duration, Failure> {
        let (took, results) = self.server.call_together(self.tool, &self.arguments, n_calls, n_at_once)?;
        results.iter().try_for_each(|result| self.demand_whole(result))?;
        Ok(took)
    }

    /// Whoever brings less than the page has less to do.
    fn demand_whole(&self, result: &Value) -> Result<(), Failure> {
        let text = result.pointer(self.text).and_then(Value::as_str).unwrap_or_default();
        if is_whole(text, self.wish, self.page) {
            return Ok(());
        }
        let what = format!("brought {} bytes for {}", text.len(), self.page.path());
        Err(Failure::wrong(self.who, &what, &result.to_string()))
    }
}

fn is_whole(text: &str, wish: Wish, page: Page) -> bool {
    let has_end = text.contains(END);
    match wish {
        // The reference server puts a line before it.
        Wish::Raw => has_end && text.len() >= page.n_bytes(),
        Wish::Readable => has_end && text.len() >= page.n_bytes() / 2 && !text.contains("<p>"),
    }
}

fn configuration(bench: &Bench<'_>) -> String {
    let (port, names) = (bench.site.port(), bench.names.address());
    format!(
        "tools:\n  url_policy:\n    allowed_domains:\n\
         \x20     - {{host: {HOST}, port: {port}, cidr: 127.0.0.1/32}}\n\
         net:\n  dns_server: \"{names}\"\nlimits:\n  reply_bytes: {REPLY_BYTES}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, wish: Wish, expected: bool) {
        assert_eq!(is_whole(text, wish, Page::Small), expected, "{wish:?}, {} bytes", text.len());
    }

    #[test]
    fn a_page_without_its_end_or_its_middle_is_not_whole() {
        let page = Page::Small.body();
        check(&page, Wish::Raw, true);
        check(&format!("Contents:\n{page}"), Wish::Raw, true);
        check(&page.replacen("<p>", "", 1), Wish::Raw, false);
        check(&page.replace(END, "the first line of the page "), Wish::Raw, false);
        check(&page, Wish::Readable, false);
        check(&page.replace("<p>", ""), Wish::Readable, true);
        check(END, Wish::Readable, false);
    }
}
