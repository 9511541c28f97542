//! `docs/performance.md`: one section per benchmark, rewritten by the run that measured it.

use std::fs;
use std::path::Path;

use vambrace_audit::{Clock as _, SystemClock, rfc3339};

use crate::failure::Failure;

const HEAD: &str = "\
# Performance

Written by `cargo xtask bench NAME`; each section is replaced by the run that measured it. Everything in a section was
measured side by side in one run, the contenders taking turns, and each figure is a median unless its row says otherwise.
Read the ratios: the times belong to the machine.
";

/// What a section says besides its table.
pub(crate) struct Circumstances {
    pub(crate) date: String,
    pub(crate) machine: String,
    pub(crate) peers: Vec<String>,
}

impl Circumstances {
    pub(crate) fn now(peers: Vec<String>) -> Circumstances {
        let date = rfc3339(SystemClock.now()).split('T').next().unwrap_or_default().to_owned();
        Circumstances { date, machine: machine(), peers }
    }
}

pub(crate) fn section(name: &str, around: &Circumstances, table: &str, notes: &str) -> String {
    let Circumstances { date, machine, peers } = around;
    let peers = peers.join("; ");
    format!("\n- {date}, `cargo xtask bench {name}`\n- {machine}\n- Peers: {peers}\n\n{table}\n{notes}")
}

pub(crate) fn write(path: &Path, name: &str, body: &str) -> Result<(), Failure> {
    let old = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(problem) if problem.kind() == std::io::ErrorKind::NotFound => HEAD.to_owned(),
        Err(problem) => return Err(Failure::disk(path)(problem)),
    };
    fs::write(path, replace_section(&old, name, body)).map_err(Failure::disk(path))
}

/// The document with the section `## name` replaced, or added at its end. Everything else stays as it is.
fn replace_section(document: &str, name: &str, body: &str) -> String {
    let heading = format!("## {name}");
    let (mut out, mut n_written, mut skipping) = (String::new(), 0, false);
    for line in document.split_inclusive('\n') {
        if line.starts_with("## ") {
            skipping = line.trim_end() == heading;
            if skipping {
                n_written += 1;
            }
            if skipping && n_written == 1 {
                put(&mut out, &heading, body);
            } else if !skipping && n_written > 0 && !out.ends_with("\n\n") {
                out.push('\n');
            }
        }
        if !skipping {
            out.push_str(line);
        }
    }
    if n_written == 0 {
        put(&mut out, &heading, body);
    }
    out
}

fn put(out: &mut String, heading: &str, body: &str) {
    while !out.is_empty() && !out.ends_with("\n\n") {
        out.push('\n');
    }
    out.push_str(heading);
    out.push('\n');
    out.push_str(body.trim_end());
    out.push('\n');
}

fn machine() -> String {
    let n_cores = std::thread::available_parallelism().map_or(1, usize::from);
    let cpus = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu_model(&cpus).unwrap_or("unknown processor");
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let cores = if n_cores == 1 { "core" } else { "cores" };
    format!("{n_cores} {cores} of {model}, Linux {}", kernel.trim())
}

fn cpu_model(cpus: &str) -> Option<&str> {
    let line = cpus.lines().find(|line| line.starts_with("model name"))?;
    line.split_once(':').map(|(_, model)| model.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(document: &str, expected: &str) {
        let replaced = replace_section(document, "files", "\nnew\n");
        assert_eq!(replaced, expected, "{document:?}");
        assert_eq!(replace_section(&replaced, "files", "\nnew\n"), expected, "a second time");
    }

    #[test]
    fn only_its_own_section_is_replaced() {
        check("", "## files\n\nnew\n");
        check("# P\n", "# P\n\n## files\n\nnew\n");
        check("# P\n\nintro", "# P\n\nintro\n\n## files\n\nnew\n");
        check("# P\n\n## files\nold\n", "# P\n\n## files\n\nnew\n");
        check(
            "# P\n\n## a\n1\n\n## files\nold\n\n## b\n2\n",
            "# P\n\n## a\n1\n\n## files\n\nnew\n\n## b\n2\n",
        );
        check("## files\nold\n### part\nold\n## b\n2", "## files\n\nnew\n\n## b\n2");
        check("## filesystem\n1\n", "## filesystem\n1\n\n## files\n\nnew\n");
        check("## files\nold\n## b\n2\n## files\nolder\n", "## files\n\nnew\n\n## b\n2\n");
        check("## files\r\nold\r\n", "## files\n\nnew\n");
    }

    #[test]
    fn a_section_names_its_circumstances() {
        let around = Circumstances {
            date: "2031-02-03".into(),
            machine: "2 cores of X".into(),
            peers: vec!["a 1".into(), "b 2".into()],
        };
        let text = section("files", &around, "| t |\n", "Note.\n");
        let expected = "\n- 2031-02-03, `cargo xtask bench files`\n- 2 cores of X\n- Peers: a 1; b 2\n\n| t |\n\nNote.\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn the_processor_is_named_as_the_kernel_names_it() {
        assert_eq!(cpu_model("processor\t: 0\nmodel name\t: Fast CPU @ 2GHz\n"), Some("Fast CPU @ 2GHz"));
        assert_eq!(cpu_model("processor\t: 0\n"), None);
    }
}
