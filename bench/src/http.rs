//! The benchmark `http`: calls through the front doors beside a bare echo, what standing still costs, and whether memory
//! grows; and what it takes to verify a bearer token.

mod calls;
mod echo;
mod load;
mod request;
mod server;
mod standing;
mod verify;

use crate::failure::Failure;
use crate::peers;
use crate::place::Place;
use crate::report::{self, Circumstances};
use crate::table::{self, Row};

pub(crate) use echo::run as echo;
use server::Server;

const NOTES: &str = "\
`vambrace serve` and the echo are processes of their own on the same cores as the client, which is one thread of the benchmark
and the same for both: keep-alive connections, one request at a time on each. Every answer is read whole, its status and length
are checked and what was asked for must be in it. Our calls show an API key, pass both limiters (the limits are raised), the
policy and the redactor, and are in the record with intent and outcome. The echo is axum as it comes, on tokio's runtime: it
reads a JSON-RPC request with serde_json and gives its params back; it is sent the MCP request of the row in which `read_file`
is called. Memory is what is resident. A bearer token is a whole authentication in one thread, without HTTP: its text is taken
apart, the signature verified with a key of the set, issuer, audience, times and groups read. When it is shown again, its
signature is known to be good for as long as the keys stay the same; all else is done each time. `openssl speed` tells only how
long the bare verification takes, of 2048 bits or P-256, without digest, Base64 and JSON.
";

/// How often everything is done.
#[derive(Debug, Clone, Copy)]
struct Counts {
    rounds: usize,
    /// Of each connection in one turn.
    calls: usize,
    idle: usize,
    /// After how many calls memory is looked at.
    few: usize,
    many: usize,
}

const COUNTS: Counts = Counts { rounds: 7, calls: 600, idle: 1000, few: 50_000, many: 200_000 };

/// Everything the parts need.
struct Bench<'a> {
    place: &'a Place,
    counts: Counts,
    runtime: tokio::runtime::Runtime,
}

type Part = (&'static str, fn(&Bench<'_>) -> Result<Vec<Row>, Failure>, fn(&[Row]) -> String);

const PARTS: [Part; 3] = [
    ("calls", calls::run, table::rates),
    ("idle connections and memory", standing::run, table::markdown),
    ("bearer tokens", verify::run, table::markdown),
];

pub(crate) fn run(place: &Place) -> Result<(), Failure> {
    println!("Building the release binary.");
    peers::vambrace(place)?;
    let openssl = peers::debian("openssl", "openssl", "version");
    // One thread for the client, as a load generator that takes both cores would measure itself.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|problem| {
        Failure::new(format!("no runtime: {problem}"), "Close other programs and run this again.")
    })?;
    let bench = Bench { place, counts: COUNTS, runtime };
    let (mut tables, mut failed) = (Vec::new(), Vec::new());
    for (what, measure, shown) in PARTS {
        println!("Measuring: {what}.");
        match measure(&bench) {
            Ok(rows) => tables.push(shown(&rows)),
            Err(failure) => {
                println!("Not measured: {failure}");
                failed.push(what);
            }
        }
    }
    let tables = tables.join("\n");
    println!("\n{tables}");
    if !failed.is_empty() {
        return Err(Failure::new(
            format!("not measured, so docs/performance.md is as it was: {}", failed.join(", ")),
            "Read the messages above.",
        ));
    }
    let around =
        Circumstances::now(vec!["an echo of axum 0.8 in this repository".to_owned(), openssl.described()]);
    let path = place.root.join("docs/performance.md");
    report::write(&path, "http", &report::section("http", &around, &tables, NOTES))?;
    println!("Written to docs/performance.md.");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_of_figures_has_the_words_of_the_bench() {
        let page = include_str!("../../docs/performance.md");
        let (_, section) = page.split_once("\n## http\n").unwrap();
        assert!(section.contains("`cargo xtask bench http`"));
        assert!(section.contains(NOTES));
    }
}
