//! How fast is a redactor on the file given on the command line? Also prints what it found with `--show`.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "an example reads a file, a clock and prints"
)]

use std::time::Instant;

use vambrace_redact::{KnownValue, Redactor, RedactorSettings};
use vambrace_types::Secret;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: throughput FILE [--show]")?;
    let show = std::env::args().any(|argument| argument == "--show");
    let bytes = std::fs::read(path)?;
    let known = (0..40)
        .map(|n| KnownValue {
            name: format!("VALUE_{n}"),
            value: Secret::new(format!("{n}zQ{}kV{}", n * 7919, n * 104_729)),
        })
        .collect();
    let begun = Instant::now();
    let redactor = Redactor::new(RedactorSettings { known, ..RedactorSettings::default() })?;
    println!("made in {:.2} ms", begun.elapsed().as_secs_f64() * 1e3);
    let findings = redactor.scan(&bytes);
    if show {
        for finding in &findings {
            let line_start = bytes
                .get(..finding.start)
                .unwrap_or_default()
                .iter()
                .rposition(|b| *b == b'\n')
                .map_or(0, |n| n + 1);
            let line = bytes
                .get(line_start.max(finding.start.saturating_sub(60))..bytes.len().min(finding.end + 20));
            let line = String::from_utf8_lossy(line.unwrap_or_default()).replace('\n', "⏎");
            println!("{}\t{}\t{line}", finding.line, finding.rule);
        }
    }
    let megabytes = bytes.len() as f64 / 1e6;
    println!(
        "{} findings in {megabytes:.1} MB, {:.2} per MB",
        findings.len(),
        findings.len() as f64 / megabytes
    );
    for _ in 0..3 {
        let begun = Instant::now();
        let n_found = redactor.scan(&bytes).len();
        let scanned = begun.elapsed();
        let begun = Instant::now();
        let mut out = Vec::with_capacity(bytes.len());
        let mut stream = redactor.stream();
        bytes.chunks(64 * 1024).for_each(|chunk| stream.push(chunk, &mut out));
        let stats = stream.finish(&mut out);
        let streamed = begun.elapsed();
        println!(
            "scan {:.0} MB/s, stream {:.0} MB/s ({n_found}, {})",
            megabytes / scanned.as_secs_f64(),
            megabytes / streamed.as_secs_f64(),
            stats.n_redactions
        );
    }
    Ok(())
}
