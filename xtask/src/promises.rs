//! `docs/promises`: each promise has a page, each page names its proofs, and each named proof exists.

use std::fmt::Write as _;
use std::fs;

use crate::code::find_words;
use crate::failure::Failure;
use crate::workspace::{Workspace, WriteMode};

const N_PROMISES: usize = 13;
const SECTIONS: [&str; 5] = ["Promise", "Limits", "How", "Proof", "Status"];
const FOLDER: &str = "docs/promises/";
const INDEX: &str = "PROMISES.md";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Status {
    Proven,
    Pending,
}

impl Status {
    fn as_str(self) -> &'static str {
        match self {
            Status::Proven => "proven",
            Status::Pending => "pending",
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
struct Page {
    /// `P01`
    id: String,
    path: String,
    promise: String,
    status: Status,
    /// `crate::path::test_name`
    proofs: Vec<String>,
}

pub(crate) fn run(workspace: &Workspace, mode: WriteMode) -> Result<(), Failure> {
    let (pages, mut problems) = read_pages(workspace);
    for id in (1..=N_PROMISES).map(|number| format!("P{number:02}")) {
        match pages.iter().filter(|page| page.id == id).count() {
            1 => {}
            0 => problems.push(format!("{FOLDER}: {id} has no page")),
            _ => problems.push(format!("{FOLDER}: {id} has more than one page")),
        }
    }
    for page in &pages {
        problems.extend(check_proofs(workspace, page));
    }
    problems.extend(unknown_threats(workspace, &pages));
    if !problems.is_empty() {
        return Err(Failure::new(
            format!("promises:\n  {}", problems.join("\n  ")),
            "A promise is proven by tests that exist, or it says `pending`.",
        ));
    }
    settle_index(workspace, &index(&pages), mode)?;
    let n_proven = pages.iter().filter(|page| page.status == Status::Proven).count();
    println!("promises: {n_proven} proven, {} pending", pages.len() - n_proven);
    Ok(())
}

fn read_pages(workspace: &Workspace) -> (Vec<Page>, Vec<String>) {
    let mut pages = Vec::new();
    let mut problems = Vec::new();
    for file in workspace.beneath(FOLDER).filter(|file| file.path.ends_with(".md")) {
        match parse_page(&file.path, &file.text) {
            Ok(page) => pages.push(page),
            Err(problem) => problems.push(format!("{}: {problem}", file.path)),
        }
    }
    (pages, problems)
}

fn parse_page(path: &str, text: &str) -> Result<Page, String> {
    let name = path.strip_prefix(FOLDER).unwrap_or(path);
    let id = name.split('-').next().unwrap_or_default();
    let numbered =
        id.strip_prefix('P').is_some_and(|n| n.len() == 2 && n.bytes().all(|b| b.is_ascii_digit()));
    if !numbered {
        return Err("is not named `Pnn-words.md`".into());
    }
    for section in SECTIONS {
        if section_text(text, section).is_none_or(str::is_empty) {
            return Err(format!("has no `## {section}` or nothing in it"));
        }
    }
    let status = match section_text(text, "Status").unwrap_or_default() {
        "proven" => Status::Proven,
        "pending" => Status::Pending,
        other => return Err(format!("status is `{other}`, and may be `proven` or `pending`")),
    };
    let proofs = proof_names(section_text(text, "Proof").unwrap_or_default());
    if status == Status::Proven && proofs.is_empty() {
        return Err("is proven without a proof".into());
    }
    let promise =
        section_text(text, "Promise").unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
    Ok(Page { id: id.to_owned(), path: path.to_owned(), promise, status, proofs })
}

/// What stands between `## name` and the next heading of that size.
fn section_text<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let heading = format!("\n## {name}\n");
    let (_, after) = text.split_once(&heading)?;
    Some(after.split("\n## ").next().unwrap_or(after).trim())
}

/// Every `crate::path::test_name` in back-ticks.
fn proof_names(section: &str) -> Vec<String> {
    let quoted = section.split('`').skip(1).step_by(2);
    quoted
        .filter(|text| text.contains("::") && !text.contains(char::is_whitespace))
        .map(str::to_owned)
        .collect()
}

fn check_proofs(workspace: &Workspace, page: &Page) -> Vec<String> {
    let missing = page.proofs.iter().filter(|proof| !proof_exists(workspace, proof));
    missing.map(|proof| format!("{}: no test `{proof}`", page.path)).collect()
}

fn proof_exists(workspace: &Workspace, proof: &str) -> bool {
    let Some((package, rest)) = proof.split_once("::") else { return false };
    let test = rest.rsplit("::").next().unwrap_or(rest);
    // A program that must not compile is a proof too.
    if package == "xtask" && rest.starts_with("misuse::") {
        return workspace.text(&format!("xtask/misuse/{test}.rs")).is_some();
    }
    let folder = match package {
        "xtask" => "xtask/".to_owned(),
        other => format!("crates/{}/", other.replace('_', "-")),
    };
    workspace.beneath(&folder).filter(|file| file.is_rust()).any(|file| has_test(&file.text, test))
}

/// `fn name(` with a test attribute among the attributes and comments right above it.
fn has_test(source: &str, name: &str) -> bool {
    let signature = format!("fn {name}(");
    find_words(source, &signature).any(|at| {
        let before = source.get(..at).unwrap_or_default();
        let line_start = before.rfind('\n').map_or(0, |place| place + 1);
        let above = before.get(..line_start).unwrap_or_default().lines().rev();
        let mut attributes =
            above.map(str::trim).take_while(|line| line.starts_with("#[") || line.starts_with("//"));
        attributes.any(|line| line.starts_with("#[") && line.contains("test"))
    })
}

/// A `THREAT:` comment names the promise it serves; it must be one of ours.
fn unknown_threats(workspace: &Workspace, pages: &[Page]) -> Vec<String> {
    let mut problems = Vec::new();
    for file in workspace.files.iter().filter(|file| file.is_rust() && file.package() != Some("xtask")) {
        for (index, line) in file.text.lines().enumerate() {
            let Some((_, told)) = line.split_once("THREAT: P") else { continue };
            let id: String = told.chars().take_while(char::is_ascii_digit).collect();
            if !pages.iter().any(|page| page.id.strip_prefix('P') == Some(id.as_str())) {
                problems.push(format!("{}:{}: there is no promise P{id}", file.path, index + 1));
            }
        }
    }
    problems
}

fn index(pages: &[Page]) -> String {
    let mut text = String::from(
        "# Promises\n\nEach line is a promise to the people who rely on Vambrace. *Proven* means that the tests named on \
         its page exist\nand run with every `cargo xtask test`; *pending* means that you should not rely on it \
         yet.\n\nThis file is written by `cargo xtask promises --write` from the pages in `docs/promises`.\n\n\
         | id | promise | status | page |\n|---|---|---|---|\n",
    );
    for Page { id, promise, status, path, .. } in pages {
        // A `String` takes every write, so there is no error to pass on.
        let _ = writeln!(text, "| {id} | {promise} | {} | [limits, how, proof]({path}) |", status.as_str());
    }
    text
}

fn settle_index(workspace: &Workspace, wanted: &str, mode: WriteMode) -> Result<(), Failure> {
    if workspace.text(INDEX) == Some(wanted) {
        return Ok(());
    }
    match mode {
        WriteMode::Check => {
            Err(Failure::new(format!("{INDEX} is not current"), "Run `cargo xtask promises --write`."))
        }
        WriteMode::Write => fs::write(workspace.root.join(INDEX), wanted).map_err(|problem| {
            Failure::new(format!("{INDEX}: {problem}"), "Check the permissions of the file.")
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::TextFile;

    const PAGE: &str = "# P04\n\n## Promise\n\nA path\nstays.\n\n## Limits\n\nx\n\n## How\n\nx\n\n## Proof\n\n\
                        - `vambrace_files::open::stays_inside`, and `ls -l`\n\n## Status\n\nproven\n";

    #[track_caller]
    fn refused(text: &str, part: &str) {
        let problem = parse_page("docs/promises/P04-paths.md", text).unwrap_err();
        assert!(problem.contains(part), "{problem}");
    }

    #[test]
    fn a_page_is_read_by_its_sections() {
        let page = parse_page("docs/promises/P04-paths.md", PAGE).unwrap();
        assert_eq!((page.id.as_str(), page.promise.as_str()), ("P04", "A path stays."));
        assert_eq!(
            (page.status, page.proofs),
            (Status::Proven, vec!["vambrace_files::open::stays_inside".into()])
        );
        refused(&PAGE.replace("## Limits", "## Other"), "`## Limits`");
        refused(&PAGE.replace("\nproven\n", "\nsure\n"), "`sure`");
        refused(&PAGE.replace('`', ""), "without a proof");
        assert!(parse_page("docs/promises/paths.md", PAGE).is_err());
    }

    #[track_caller]
    fn check(proof: &str, exists: bool) {
        let file = |path: &str, text: &str| TextFile { path: path.into(), text: text.into() };
        let files = vec![
            file(
                "crates/vambrace-files/src/open.rs",
                "#[test]\n// why\n#[track]\nfn stays() {}\n\nfn helper() {}\n",
            ),
            file(
                "crates/vambrace-files/tests/it/race.rs",
                "    #[tokio::test]\n    async fn never_outside() {}\n",
            ),
            file("xtask/misuse/01_permit.rs", ""),
        ];
        let workspace = Workspace { root: "/".into(), files };
        assert_eq!(proof_exists(&workspace, proof), exists, "{proof}");
    }

    #[test]
    fn a_proof_is_a_test_of_that_crate() {
        check("vambrace_files::open::tests::stays", true);
        check("vambrace-files::race::never_outside", true);
        check("vambrace_files::open::helper", false); // a function, not a test
        check("vambrace_policy::open::stays", false); // another crate
        check("vambrace_files::open::stay", false);
        check("xtask::misuse::01_permit", true);
        check("xtask::misuse::02_permit", false);
    }
}
