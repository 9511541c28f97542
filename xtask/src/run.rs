//! Starting other programs: always in the root, always with a sentence for the case that they fail.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::failure::Failure;

/// The cargo that started us, so that a toolchain override holds.
pub(crate) fn cargo(root: &Path) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    // It is ours, and a build script below asks for it: passed on, it has everything above that built anew.
    command.current_dir(root).env_remove("CARGO_MANIFEST_DIR");
    command
}

/// Runs with the terminal attached.
pub(crate) fn run(command: &mut Command, fix: &str) -> Result<(), Failure> {
    let status = command.status().map_err(|problem| not_started(command, &problem))?;
    if status.success() {
        Ok(())
    } else {
        Err(Failure::new(format!("`{}` failed ({status})", shown(command)), fix))
    }
}

/// Runs quietly and gives what it printed; its error output appears only when it fails.
pub(crate) fn output_of(command: &mut Command, fix: &str) -> Result<String, Failure> {
    let output = command.stdin(Stdio::null()).output().map_err(|problem| not_started(command, &problem))?;
    if !output.status.success() {
        let told = String::from_utf8_lossy(&output.stderr);
        return Err(Failure::new(format!("`{}` failed ({}):\n{told}", shown(command), output.status), fix));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Whether a program can be started and is content. Used to look for tools, so its output is of no interest.
pub(crate) fn succeeds(words: &[&str]) -> bool {
    let Some((program, arguments)) = words.split_first() else { return false };
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Hands each line of standard output to `each` as it comes. Whether the program succeeded is the answer.
pub(crate) fn each_line(command: &mut Command, mut each: impl FnMut(&str)) -> Result<bool, Failure> {
    let mut child =
        command.stdout(Stdio::piped()).spawn().map_err(|problem| not_started(command, &problem))?;
    if let Some(output) = child.stdout.take() {
        // A test may print any bytes.
        for line in BufReader::new(output).split(b'\n').map_while(Result::ok) {
            each(&String::from_utf8_lossy(&line));
        }
    }
    let status = child.wait().map_err(|problem| not_started(command, &problem))?;
    Ok(status.success())
}

fn not_started(command: &Command, problem: &std::io::Error) -> Failure {
    let program = command.get_program().to_string_lossy().into_owned();
    Failure::new(format!("`{program}` could not be started: {problem}"), format!("Install `{program}`."))
}

/// Program name and arguments, as one would type them.
fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let words = std::iter::once(program).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}
