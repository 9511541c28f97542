//! Which tests failed, in the runner's own words. One reader for each runner, as in `form`.

/// LIMIT: groups of mocha in one another.
const DEEPEST: usize = 16;

/// `test cart::adds ... FAILED`
pub(super) fn libtest(text: &str) -> Vec<String> {
    let name = |line: &str| line.strip_prefix("test ")?.strip_suffix(" ... FAILED").map(str::to_owned);
    text.lines().filter_map(name).collect()
}

/// `FAIL [   0.005s] shop price::rounds`
pub(super) fn nextest(text: &str) -> Vec<String> {
    let name = |line: &str| {
        let line = line.trim_start();
        let kinds = ["FAIL", "TIMEOUT", "SIGABRT", "SIGSEGV"].into_iter();
        let timed =
            kinds.filter_map(|kind| line.strip_prefix(kind)).next()?.trim_start().strip_prefix('[')?;
        Some(timed.split_once("] ")?.1.trim().to_owned())
    };
    text.lines().filter_map(name).collect()
}

/// `FAILED tests/a.py::test_b - assert 1 == 2`, in the list at the end.
pub(super) fn pytest(text: &str) -> Vec<String> {
    let list = text.rsplit_once("short test summary info").map_or(text, |(_, list)| list);
    let name = |line: &str| {
        let behind = line.strip_prefix("FAILED ").or_else(|| line.strip_prefix("ERROR "))?;
        Some(behind.split(" - ").next()?.trim().to_owned())
    };
    list.lines().filter_map(name).collect()
}

/// `● cart › rounds`; a file that could not be loaded is named by the line above.
pub(super) fn jest(text: &str) -> Vec<String> {
    let mut file = "";
    let mut names = Vec::new();
    for line in text.lines() {
        if let Some(name) = line.trim_start().strip_prefix("FAIL ") {
            file = name.trim();
        }
        match line.strip_prefix("  ● ") {
            Some(super::form::JEST_BROKEN_SUITE) => names.push(file.to_owned()),
            // What the tests wrote, not a test.
            Some("Console") | None => {}
            Some(name) => names.push(name.trim().to_owned()),
        }
    }
    names
}

/// `FAIL  cart.test.js > cart > rounds`
pub(super) fn vitest(text: &str) -> Vec<String> {
    let name = |line: &str| {
        let name = line.trim_start().strip_prefix("FAIL  ")?.trim();
        // A file that could not be loaded is named twice.
        Some(name.split(" [ ").next().unwrap_or(name).to_owned())
    };
    text.lines().filter_map(name).collect()
}

/// The list at the end: `1) cart`, the inner groups, and the test's own line, which ends with a colon.
pub(super) fn mocha(text: &str) -> Vec<String> {
    let is_count =
        |line: &str| line.trim().strip_suffix(" failing").is_some_and(|n| n.parse::<u64>().is_ok());
    let mut lines = text.lines().skip_while(|line| !is_count(line)).skip(1);
    let mut names = Vec::new();
    while let Some(line) = lines.next() {
        let Some((number, title)) = line.trim_start().split_once(") ") else { continue };
        if number.parse::<u64>().is_err() {
            continue;
        }
        let mut parts = vec![title.trim()];
        while parts.len() < DEEPEST && parts.last().is_some_and(|part| !part.ends_with(':')) {
            match lines.next().map(str::trim).filter(|line| !line.is_empty()) {
                Some(line) => parts.push(line),
                None => break,
            }
        }
        names.push(parts.join(" ").trim_end_matches(':').to_owned());
    }
    names
}

/// `not ok 2 - rounds` in TAP, `✖ rounds (0.9ms)` for people.
pub(super) fn node(text: &str) -> Vec<String> {
    let name = |line: &str| {
        let line = line.trim_start();
        if let Some(behind) = line.strip_prefix("not ok ") {
            let (_, name) = behind.split_once(" - ")?;
            return Some(name.split(" # ").next().unwrap_or(name).to_owned());
        }
        let (name, time) = line.strip_prefix("✖ ")?.rsplit_once(" (")?;
        time.ends_with("ms)").then(|| name.to_owned())
    };
    text.lines().filter_map(name).collect()
}

/// `--- FAIL: TestAdd (0.00s)`, and packages that did not get so far.
pub(super) fn go(text: &str) -> Vec<String> {
    super::form::go_failures(text).into_iter().map(|failure| failure.name.to_owned()).collect()
}

/// `FAIL: test_a (module.Class.test_a)`
pub(super) fn unittest(text: &str) -> Vec<String> {
    let name = |line: &str| {
        let name = line.strip_prefix("FAIL: ").or_else(|| line.strip_prefix("ERROR: "))?;
        Some(name.trim().to_owned())
    };
    text.lines().filter_map(name).collect()
}

/// `[ERROR] shop.PriceTest.rounds -- Time elapsed: 0.01 s <<< FAILURE!`; the line of a whole class counts its tests.
pub(super) fn maven(text: &str) -> Vec<String> {
    let name = |line: &str| {
        let (before, _) = line.split_once(" <<< ")?;
        let name = before.trim_start_matches("[ERROR]").split("Time elapsed").next()?;
        let name = name.trim().trim_end_matches("--").trim();
        (!name.starts_with("Tests run:") && !name.is_empty()).then(|| name.to_owned())
    };
    text.lines().filter_map(name).collect()
}
