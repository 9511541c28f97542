//! The log of a server: lines for operators, to standard error, standard output or a file (`log.*`).

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use rustix::fs::OFlags;
use serde_json::{Map, Value};
use vambrace_audit::{Clock as _, SystemClock, rfc3339};
use vambrace_config::section::{LogFormat, LogLevel};
use vambrace_config::{Loaded, Origin};
use vambrace_runtime::{Level, Log, LogLine};
use vambrace_server::wire::value_of;
use vambrace_types::Tree;

use super::Exit;
use super::start::usage;
use crate::terminal;

/// LIMIT: of lines that wait for a slow reader; more are counted and left out.
const MOST_WAITING: usize = 1024;
/// How long the end waits for the last lines.
const LAST_LINES: Duration = Duration::from_secs(1);

pub(crate) struct LineLog {
    level: Level,
    format: LogFormat,
    lines: SyncSender<Message>,
    left_out: AtomicU64,
}

enum Message {
    Line(String),
    /// Answered when everything before it is written.
    Flush(SyncSender<()>),
}

impl LineLog {
    pub(crate) fn open(loaded: &Loaded) -> Result<LineLog, Exit> {
        let settings = &loaded.config.log;
        // Standard output says where we listen and nothing else, unless somebody asks for more.
        let is_chosen = loaded.origins.of("log.output_path") != Origin::Default;
        let out: Box<dyn Write + Send> = match settings.output_path.as_str() {
            "stdout" if is_chosen => Box::new(std::io::stdout()),
            "stdout" | "stderr" => Box::new(std::io::stderr()),
            path => {
                // Wherever we stand later.
                let whole = std::path::absolute(path).unwrap_or_else(|_| path.into());
                Box::new(LogFile::open(whole).map_err(|error| {
                    usage(&format!("log.output_path: `{path}` cannot be written: {error}"))
                })?)
            }
        };
        let level = match settings.level {
            LogLevel::Error => Level::Error,
            LogLevel::Warn => Level::Warn,
            LogLevel::Info => Level::Info,
            LogLevel::Debug | LogLevel::Trace => Level::Debug,
        };
        let (lines, waiting) = sync_channel(MOST_WAITING);
        std::thread::spawn(move || write(&waiting, out));
        Ok(LineLog { level, format: settings.format, lines, left_out: AtomicU64::new(0) })
    }

    /// Waits a moment until everything is written.
    pub(crate) fn flush(&self) {
        let (done, written) = sync_channel(1);
        if self.lines.send(Message::Flush(done)).is_ok() {
            let _ = written.recv_timeout(LAST_LINES);
        }
    }
}

/// A file that is exchanged now and then: whoever keeps old logs renames it, and the next line goes to a new one.
struct LogFile {
    path: PathBuf,
    file: File,
}

impl LogFile {
    fn open(path: PathBuf) -> std::io::Result<LogFile> {
        let mut options = std::fs::OpenOptions::new();
        let file = options.append(true).create(true).mode(0o600).open(&path)?;
        Ok(LogFile { path, file })
    }

    /// A new file in the old one's place. THREAT: P07, where agents can put something there: a link would lead our lines,
    /// and their words in them, into another file of the operator's; a pipe would hold us.
    fn anew(&self) -> std::io::Result<LogFile> {
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let mut options = std::fs::OpenOptions::new();
        options.append(true).create(true).mode(0o600).custom_flags(flags.bits().cast_signed());
        let file = options.open(&self.path)?;
        if !file.metadata()?.is_file() {
            return Err(std::io::ErrorKind::InvalidInput.into());
        }
        Ok(LogFile { path: self.path.clone(), file })
    }

    fn is_in_its_place(&self) -> bool {
        let (Ok(open), Ok(there)) = (self.file.metadata(), std::fs::metadata(&self.path)) else {
            return false;
        };
        (open.dev(), open.ino()) == (there.dev(), there.ino())
    }
}

impl Write for LogFile {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        // A place that cannot be written any more leaves the old file: a line in the wrong one is better than none.
        if !self.is_in_its_place()
            && let Ok(new) = self.anew()
        {
            *self = new;
        }
        self.file.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.file.flush()
    }
}

fn write(waiting: &Receiver<Message>, mut out: Box<dyn Write + Send>) {
    for message in waiting {
        // A reader that went away is no error of ours.
        match message {
            Message::Line(line) => {
                let _ = out.write_all(line.as_bytes());
            }
            Message::Flush(done) => {
                let _ = out.flush();
                let _ = done.send(());
            }
        }
    }
}

