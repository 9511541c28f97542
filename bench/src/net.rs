//! The benchmark `net`: pages of a site on loopback, fetched by our tools, by `curl` and by the reference fetch server.

mod curl;
mod fetcher;
mod flow;
mod latency;
mod names;
mod site;

use std::path::Path;
use std::process::Command;

use crate::failure::Failure;
use crate::peers::{self, Peer};
use crate::place::Place;
use crate::report::{self, Circumstances};
use crate::table;

use names::Names;
use site::Site;

const NOTES: &str = "\
The site is on loopback, in the process of the benchmark, and keeps connections open. Our tools are called through MCP over
pipes, with policy, redaction and the record on; the site's name is looked up at a name server on loopback, and its address
is listed with `cidr`. `web_fetch` gives the page as it is, like curl and like mcp-server-fetch with `raw`; `fetch_url` and
mcp-server-fetch without it give its readable text. curl is given the address, writes to /dev/null, and is started for each
page; over one connection its times are those it tells itself, without its start and without connecting. mcp-server-fetch is
given the address too; its options spare it robots.txt and judging addresses, and it finds no Node, so it makes pages
readable in Python, which is faster and pinned. Who brings less than the whole page ends the run. mcp-server-fetch gives no
page of 10 MB.
";

/// How often everything is done.
#[derive(Debug, Clone, Copy)]
struct Counts {
    /// Rounds of single calls, and calls in one turn.
    latency_rounds: usize,
    calls: usize,
    /// Rounds of everything else, how many calls each of 16 makes, and how many long pages are one turn.
    flow_rounds: usize,
    calls_at_once: usize,
    long_pages: usize,
}

/// A thousand single calls, so that ten lie above the 99 of 100.
const COUNTS: Counts =
    Counts { latency_rounds: 20, calls: 20, flow_rounds: 5, calls_at_once: 5, long_pages: 3 };

/// Everything the parts need.
struct Bench<'a> {
    place: &'a Place,
    counts: Counts,
    fetch_server: Peer,
    site: Site,
    names: Names,
}

pub(crate) fn run(place: &Place) -> Result<(), Failure> {
    println!("Building the release binary.");
    peers::vambrace(place)?;
    let curl = peers::debian("curl", "curl", "--version");
    if curl.program().is_none() {
        return Err(Failure::new("there is no curl to run beside", "As root, run `apt-get install curl`."));
    }
    let bench = Bench {
        place,
        counts: COUNTS,
        fetch_server: peers::fetch_server(place)?,
        site: Site::open()?,
        names: Names::open()?,
    };
    println!("Measuring: single calls.");
    let times = table::markdown(&latency::run(&bench)?);
    println!("Measuring: many calls at once.");
    let mut rates = flow::calls(&bench)?;
    println!("Measuring: long pages.");
    rates.extend(flow::bytes(&bench)?);
    let tables = format!("{times}\n{}", table::rates(&rates));
    println!("\n{tables}");
    let around = Circumstances::now(vec![short(&curl.described()), bench.fetch_server.described()]);
    let path = place.root.join("docs/performance.md");
    report::write(&path, "net", &report::section("net", &around, &tables, NOTES))?;
    println!("Written to docs/performance.md.");
    Ok(())
}

/// The name and the version: curl tells every library's too.
fn short(version: &str) -> String {
    version.split(" (").next().unwrap_or_default().to_owned()
}

/// A command with nothing of the person's in its environment, proxies included.
fn clean(place: &Place, program: &Path) -> Command {
    let mut command = Command::new(program);
    let path = std::env::var_os("PATH").unwrap_or_default();
    command.env_clear().env("PATH", path).env("HOME", &place.data).env("LANG", "C.UTF-8");
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_without_the_libraries() {
        assert_eq!(short("curl 7.88.1 (x86_64-pc-linux-gnu) libcurl/7.88.1 OpenSSL/3.0"), "curl 7.88.1");
        assert_eq!(short("curl 9"), "curl 9");
    }

    #[test]
    fn the_page_of_figures_has_the_words_of_the_bench() {
        let page = include_str!("../../docs/performance.md");
        let (_, section) = page.split_once("\n## net\n").unwrap();
        assert!(section.contains("`cargo xtask bench net`"));
        assert!(section.contains(NOTES));
    }
}
