//! Plain `curl`: a process for each page, and one process that fetches many over one connection.

use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use super::site::Page;
use super::{Bench, clean};
use crate::failure::Failure;

pub(super) const EACH: &str = "curl, a process each";
pub(super) const CONNECTION: &str = "curl, one connection";
const WHO: &str = "curl";

/// A status, a length and the seconds that one transfer took, by curl's own clock.
const TOLD: &str = "%{http_code} %{size_download} %{time_total}\\n";

/// One page by one process, from its start to its end.
pub(super) fn one(bench: &Bench<'_>, page: Page) -> Result<Duration, Failure> {
    let mut command = curl(bench);
    command.arg(bench.site.plain(page));
    let start = Instant::now();
    let output = command.output().map_err(Failure::start(WHO))?;
    let took = start.elapsed();
    transfers(&output, page, 1)?;
    Ok(took)
}

/// Many transfers over one connection: how long each took, without the first, which has to connect.
pub(super) fn in_a_row(bench: &Bench<'_>, page: Page, n_pages: usize) -> Result<Vec<Duration>, Failure> {
    let (_, mut took) = many(bench, page, n_pages + 1, &[])?;
    took.remove(0);
    Ok(took)
}

/// Many pages by one process, so many under way at once: how long all took.
pub(super) fn together(
    bench: &Bench<'_>,
    page: Page,
    n_pages: usize,
    n_at_once: usize,
) -> Result<Duration, Failure> {
    let at_once = n_at_once.to_string();
    Ok(many(bench, page, n_pages, &["--parallel", "--parallel-max", &at_once])?.0)
}

/// Many processes, so many of them at once: how long all took.
pub(super) fn crowd(
    bench: &Bench<'_>,
    page: Page,
    n_pages: usize,
    n_at_once: usize,
) -> Result<Duration, Failure> {
    let each = n_pages.div_ceil(n_at_once.max(1));
    let start = Instant::now();
    std::thread::scope(|scope| {
        let work = || (0..each).try_for_each(|_| one(bench, page).map(drop));
        let threads: Vec<_> = (0..n_at_once).map(|_| scope.spawn(work)).collect();
        threads.into_iter().try_for_each(|thread| match thread.join() {
            Ok(done) => done,
            Err(panic) => std::panic::resume_unwind(panic),
        })
    })?;
    Ok(start.elapsed())
}

fn many(
    bench: &Bench<'_>,
    page: Page,
    n_pages: usize,
    options: &[&str],
) -> Result<(Duration, Vec<Duration>), Failure> {
    let mut command = curl(bench);
    command.args(options).arg(format!("{}?[1-{n_pages}]", bench.site.plain(page)));
    let start = Instant::now();
    let output = command.output().map_err(Failure::start(WHO))?;
    let took = start.elapsed();
    Ok((took, transfers(&output, page, n_pages)?))
}

/// Nothing of the person's: no configuration, no proxy.
fn curl(bench: &Bench<'_>) -> Command {
    let mut command = clean(bench.place, WHO.as_ref());
    // The switch against configuration files counts only as the first.
    command.args(["-q", "--silent", "--show-error", "--fail", "--noproxy", "*", "--output", "/dev/null"]);
    command.args(["--write-out", TOLD]).stdin(Stdio::null());
    command
}

/// How long each took, provided that all came whole.
fn transfers(output: &Output, page: Page, n_pages: usize) -> Result<Vec<Duration>, Failure> {
    let told = String::from_utf8_lossy(&output.stdout);
    let took: Option<Vec<Duration>> = told.lines().map(|line| transfer(line, page)).collect();
    took.filter(|took| output.status.success() && took.len() == n_pages).ok_or_else(|| {
        let seen = format!("{}{told}", String::from_utf8_lossy(&output.stderr));
        Failure::wrong(WHO, &format!("did not fetch {n_pages} times {}", page.path()), &seen)
    })
}

fn transfer(line: &str, page: Page) -> Option<Duration> {
    let mut words = line.split(' ');
    let (status, length, seconds) = (words.next()?, words.next()?, words.next()?);
    let is_whole = status == "200" && length.parse() == Ok(page.n_bytes());
    let seconds = seconds.parse().ok().filter(|_| is_whole)?;
    Duration::try_from_secs_f64(seconds).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: Option<u64>) {
        assert_eq!(transfer(line, Page::Small), expected.map(Duration::from_micros), "{line}");
    }

    #[test]
    fn only_a_whole_page_counts() {
        check("200 10240 0.000125", Some(125));
        check("200 10239 0.000125", None);
        check("404 10240 0.000125", None);
        check("200 10240", None);
        check("200 10240 -1", None);
        check("", None);
    }
}
