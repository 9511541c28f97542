//! How much memory of a process is resident, in the kernel's words.

use std::fs;
use std::path::Path;

use crate::failure::Failure;

/// `VmRSS` of a process, in bytes.
pub(crate) fn resident(process: u32) -> Result<u64, Failure> {
    let path = format!("/proc/{process}/status");
    let path = Path::new(&path);
    let status = fs::read_to_string(path).map_err(Failure::disk(path))?;
    parse(&status).ok_or_else(|| Failure::wrong("the kernel", "does not tell VmRSS", &status))
}

fn parse(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resident_memory_is_read_from_the_kernels_words() {
        assert_eq!(parse("Name:\tx\nVmRSS:\t   12340 kB\nVmData:\t1 kB\n"), Some(12_636_160));
        assert_eq!(parse("Name:\tx\n"), None);
    }
}
