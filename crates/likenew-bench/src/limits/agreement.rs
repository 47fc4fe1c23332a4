//! Results of likenew and fio on a device with a latency of its own.

use std::path::Path;

use likenew_core::drive::Drive;

use super::{Goal, Options, print_row};
use crate::engine::{SERVED_FILE, Turns, agreement_cases, on_served_file};
use crate::fio::Setting;
use crate::spread::spread;

pub(super) fn measure(options: &Options) -> anyhow::Result<()> {
    on_served_file(&mut |drive: &mut dyn Drive, path: &Path| {
        for case in agreement_cases() {
            let turns =
                Turns::take(drive, path, &case, options.device_rounds, options.seconds, Setting::default())?;
            let control = spread(&turns.controls(|measured| measured.bytes_per_s));
            print_row(
                &format!("{} on {SERVED_FILE}: bandwidth / fio's", case.name()),
                &turns.ratios(|measured| measured.bytes_per_s),
                "",
                Some(Goal::Within(0.97, 1.03)),
                &format!("fio / fio {control}"),
            );
        }
        Ok(())
    })
}
