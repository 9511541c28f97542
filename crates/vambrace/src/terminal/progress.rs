//! One line on a terminal that says how far we are. It is gone when the work is done, and was never there for a pipe.

use std::io::{IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

/// LIMIT: at most ten times a second; a terminal over a slow line takes no more.
const PAUSE: Duration = Duration::from_millis(100);
const WIDTH: usize = 24;

pub(crate) struct Progress {
    shown: bool,
    visible: bool,
    /// When the work began, and when the line was drawn last.
    begun: Instant,
    drawn: Option<Instant>,
}

impl Progress {
    /// Draws when a person looks at standard error and did not ask for silence.
    pub(crate) fn new(wanted: bool) -> Progress {
        let shown = wanted && std::io::stderr().is_terminal();
        Progress { shown, visible: false, begun: Instant::now(), drawn: None }
    }

    /// Draws the line if it is time to. `text` is asked for only then, with the time since the beginning.
    pub(crate) fn tell(&mut self, text: impl FnOnce(Duration) -> String) {
        let now = Instant::now();
        let too_soon = self.drawn.is_some_and(|drawn| now.duration_since(drawn) < PAUSE);
        if !self.shown || too_soon {
            return;
        }
        self.drawn = Some(now);
        self.visible = true;
        let line = text(now.duration_since(self.begun));
        let mut err = std::io::stderr().lock();
        let _ = write!(err, "\r\x1b[K{line}").and_then(|()| err.flush());
    }

    /// Takes the line away, so that something else can be said.
    pub(crate) fn clear(&mut self) {
        if std::mem::take(&mut self.visible) {
            let mut err = std::io::stderr().lock();
            let _ = err.write_all(b"\r\x1b[K").and_then(|()| err.flush());
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}

/// `[########                ]  33 %   210.4 MB/s   12 secrets`
pub(crate) fn bar(done: u64, total: u64, time: Duration, n_secrets: usize) -> String {
    let share = if total == 0 { 1.0 } else { (done as f64 / total as f64).min(1.0) };
    let n_full = (share * WIDTH as f64) as usize;
    let (full, empty) = ("#".repeat(n_full), " ".repeat(WIDTH - n_full.min(WIDTH)));
    let rate = speed(done, time);
    let plural = if n_secrets == 1 { "" } else { "s" };
    format!("[{full}{empty}] {:>3.0} %  {rate:>7.1} MB/s  {n_secrets} secret{plural}", share * 100.0)
}

pub(crate) fn speed(bytes: u64, time: Duration) -> f64 {
    bytes as f64 / 1e6 / time.as_secs_f64().max(1e-3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(done: u64, total: u64, expected: &str) {
        assert_eq!(bar(done, total, Duration::from_secs(2), 1), expected);
    }

    #[test]
    fn a_bar_never_leaves_its_frame() {
        check(0, 100_000_000, "[                        ]   0 %      0.0 MB/s  1 secret");
        check(50_000_000, 100_000_000, "[############            ]  50 %     25.0 MB/s  1 secret");
        check(90_000_000, 80_000_000, "[########################] 100 %     45.0 MB/s  1 secret"); // it grew meanwhile
        check(0, 0, "[########################] 100 %      0.0 MB/s  1 secret");
    }
}
