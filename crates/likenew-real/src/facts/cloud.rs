//! What a cloud volume reports of its limits.

use likenew_core::facts::{Cloud, Counts, Fact};

use super::machine_query::Question;
use super::subject::Subject;
use crate::standards::nvme::AmazonVolumeLog;
use crate::wording::facts as wording;

/// Amazon's log of a volume's performance.
const AMAZON: Question = Question::NvmeLog(0xD0, 4096);

/// Words of models by which volumes of clouds are known.
const MODELS: [(&str, &str); 6] = [
    ("Amazon Elastic Block Store", "AWS EBS"),
    ("Amazon EC2 NVMe Instance Storage", "AWS instance store"),
    ("PersistentDisk", "Google persistent disk"),
    ("nvme_card-pd", "Google persistent disk"),
    ("nvme_card", "Google local SSD"),
    ("Microsoft NVMe Direct Disk", "Azure local SSD"),
];

/// What is known of it; nothing where the model is that of no cloud.
pub(crate) fn cloud(subject: &Subject<'_>, model: &Fact<String>, counts: &mut Counts) -> Option<Cloud> {
    let name = model.value()?;
    let (_, volume) = MODELS.iter().find(|(word, _)| name.contains(word))?;
    let volume = model.clone().map(|_| (*volume).to_owned());
    if !name.starts_with("Amazon") {
        return Some(Cloud { volume, ..Cloud::default() });
    }
    let log = subject.query(AMAZON).and_then(wording::NOT_A_VOLUME_PAGE, |log| {
        AmazonVolumeLog(&log).describes_a_volume().then_some(log)
    });
    let number = |field: fn(AmazonVolumeLog<'_>) -> Option<u64>| {
        log.clone().and_then(wording::SHORT_PAGE, |log| field(AmazonVolumeLog(&log)))
    };
    counts.volume_iops_exceeded_us = number(|log| log.volume_exceeded_us().0);
    counts.volume_throughput_exceeded_us = number(|log| log.volume_exceeded_us().1);
    counts.instance_iops_exceeded_us = number(|log| log.instance_exceeded_us().0);
    counts.instance_throughput_exceeded_us = number(|log| log.instance_exceeded_us().1);
    Some(Cloud { volume, queue_length: number(|log| log.queue_length()) })
}
