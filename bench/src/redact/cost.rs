//! What a program costs: the time on the clock, and the time of processors that it and its children used.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use crate::failure::Failure;
use crate::measure::median;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Cost {
    pub(super) cpu: Duration,
    pub(super) wall: Duration,
}

impl Cost {
    /// MB for a second of a processor.
    pub(super) fn per_cpu(self, n_bytes: usize) -> f64 {
        rate(n_bytes, self.cpu)
    }

    pub(super) fn per_wall(self, n_bytes: usize) -> f64 {
        rate(n_bytes, self.wall)
    }

    pub(super) fn less(self, other: Cost) -> Cost {
        Cost { cpu: self.cpu.saturating_sub(other.cpu), wall: self.wall.saturating_sub(other.wall) }
    }

    /// The middle of each, for itself.
    pub(super) fn middle(costs: &[Cost]) -> Cost {
        let of = |part: fn(&Cost) -> Duration| {
            median(&costs.iter().map(part).collect::<Vec<_>>()).unwrap_or_default()
        };
        Cost { cpu: of(|cost| cost.cpu), wall: of(|cost| cost.wall) }
    }
}

fn rate(n_bytes: usize, time: Duration) -> f64 {
    if time.is_zero() { 0.0 } else { n_bytes as f64 / 1e6 / time.as_secs_f64() }
}

/// Runs a program to its end.
pub(super) fn of_command(who: &str, command: &mut Command) -> Result<(ExitStatus, Cost), Failure> {
    let (before, start) = (of_children()?, Instant::now());
    let mut child = command.spawn().map_err(Failure::start(who))?;
    let status = wait(who, &mut child)?;
    let wall = start.elapsed();
    Ok((status, Cost { cpu: of_children()?.saturating_sub(before), wall }))
}

pub(super) fn wait(who: &str, child: &mut Child) -> Result<ExitStatus, Failure> {
    child.wait().map_err(|problem| Failure::wrong(who, "was lost", &problem.to_string()))
}

/// What the thread that calls does by itself.
pub(super) fn of_work<T>(work: impl FnOnce() -> T) -> Result<(T, Cost), Failure> {
    let (before, start) = (of_thread()?, Instant::now());
    let done = work();
    let wall = start.elapsed();
    Ok((done, Cost { cpu: of_thread()?.saturating_sub(before), wall }))
}

/// All children that have ended and were waited for, with theirs. LIMIT: the kernel tells it in ticks, of a hundredth of
/// a second, so what is measured has to take a good part of one.
fn of_children() -> Result<Duration, Failure> {
    let stat = read("/proc/self/stat")?;
    parse_children(&stat, rustix::param::clock_ticks_per_second())
        .ok_or_else(|| Failure::wrong("the kernel", "does not tell our children's time", &stat))
}

/// Fields 16 and 17. The second field is a name, in brackets, and may hold anything.
fn parse_children(stat: &str, ticks_per_second: u64) -> Option<Duration> {
    let fields = stat.rsplit_once(')')?.1;
    let mut fields = fields.split_whitespace().skip(13).map(|field| field.parse::<u64>().ok());
    let ticks = fields.next()?? + fields.next()??;
    Some(Duration::from_millis(ticks * 1000 / ticks_per_second.max(1)))
}

fn of_thread() -> Result<Duration, Failure> {
    let stat = read("/proc/thread-self/schedstat")?;
    let nanos = stat.split_whitespace().next().and_then(|field| field.parse().ok());
    nanos
        .map(Duration::from_nanos)
        .ok_or_else(|| Failure::wrong("the kernel", "does not tell our time", &stat))
}

/// The most memory that a process that still runs has had at once, in bytes.
pub(super) fn peak(process: u32) -> Result<u64, Failure> {
    let status = read(&format!("/proc/{process}/status"))?;
    parse_peak(&status).ok_or_else(|| Failure::wrong("the kernel", "does not tell VmHWM", &status))
}

fn parse_peak(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}

fn read(path: &str) -> Result<String, Failure> {
    fs::read_to_string(path).map_err(Failure::disk(Path::new(path)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_memory_are_read_from_the_kernels_words() {
        let stat = "12 (a b) c) S 1 2 3 4 5 6 7 8 9 10 501 502 120 30 20 0 1";
        assert_eq!(parse_children(stat, 100), Some(Duration::from_millis(1500)));
        assert_eq!(parse_children("12 (a) S 1", 100), None);
        assert_eq!(parse_peak("VmPeak:\t 9 kB\nVmHWM:\t   2000 kB\n"), Some(2_048_000));
        assert_eq!(parse_peak(""), None);
    }

    #[test]
    fn a_rate_is_bytes_by_time() {
        let cost = Cost { cpu: Duration::from_millis(500), wall: Duration::from_secs(2) };
        assert_eq!((cost.per_cpu(100_000_000), cost.per_wall(100_000_000)), (200.0, 50.0));
        assert_eq!(Cost::default().per_cpu(1), 0.0);
        assert_eq!(Cost::middle(&[cost, Cost::default(), cost]), cost);
    }

    #[test]
    fn a_child_that_works_costs_time() {
        let mut command = Command::new("sh");
        command.args(["-c", "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done"]);
        let (status, cost) = of_command("sh", &mut command).unwrap();
        assert!(status.success() && cost.wall > Duration::ZERO);
        let (sum, cost) = of_work(|| (0..1_000_000_u64).map(std::hint::black_box).sum::<u64>()).unwrap();
        assert!(sum > 0 && cost.cpu > Duration::ZERO);
    }
}
