//! What the processors of this machine do.

use std::fs;

use likenew_core::units::Nanos;

/// Where the kernel counts it (proc_stat(5)).
const STAT: &str = "/proc/stat";
/// Of the first line, the fields of time in the kernel: on behalf of programs and its own threads, in
/// interrupts, and in what they put off.
const KERNEL: [usize; 3] = [3, 6, 7];

/// Time that all processors together have spent in the kernel since it started, in steps of a tick, mostly 10 ms.
pub(crate) fn kernel_time() -> Option<Nanos> {
    parse(&fs::read_to_string(STAT).ok()?, rustix::param::clock_ticks_per_second())
}

pub(crate) fn parse(text: &str, ticks_per_s: u64) -> Option<Nanos> {
    let fields: Vec<&str> = text.lines().find(|line| line.starts_with("cpu "))?.split_whitespace().collect();
    let ticks: Option<Vec<u64>> = KERNEL.into_iter().map(|at| fields.get(at)?.parse().ok()).collect();
    let tick_ns = 1_000_000_000_u64.checked_div(ticks_per_s)?;
    ticks?.into_iter().try_fold(0_u64, u64::checked_add)?.checked_mul(tick_ns).map(Nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_waiting_and_idling_do_not_count() {
        let text = "cpu  9000 100 120 80000 500 7 3 11 0 0\ncpu0 9000 100 120 80000 500 7 3 11 0 0\nintr 1\n";
        assert_eq!(parse(text, 100), Some(Nanos::from_millis(1300)));
        for text in ["", "cpu0 1 2 3 4 5 6 7", "cpu  1 2 3 4", "cpu  1 2 x 4 5 6 7"] {
            assert_eq!(parse(text, 100), None, "{text}");
        }
        assert_eq!(parse(text, 0), None);
    }

    #[test]
    fn it_never_goes_back() {
        let first = kernel_time().expect("Linux counts it");
        assert!(kernel_time().unwrap() >= first && first > Nanos::ZERO);
    }
}
