//! The settings of a target.

/// All of them with examples. `situations` are those that bring the drive into a situation.
pub(crate) fn settings(situations: &str) -> String {
    format!(
        "state=new, state=used, fill=0..1, deleted=0..1 (share of that which was deleted without TRIM), \
         trim=on, trim=off, cache=on, cache=off, age=90d, data=on, memory=8GiB, busy=100 (IOPS of another \
         program), outliers=1000 (one of so many I/Os takes 50 ms longer), throttle=0.2 (of the link's rate, \
         for 1 s of every 4 s), {situations} and facts=off (the system reports nothing about it)"
    )
}
