//! Every option of fio 3.33, by what it means for a workload.
//!
//! A workload expresses some of them. Others only say how fio names and makes files, draws addresses, reports or logs.
//! The rest changes what the drive is asked for, so that a reader has to know of it; so may options that are in no list,
//! such as those of engines.

/// A workload expresses these.
const EXPRESSED: &str = "\
ba bs bssplit buffer_compress_chunk buffer_compress_percentage buffered direct end_fsync invalidate
io_size iodepth ioengine kb_base number_ios numjobs offset offset_increment random_distribution
randseed rate rate_iops rate_process runtime rw rwmixread rwmixwrite size time_based zero_buffers";

/// These leave the drive's work as it is.
const NEUTRAL: &str = "\
allow_file_create allow_mounted_write allrandrepeat block_error_percentiles bwavgtime
clat_percentiles clocksource create_fsync create_on_open create_serialize description directory
disable_bw_measurement disable_clat disable_lat disable_slat disk_util error_dump eta fallocate
filename filename_format gid group_reporting gtod_cpu gtod_reduce iopsavgtime lat_percentiles
log_alternate_epoch log_alternate_epoch_clock_id log_avg_msec log_compression log_compression_cpus
log_entries log_hist_coarseness log_hist_msec log_max_value log_offset log_prio log_store_compressed
log_unix_epoch name new_group norandommap per_job_logs percentile_list randrepeat refill_buffers
replay_align replay_no_stall replay_redirect replay_scale replay_skip replay_time_scale
scramble_buffers significant_figures slat_percentiles stats stonewall thread uid
unified_rw_reporting unique_filename unit_base unlink verify_dump verify_state_save write_bw_log
write_hist_log write_iops_log write_lat_log";

/// These change it, unless they have the value that is given here.
const CHANGING: &str = "\
atomic=0 bs_unaligned=0 bsrange buffer_pattern cgroup cgroup_nodelete=0 cgroup_weight=0
continue_on_error=none cpumask cpus_allowed cpus_allowed_policy create_only=0 dedupe_global=0
dedupe_mode=repeat dedupe_percentage=0 dedupe_working_set_percentage=5 do_verify=1 exec_postrun
exec_prerun exit_what=group exitall=0 exitall_on_error=0 experimental_verify=0 fadvise_hint=1
fdatasync=0 file_append=0 file_service_type=roundrobin filesize=0 fill_device=0 flow=0 flow_id
flow_sleep=0 fsync=0 fsync_on_close=0 hugepage-size ignore_error ignore_zone_limits=0
io_submit_mode=inline iodepth_batch=1 iodepth_batch_complete_max=0 iodepth_batch_complete_min=1
iodepth_low=0 ioscheduler job_max_open_zones=0 latency_percentile=100 latency_run=0 latency_target=0
latency_window=0 lockfile=none lockmem=0 loops=1 max_latency=0 max_open_zones=0 mem=malloc
merge_blktrace_file merge_blktrace_iters merge_blktrace_scalars nice=0 nrfiles=1 numa_cpu_nodes
numa_mem_policy offset_align=0 opendir openfiles=0 overwrite=0 percentage_random=100 pre_read=0 prio
prioclass=0 profile ramp_time=0 random_generator=tausworthe rate_cycle=1000 rate_ignore_thinktime=0
rate_iops_min=0 rate_min=0 read_beyond_wp=0 read_iolog read_iolog_chunked=0 rw_sequencer=sequential
serialize_overlap=0 startdelay=0 steadystate steadystate_duration=0 steadystate_ramp_time=0
sync=none sync_file_range thinktime=0 thinktime_blocks=1 thinktime_blocks_type=complete
thinktime_iotime=0 thinktime_spin=0 trim_backlog=0 trim_backlog_batch=0 trim_percentage=0
trim_verify_zero=1 unlink_each_loop=0 verify=0 verify_async=0 verify_backlog=0
verify_backlog_batch=0 verify_fatal=0 verify_interval=0 verify_offset=0 verify_only=0 verify_pattern
verify_state_load=0 wait_for write_barrier=0 write_hint=0 write_iolog zone_reset_frequency=0
zone_reset_threshold=0 zonecapacity=0 zonemode=none zonerange=0 zonesize=0 zoneskip=0";

/// Options by their other names.
const ALIASES: &str = "\
blockalign=ba blocksize=bs blocksize_range=bsrange blocksize_unaligned=bs_unaligned
disable_bw=disable_bw_measurement fileoffset=offset fill_fs=fill_device io_limit=io_size
iodepth_batch_complete=iodepth_batch_complete_min iodepth_batch_submit=iodepth_batch iomem=mem
nr_files=nrfiles ratecycle=rate_cycle ratemin=rate_min readwrite=rw ss=steadystate
ss_dur=steadystate_duration ss_ramp=steadystate_ramp_time timeout=runtime
wait_for_previous=stonewall";

/// The name under which fio lists an option.
pub(crate) fn canonical(option: &str) -> &str {
    let aliases = ALIASES.split_whitespace().filter_map(|pair| pair.split_once('='));
    aliases.into_iter().find(|(alias, _)| *alias == option).map_or(option, |(_, name)| name)
}

/// Whether an option changes what the drive is asked for in a way that no workload expresses.
pub(crate) fn is_changing(option: &str, value: &str) -> bool {
    let known = [EXPRESSED, NEUTRAL].into_iter().flat_map(str::split_whitespace);
    let mut harmless = CHANGING.split_whitespace().filter_map(|pair| pair.split_once('='));
    let does_nothing =
        |(name, off): (&str, &str)| name == option && (value == off || (off, value) == ("none", "0"));
    known.into_iter().all(|known| known != option) && !harmless.any(does_nothing)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The options that the installed fio lists, by their canonical names, and not the ends of long lines.
    fn listed() -> Vec<String> {
        let out = std::process::Command::new("fio").arg("--cmdhelp").output().expect("fio is installed");
        let text = String::from_utf8(out.stdout).unwrap();
        let names = text.lines().filter_map(|line| line.split_once(':')?.0.split_whitespace().next());
        names.map(str::to_owned).collect()
    }

    #[test]
    fn every_option_of_fio_is_in_one_list() {
        let lists = [EXPRESSED, NEUTRAL, CHANGING].map(|list| {
            let names = list.split_whitespace();
            names.map(|entry| entry.split('=').next().unwrap_or_default()).collect::<Vec<_>>()
        });
        let listed = listed();
        assert!(listed.len() > 200, "{listed:?}");
        for option in &listed {
            let count = lists.iter().flatten().filter(|name| *name == option).count();
            assert_eq!(count, 1, "{option}");
        }
        for pair in ALIASES.split_whitespace() {
            let (alias, option) = pair.split_once('=').unwrap();
            assert!(listed.iter().any(|name| name == option) && canonical(alias) == option, "{pair}");
        }
    }

    #[test]
    fn only_what_changes_the_work_is_named() {
        for (option, value, is_named) in [
            ("bs", "4k", false),
            ("write_lat_log", "out", false),
            ("thinktime", "0", false),
            ("thinktime", "5us", true),
            ("sync", "0", false),
            ("cpus_allowed", "0", true),
            ("random_generator", "lfsr", true),
            ("fixedbufs", "1", true),
            ("an_option_to_come", "1", true),
        ] {
            assert_eq!(is_changing(option, value), is_named, "{option}={value}");
        }
    }
}