impl Log for LineLog {
    fn line(&self, line: &LogLine) {
        if !self.wants(line.level) {
            return;
        }
        let n_left_out = self.left_out.swap(0, Ordering::Relaxed);
        let time = rfc3339(SystemClock.now());
        let text = match self.format {
            LogFormat::Json => json(&time, line, n_left_out),
            LogFormat::Console => console(&time, line, n_left_out),
        };
        if self.lines.try_send(Message::Line(text)).is_err() {
            self.left_out.fetch_add(n_left_out + 1, Ordering::Relaxed);
        }
    }

    fn wants(&self, level: Level) -> bool {
        level >= self.level
    }
}

fn json(time: &str, line: &LogLine, n_left_out: u64) -> String {
    let mut object = Map::new();
    object.insert("time".to_owned(), Value::from(time));
    object.insert("level".to_owned(), Value::from(line.level.as_str()));
    object.insert("message".to_owned(), Value::from(line.message.as_str()));
    for (name, value) in &line.fields {
        object.insert((*name).to_owned(), value_of(value.as_tree()));
    }
    if n_left_out > 0 {
        object.insert("lines_left_out".to_owned(), Value::from(n_left_out));
    }
    format!("{}\n", Value::Object(object))
}

fn console(time: &str, line: &LogLine, n_left_out: u64) -> String {
    let message = terminal::one_line(line.message.as_str());
    let mut text = format!("{time} {:<5} {message}", line.level.as_str().to_uppercase());
    for (name, value) in &line.fields {
        let value = match value.as_tree() {
            Tree::Text(value) if is_plain(value) => value.clone(),
            other => terminal::one_line(&other.to_json()),
        };
        text.push_str(&format!(" {name}={value}"));
    }
    if n_left_out > 0 {
        text.push_str(&format!(" lines_left_out={n_left_out}"));
    }
    text.push('\n');
    text
}

/// Whether it is one word that needs no quotes. THREAT: P03, a path that looks like another field.
fn is_plain(value: &str) -> bool {
    !value.is_empty() && value.chars().all(|c| c.is_ascii_graphic() && !matches!(c, '"' | '=' | '\\'))
}

#[cfg(test)]
mod tests {
    use vambrace_redact::{RedactedText, RedactedTree, Redactor, RedactorSettings};

    use super::*;

    fn field(value: &str) -> RedactedTree {
        Redactor::new(RedactorSettings::default()).unwrap().plain_tree(Tree::text(value)).value
    }

    fn line(path: &str) -> LogLine {
        LogLine {
            level: Level::Warn,
            message: RedactedText::fixed("Invalid API key attempt"),
            fields: vec![("client_ip", field("192.0.2.1")), ("path", field(path))],
        }
    }

    #[track_caller]
    fn check(path: &str, expected: &str) {
        let text = console("T", &line(path), 0);
        assert_eq!(text, format!("T WARN  Invalid API key attempt client_ip=192.0.2.1 path={expected}\n"));
    }

    #[test]
    fn a_field_stays_in_its_place() {
        check("/api/tools", "/api/tools");
        check("/a level=info", "\"/a level=info\"");
        check("/a\"b", r#""/a\"b""#);
        check("/a\nT WARN forged", r#""/a\nT WARN forged""#);
        check("", "\"\"");
    }

    #[test]
    fn a_file_that_was_renamed_or_deleted_is_followed_by_a_new_one() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("agent.log");
        let mut log = LogFile::open(path.clone()).unwrap();
        let text = |name: &str| std::fs::read_to_string(dir.path().join(name)).unwrap();
        log.write_all(b"one\n").unwrap();
        std::fs::rename(&path, dir.path().join("agent.log.1")).unwrap();
        log.write_all(b"two\n").unwrap();
        assert_eq!((text("agent.log.1").as_str(), text("agent.log").as_str()), ("one\n", "two\n"));
        std::fs::remove_file(&path).unwrap();
        log.write_all(b"three\n").unwrap();
        assert_eq!(text("agent.log"), "three\n");
        // Nowhere to go: the old one is kept.
        std::fs::remove_file(&path).unwrap();
        std::fs::create_dir(&path).unwrap();
        log.write_all(b"four\n").unwrap();
        // Nor where somebody else wants us to go.
        std::fs::remove_dir(&path).unwrap();
        std::fs::write(dir.path().join("other"), "").unwrap();
        std::os::unix::fs::symlink(dir.path().join("other"), &path).unwrap();
        log.write_all(b"five\n").unwrap();
        assert_eq!(text("other"), "");
    }

    #[test]
    fn json_is_one_object_a_line() {
        let text = json("T", &line("/a\n\"b"), 3);
        assert_eq!(text.lines().count(), 1);
        let value: Value = vambrace_json::own_line(text.as_bytes()).unwrap();
        assert_eq!(value["message"], "Invalid API key attempt");
        assert_eq!(value["lines_left_out"], 3);
        assert_eq!(value["path"], "/a\n\"b");
    }
}
