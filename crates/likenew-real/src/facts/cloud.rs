//! What a cloud volume reports of its limits.

use likenew_core::facts::{Cloud, Counts, Fact};

use super::machine_query::Question;
use super::subject::Subject;
use crate::standards::bytes::little;
use crate::wording::facts as wording;

/// Amazon's log page of performance, and the words that it begins with for a volume of EBS and for a drive of
/// the machine itself (nvme-cli, `plugins/amzn`; Amazon EBS user guide, "Amazon EBS detailed performance
/// statistics").
const AMAZON: Question = Question::NvmeLog(0xD0, 4096);
const EBS: u64 = 0x3C23_B510;
const INSTANCE_STORE: u64 = 0xEC2C_0D7E;

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
        matches!(little(&log, 0, 4)?, EBS | INSTANCE_STORE).then_some(log)
    });
    let number = |at: usize| log.clone().and_then(wording::SHORT_PAGE, |log| little(&log, at, 8));
    counts.volume_iops_exceeded_us = number(56);
    counts.volume_throughput_exceeded_us = number(64);
    counts.instance_iops_exceeded_us = number(72);
    counts.instance_throughput_exceeded_us = number(80);
    Some(Cloud { volume, queue_length: number(88) })
}
