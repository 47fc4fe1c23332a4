//! Every cause on made-up cases: named where it is at work, alone and beside another, and never where nothing is wrong.

use likenew_core::facts::{
    Counts, Database, Drive, DriveKind, DriveSince, Fact, Facts, FileSystem, Files, Health, HostMemory,
    Identity, Layer, LayerKind, Link, Power, Trimming,
};
use likenew_diagnosis::{
    ALL, Case, Diagnosis, Figure, Kind, Origin, Overall, Reference, Risk, Sign, Signs, Site, Symptom,
    WriteDrop, by_name, cures, diagnose,
};

/// A target with what was measured of it.
#[derive(Clone)]
struct Target {
    signs: Signs,
    facts: Facts,
    since: DriveSince,
    references: Vec<Reference>,
}

fn known<T>(value: T) -> Fact<T> {
    Fact::known(value, "test")
}

fn sign(value: f64) -> Sign {
    Sign::within(value, 0.04)
}

const READ: f64 = 540e6;
const WRITE: f64 = 500e6;

/// A healthy drive of flash, of which everything is known.
fn healthy() -> Target {
    let layer = |name: &str, kind| Layer {
        name: name.into(),
        kind,
        takes_trim: known(true),
        start_bytes: known(1 << 20),
        write_cache: known("write back".to_owned()),
        ..Layer::default()
    };
    let drive = Drive {
        name: "sda".into(),
        kind: DriveKind::Sata,
        identity: Identity {
            rotation_rpm: known(0),
            virtual_by: known(None),
            knows_trim: known(true),
            ..Identity::default()
        },
        link: Link {
            driver: known("ahci".to_owned()),
            ceiling_bytes_per_s: known(600_000_000),
            possible_bytes_per_s: known(600_000_000),
            ..Link::default()
        },
        power: Power { link_policy: known("max_performance".to_owned()), ..Power::default() },
        health: Health {
            temperature_c: known(40.0),
            temperature_warning_c: known(70.0),
            used_percent: known(3.0),
            spare_percent: known(100.0),
            pending_sectors: known(0),
            failing: known(false),
            ..Health::default()
        },
        counts: Counts { reallocated_sectors: known(0), crc_errors: known(0), ..Counts::default() },
        database: Database { warning: known(None), ..Database::default() },
        ..Drive::default()
    };
    let facts = Facts {
        stack: vec![
            layer("/", LayerKind::FileSystem),
            layer("sda1", LayerKind::Partition),
            layer("sda", LayerKind::Disk),
        ],
        file_system: Some(FileSystem {
            point: "/".into(),
            used_percent: known(50.0),
            trimming: Trimming { at_once: known(true), ..Trimming::default() },
            ..FileSystem::default()
        }),
        drives: vec![drive],
        files: Some(Files {
            extents_per_mib: known(0.9),
            inode_age_s_p90: known(100 * 86_400),
            ..Files::default()
        }),
        ..Facts::default()
    };
    let since = DriveSince {
        name: "sda".into(),
        counts: Counts {
            crc_errors: known(0),
            log_resets: known(0),
            throttled_light_s: known(0),
            ..Counts::default()
        },
        ..DriveSince::default()
    };
    let signs = Signs {
        figures: vec![
            (Figure::ReadInOrder, sign(READ)),
            (Figure::WriteInOrder, sign(WRITE)),
            (Figure::ReadAnywhere, sign(10_000.0)),
            (Figure::WriteAnywhere, sign(30_000.0)),
            (Figure::ReadAnywhereDeep, sign(90_000.0)),
        ],
        access_ns: Some(sign(100e3)),
        fresh_over_old: Some(sign(1.02)),
        median_over_slowest: Some(sign(1.05)),
        first_over_last: Some(sign(1.0)),
        again_over_first: Some(sign(1.01)),
        wide_over_narrow: Some(sign(1.05)),
        deep_over_single: Some(sign(9.0)),
        paused_over_busy: Some(sign(1.05)),
        aligned_over_shifted: Some(sign(0.6)),
        zeros_over_random: Some(sign(1.0)),
        rested_over_tired: Some(sign(1.02)),
        trimmed_over_rested: Some(sign(1.01)),
        written_evenly_bytes: Some(2e9),
        read_scatter: Some(sign(0.02)),
        cool_over_warm: Some(sign(1.01)),
        burst_over_flat: Some(sign(1.01)),
        others_share: Some(sign(0.002)),
        counted_over_read: Some(sign(1.0)),
        kernel_processors: Some(sign(0.2)),
        ..Signs::default()
    };
    let of = |figure, value| Reference { figure, origin: Origin::Advertised, value, repeatability: 0.0 };
    let references = vec![
        of(Figure::ReadInOrder, 550e6),
        of(Figure::WriteInOrder, 520e6),
        of(Figure::ReadAnywhere, 11_000.0),
        of(Figure::WriteAnywhere, 32_000.0),
        of(Figure::ReadAnywhereDeep, 95_000.0),
        Reference { figure: Figure::ReadInOrder, origin: Origin::Link, value: 600e6, repeatability: 0.0 },
    ];
    Target { signs, facts, since, references }
}

/// A disk that turns.
fn disk() -> Target {
    let mut target = healthy();
    target.signs.access_ns = Some(sign(13e6));
    target.facts.drives[0].identity.rotation_rpm = known(7200);
    target.facts.drives[0].identity.knows_trim = known(false);
    target.references.retain(|of| {
        !matches!(of.figure, Figure::ReadAnywhere | Figure::ReadAnywhereDeep | Figure::WriteAnywhere)
    });
    target
}

impl Target {
    fn diagnose(&self) -> Diagnosis {
        let Self { signs, facts, since, references } = self;
        diagnose(&Case { signs, facts: Some(facts), since: Some(since), references, usual: &[], site: None })
    }

    fn slower(&mut self, figure: Figure, times: f64) {
        let of = self.signs.figures.iter_mut().find(|(of, _)| *of == figure).unwrap();
        of.1 = sign(of.1.value / times);
    }

    fn drive(&mut self) -> &mut Drive {
        &mut self.facts.drives[0]
    }
}

/// A way to break a target.
type Break = fn(&mut Target);

fn virtual_(target: &mut Target) {
    target.drive().identity.virtual_by = known(Some("KVM".to_owned()));
    target.drive().kind = DriveKind::Virtual;
}

/// A cause, a target, and what sets it to work there.
type Broken = (&'static str, fn() -> Target, Break);

/// Each cause.
const BREAKS: &[Broken] = &[
    ("slc_cache", healthy, |t| {
        t.signs.write_drop = Some(WriteDrop {
            at_bytes: sign(6e9),
            ratio: sign(4.0),
            again_at_bytes: Some(sign(5e9)),
            at_half_rate: Some(sign(1.1)),
        });
    }),
    ("no_trim", healthy, |t| {
        t.slower(Figure::WriteInOrder, 3.0);
        t.slower(Figure::WriteAnywhere, 4.0);
        t.signs.trimmed_over_rested = Some(sign(2.7));
        t.facts.stack[1].takes_trim = known(false);
        t.facts.file_system.as_mut().unwrap().trimming =
            Trimming { at_once: known(false), timer_enabled: known(false), ..Trimming::default() };
    }),
    ("old_data", healthy, |t| {
        t.slower(Figure::ReadInOrder, 5.0);
        t.signs.fresh_over_old = Some(sign(5.0));
        t.signs.median_over_slowest = Some(sign(1.8));
    }),
    ("weak_zone", disk, |t| {
        t.signs.median_over_slowest = Some(sign(6.0));
        t.drive().health.pending_sectors = known(40);
    }),
    ("heat", healthy, |t| {
        t.signs.cool_over_warm = Some(sign(2.5));
        t.since.counts.throttled_light_s = known(9);
        t.drive().health.temperature_c = known(69.0);
    }),
    ("narrow_link", healthy, |t| {
        t.slower(Figure::ReadInOrder, 2.1);
        t.slower(Figure::WriteInOrder, 2.0);
        t.drive().link.ceiling_bytes_per_s = known(300_000_000);
    }),
    ("slow_usb", healthy, |t| {
        t.slower(Figure::ReadInOrder, 13.0);
        t.slower(Figure::WriteInOrder, 13.0);
        t.drive().kind = DriveKind::Usb;
        t.drive().link.ceiling_bytes_per_s = known(53_248_000);
        t.drive().link.possible_bytes_per_s = known(53_248_000);
        t.drive().link.driver = known("usb-storage".to_owned());
        t.signs.deep_over_single = Some(sign(1.02));
    }),
    ("host_memory", healthy, |t| {
        t.signs.wide_over_narrow = Some(sign(2.4));
        t.slower(Figure::ReadAnywhere, 2.2);
        t.drive().host_memory = Some(HostMemory {
            wanted_bytes: known(64 << 20),
            least_bytes: known(64 << 20),
            given_bytes: known(0),
            ..HostMemory::default()
        });
    }),
    ("encryption", healthy, |t| {
        t.slower(Figure::ReadInOrder, 4.0);
        t.slower(Figure::WriteInOrder, 4.0);
        t.slower(Figure::ReadAnywhereDeep, 2.7);
        t.signs.kernel_processors = Some(sign(0.99));
        t.facts.stack.insert(
            1,
            Layer {
                name: "dm-0".into(),
                kind: LayerKind::Crypt,
                takes_trim: known(true),
                ..Layer::default()
            },
        );
    }),
    ("token_bucket", healthy, |t| {
        virtual_(t);
        t.slower(Figure::ReadAnywhereDeep, 10.0);
        t.signs.burst_over_flat = Some(sign(8.0));
    }),
    ("lazy_volume", healthy, |t| {
        virtual_(t);
        t.slower(Figure::ReadInOrder, 10.0);
        t.signs.again_over_first = Some(sign(12.0));
        t.signs.access_ns = Some(sign(20e6));
    }),
    ("shingled", disk, |t| {
        t.signs.write_drop = Some(WriteDrop {
            at_bytes: sign(2e9),
            ratio: sign(9.0),
            again_at_bytes: None,
            at_half_rate: None,
        });
        t.drive().database.shingled = known(true);
    }),
    ("read_cache", healthy, |t| {
        t.signs.figures[0].1 = sign(3e9);
        t.signs.counted_over_read = Some(sign(0.1));
        t.signs.again_over_first = Some(sign(4.0));
    }),
    ("misalignment", healthy, |t| {
        t.slower(Figure::WriteAnywhere, 2.0);
        t.signs.aligned_over_shifted = Some(sign(1.9));
        t.facts.stack[1].start_bytes = known(63 * 512);
    }),
    ("fragmentation", disk, |t| {
        t.signs.fresh_over_old = Some(sign(6.0));
        t.facts.files.as_mut().unwrap().extents_per_mib = known(12.0);
        t.slower(Figure::ReadInOrder, 6.0);
    }),
    ("counterfeit", healthy, |t| t.signs.wrong_sectors = 8000),
    ("background_io", healthy, |t| {
        t.signs.others_share = Some(sign(0.8));
        t.signs.read_scatter = Some(sign(0.3));
        t.slower(Figure::ReadInOrder, 1.8);
    }),
    ("power_saving", healthy, |t| {
        t.signs.paused_over_busy = Some(sign(5.0));
        t.drive().power = Power { wake_us_max: known(100_000), ..Power::default() };
    }),
    ("nearly_full", healthy, |t| {
        t.facts.file_system.as_mut().unwrap().used_percent = known(99.0);
        t.slower(Figure::WriteInOrder, 3.0);
        t.slower(Figure::WriteAnywhere, 3.0);
    }),
    ("worn", healthy, |t| {
        t.drive().health = Health {
            used_percent: known(110.0),
            spare_percent: known(4.0),
            spare_threshold_percent: known(10.0),
            failing: known(true),
            ..Health::default()
        };
        t.slower(Figure::ReadInOrder, 2.0);
    }),
    ("write_cache_off", disk, |t| {
        t.facts.stack[2].write_cache = known("write through".to_owned());
        t.references.push(Reference {
            figure: Figure::WriteAnywhere,
            origin: Origin::Twin,
            value: 140.0,
            repeatability: 0.0,
        });
        t.signs.figures[3].1 = sign(60.0);
    }),
    ("compression", healthy, |t| {
        t.slower(Figure::WriteInOrder, 2.2);
        t.signs.zeros_over_random = Some(sign(2.2));
    }),
    ("link_errors", healthy, |t| {
        t.since.counts.crc_errors = known(50);
        t.drive().counts.crc_errors = known(5000);
        t.signs.stalled_share = Some(sign(0.3));
    }),
    ("degraded_array", healthy, |t| {
        t.facts.stack.insert(
            1,
            Layer {
                name: "md0".into(),
                kind: LayerKind::Array,
                takes_trim: known(true),
                members_missing: known(1),
                ..Layer::default()
            },
        );
        t.slower(Figure::ReadInOrder, 3.0);
    }),
    ("firmware", healthy, |t| {
        t.drive().database.warning = known(Some("may lose data; update".to_owned()));
        t.signs.stalled_share = Some(sign(0.2));
    }),
];

fn names(diagnosis: &Diagnosis) -> Vec<&'static str> {
    diagnosis.found.iter().map(|found| found.card.name).collect()
}

#[test]
fn every_cause_is_named_where_it_is_at_work_and_none_beside_it() {
    for (name, target, set_to_work) in BREAKS {
        let mut target = target();
        set_to_work(&mut target);
        let diagnosis = target.diagnose();
        assert_eq!(names(&diagnosis), [*name], "{diagnosis:#?}");
        assert!(diagnosis.open.is_empty(), "{name} explains everything: {:?}", diagnosis.open);
        let expected = match by_name(name).unwrap().card().kind {
            Kind::Drive => Overall::Fallen,
            Kind::NotTheDrive => Overall::NotTheDrive,
            Kind::ByDesign => Overall::ByDesign,
        };
        assert_eq!(diagnosis.overall, expected, "{name}");
    }
    let tried: Vec<&str> = BREAKS.iter().map(|(name, ..)| *name).collect();
    let missing: Vec<&str> =
        ALL.iter().map(|cause| cause.card().name).filter(|name| !tried.contains(name)).collect();
    assert!(missing.is_empty(), "{missing:?} were not tried");
}

#[test]
fn nothing_is_named_where_nothing_is_wrong() {
    for target in [healthy(), disk()] {
        let diagnosis = target.diagnose();
        assert!(
            diagnosis.found.is_empty() && diagnosis.open.is_empty() && diagnosis.latent.is_empty(),
            "{diagnosis:#?}"
        );
        assert_eq!(diagnosis.overall, Overall::AsNew);
    }
    let mut unknown = healthy();
    unknown.references.clear();
    assert_eq!(unknown.diagnose().overall, Overall::Sound);
    let case =
        Case { signs: &Signs::default(), facts: None, since: None, references: &[], usual: &[], site: None };
    let nothing = diagnose(&case);
    assert!(nothing.found.is_empty() && nothing.overall == Overall::Sound, "{nothing:#?}");
}

#[test]
fn two_causes_at_once_are_both_named() {
    let mut wrong = Vec::new();
    for (index, (one, target, first)) in BREAKS.iter().enumerate() {
        for (other, target_of_other, second) in &BREAKS[index + 1..] {
            let same_medium = target().signs.access_ns == target_of_other().signs.access_ns;
            let is_virtual = |name: &str| ["token_bucket", "lazy_volume"].contains(&name);
            if !same_medium || is_virtual(one) != is_virtual(other) {
                continue;
            }
            let mut both = target();
            first(&mut both);
            second(&mut both);
            let found = names(&both.diagnose());
            if !(found.contains(one) && found.contains(other)) || found.len() > 2 {
                wrong.push(format!("{one} and {other}: {found:?}"));
            }
        }
    }
    assert!(wrong.len() <= 20, "{} pairs: {wrong:#?}", wrong.len());
}

#[test]
fn without_facts_less_is_sure_and_nothing_else_is_named() {
    for (name, target, set_to_work) in BREAKS {
        let mut target = target();
        set_to_work(&mut target);
        let Target { signs, references, .. } = &target;
        let diagnosis =
            diagnose(&Case { signs, facts: None, since: None, references, usual: &[], site: None });
        let wrong: Vec<&str> = names(&diagnosis).into_iter().filter(|found| found != name).collect();
        assert!(wrong.is_empty(), "{name} without facts: {wrong:?}");
        assert!(diagnosis.open.iter().all(|open| !open.missing.is_empty()), "{name}: {:?}", diagnosis.open);
    }
}

#[test]
fn a_blocked_trim_that_costs_nothing_yet_is_no_cause() {
    let mut target = healthy();
    target.facts.stack[1].takes_trim = known(false);
    let diagnosis = target.diagnose();
    assert!(diagnosis.found.is_empty(), "{diagnosis:#?}");
    let unsent = Trimming { at_once: known(false), timer_enabled: known(false), ..Trimming::default() };
    target.facts.file_system.as_mut().unwrap().trimming = unsent;
    let diagnosis = target.diagnose();
    assert!(diagnosis.found.is_empty() && diagnosis.overall == Overall::AsNew, "{diagnosis:#?}");
    let [told] = &diagnosis.latent[..] else { panic!("{:#?}", diagnosis.latent) };
    assert!(told.card.name == "no_trim" && !told.is_problem() && told.chance < 0.9, "{told:#?}");
    let mut target = healthy();
    target.drive().database.warning = known(Some("update it".to_owned()));
    let latent: Vec<&str> = target.diagnose().latent.iter().map(|one| one.card.name).collect();
    assert_eq!(latent, ["firmware"], "a warning is told before it costs anything");
}

#[test]
fn unsent_trim_is_not_why_reads_are_as_slow_as_writes() {
    let unsent = Trimming { at_once: known(false), timer_enabled: known(false), ..Trimming::default() };
    let mut target = healthy();
    target.facts.file_system.as_mut().unwrap().trimming = unsent;
    target.signs.trimmed_over_rested = None;
    for figure in [Figure::ReadInOrder, Figure::WriteInOrder, Figure::WriteAnywhere] {
        target.slower(figure, 4.0);
    }
    let diagnosis = target.diagnose();
    assert_eq!(names(&diagnosis), [""; 0], "{diagnosis:#?}");
    target.slower(Figure::WriteInOrder, 4.0);
    assert_eq!(names(&target.diagnose()), ["no_trim"], "writes fell more than reads");
}

#[test]
fn what_is_slow_without_a_reason_is_undecided_and_says_what_would_decide() {
    let mut target = healthy();
    target.slower(Figure::ReadInOrder, 3.0);
    target.signs.fresh_over_old = None;
    let diagnosis = target.diagnose();
    assert_eq!(diagnosis.overall, Overall::Undecided, "{diagnosis:#?}");
    assert_eq!(diagnosis.open[0].symptom, Symptom::Below(Figure::ReadInOrder));
}

#[test]
fn every_cause_has_a_manual_a_cure_and_a_way_to_check_it() {
    let target = healthy();
    let Target { signs, facts, since, references } = &target;
    let site = Some(folder(facts));
    let case = Case { signs, facts: Some(facts), since: Some(since), references, usual: &[], site };
    for cause in ALL {
        let card = cause.card();
        assert!(card.manual.starts_with("# ") && card.manual.contains("**Cure:**"), "{}", card.name);
        assert!(!card.explains.is_empty() && !card.because.ends_with('.'), "{}", card.name);
        let cures = cause.cures(&case);
        assert!(!cures.is_empty(), "{}", card.name);
        for cure in cures {
            assert!(
                !cure.what.is_empty() && !cure.check.is_empty() && !cure.cost.is_empty(),
                "{}",
                card.name
            );
            let destroys = cure
                .command
                .as_deref()
                .is_some_and(|command| command.contains("discard") || command.contains("mkfs"));
            assert!(!destroys || cure.risk == Risk::Data, "{}: {:?}", card.name, cure);
        }
    }
}

/// A folder at the root of the file system.
fn folder(facts: &Facts) -> Site<'_> {
    Site {
        target: "/",
        kind: likenew_core::drive::Kind::Folder,
        trims: true,
        writable: true,
        free_bytes: Some(1 << 30),
        used_bytes: 1 << 30,
        facts: Some(facts),
        outlook: None,
    }
}

/// Every command, and what takes it back, of the cause of this name.
fn commands(name: &str, change: impl Fn(&mut Target)) -> Vec<(String, Option<String>)> {
    let mut target = healthy();
    change(&mut target);
    let case = Case {
        signs: &target.signs,
        facts: Some(&target.facts),
        since: None,
        references: &target.references,
        usual: &[],
        site: Some(folder(&target.facts)),
    };
    let cures = by_name(name).unwrap().cures(&case);
    cures.into_iter().filter_map(|cure| Some((cure.command?, cure.undo))).collect()
}

fn with_undo(does: &str, undoes: &str) -> (String, Option<String>) {
    (does.to_owned(), Some(undoes.to_owned()))
}

#[test]
fn what_can_be_set_is_a_command_with_this_drives_name_and_its_undoing() {
    let cache = |kind, name: &str| {
        let found = commands("write_cache_off", |t| {
            t.facts.drives[0].kind = kind;
            t.facts.drives[0].name = name.into();
        });
        let [(does, undo)] = &found[..] else { panic!("{found:?}") };
        (does.clone(), undo.clone())
    };
    assert_eq!(cache(DriveKind::Sata, "sda"), with_undo("hdparm -W1 /dev/sda", "hdparm -W0 /dev/sda"));
    let nvme = |value| format!("nvme set-feature /dev/nvme1n1 --feature-id=6 --value={value}");
    assert_eq!(cache(DriveKind::Nvme, "nvme1n1"), with_undo(&nvme(1), &nvme(0)));
    assert!(cache(DriveKind::Scsi, "sdq").0.ends_with("--save /dev/sdq"));

    let asleep = commands("power_saving", |t| {
        let drive = &mut t.facts.drives[0];
        drive.kind = DriveKind::Nvme;
        drive.name = "nvme0n1".into();
        let policy = "/sys/module/pcie_aspm/parameters/policy";
        drive.power = Power {
            wake_us_max: known(100_000),
            aspm_policy: Fact::known("powersave".into(), policy),
            runtime: Fact::known("auto".into(), "/sys/block/nvme0n1/device/power/control"),
            ..Power::default()
        };
    });
    let tolerance = "/sys/class/nvme/nvme0/power/pm_qos_latency_tolerance_us";
    assert_eq!(
        asleep,
        [
            with_undo(&format!("echo 0 > {tolerance}"), &format!("echo 100000 > {tolerance}")),
            with_undo(
                "echo performance > /sys/module/pcie_aspm/parameters/policy",
                "echo powersave > /sys/module/pcie_aspm/parameters/policy"
            ),
            with_undo(
                "echo on > /sys/block/nvme0n1/device/power/control",
                "echo auto > /sys/block/nvme0n1/device/power/control"
            ),
        ]
    );
    assert_eq!(commands("power_saving", |_| {}), [], "nothing sleeps here");
    let array = |doing: &'static str| {
        commands("degraded_array", |t| {
            t.facts.stack[1] = Layer {
                name: "md0".into(),
                kind: LayerKind::Array,
                busy_with: known(doing.to_owned()),
                ..Layer::default()
            };
        })
    };
    let action = "/sys/block/md0/md/sync_action";
    assert_eq!(
        array("check")[0],
        with_undo(&format!("echo idle > {action}"), &format!("echo check > {action}"))
    );
    assert!(array("recover").iter().all(|(does, _)| !does.contains("sync_action")), "what mends it goes on");
    let pieces = |kind: &str| {
        commands("fragmentation", |t| {
            let system = t.facts.file_system.as_mut().unwrap();
            (system.point, system.kind) = ("/srv/my files".into(), known(kind.to_owned()));
        })
    };
    assert_eq!(pieces("ext4")[0].0, "e4defrag '/srv/my files'");
    assert_eq!(pieces("btrfs")[0].0, "btrfs filesystem defragment -r '/srv/my files'");
    assert_eq!(pieces("zfs"), []);
    assert_eq!(commands("old_data", |_| {})[0].0, "likenew recondition / --rung refresh");
    assert!(commands("weak_zone", |_| {})[0].0.starts_with("ddrescue -n /dev/sda "));
    assert!(commands("lazy_volume", |_| {})[0].0.contains("--filename=/dev/sda "));
}

#[test]
fn trim_is_let_through_by_what_blocks_it() {
    let through = |change: &dyn Fn(&mut Layer)| {
        let all = commands("no_trim", |t| {
            t.facts.stack[1].takes_trim = known(false);
            change(&mut t.facts.stack[1]);
        });
        all[0].clone()
    };
    let crypt = through(&|layer| {
        layer.kind = LayerKind::Crypt;
        layer.label = known("luks-home".to_owned());
        layer.options = known(vec!["no_read_workqueue".to_owned()]);
    });
    assert_eq!(
        crypt,
        with_undo(
            "cryptsetup refresh --persistent --perf-no_read_workqueue --allow-discards luks-home",
            "cryptsetup refresh --persistent --perf-no_read_workqueue luks-home"
        )
    );
    let shown = through(&|layer| (layer.kind, layer.name) = (LayerKind::VirtualDisk, "vda".into()));
    assert!(shown.0.contains("target=vda") && shown.0.ends_with("discard=unmap"), "{shown:?}");
    let bridge = through(&|layer| {
        (layer.kind, layer.name) = (LayerKind::UsbDisk, "sdb".into());
        layer.provisioning_mode = known("full".to_owned());
    });
    let file = "/sys/block/sdb/device/scsi_disk/*/provisioning_mode";
    assert_eq!(bridge, with_undo(&format!("echo unmap | tee {file}"), &format!("echo full | tee {file}")));
    let parity = through(&|layer| {
        (layer.kind, layer.level) = (LayerKind::Array, known("raid5".to_owned()));
    });
    assert!(parity.0.starts_with("echo Y > ") && parity.1.unwrap().starts_with("echo N > "));
    // A cache has no such setting, and what does not pass is not sent: writing over free space needs no TRIM.
    let cache = through(&|layer| layer.kind = LayerKind::Cache);
    assert_eq!(cache.0, "likenew recondition / --rung overwrite");
    let free = commands("no_trim", |_| {});
    assert_eq!(free[0].0, "likenew recondition / --rung trim");
    let deaf = commands("no_trim", |t| {
        t.facts.stack[1].takes_trim = known(false);
        t.facts.stack[1].provisioning_mode = known("full".to_owned());
        t.facts.drives[0].identity.knows_trim = known(false);
    });
    assert_eq!(deaf.len(), 1, "a drive without TRIM is not told to take it: {deaf:?}");
    let queues = commands("encryption", |t| {
        t.facts.stack[1].kind = LayerKind::Crypt;
        t.facts.stack[1].label = known("home".to_owned());
        t.facts.stack[1].options = known(vec!["allow_discards".to_owned()]);
    });
    assert_eq!(
        queues[0],
        with_undo(
            "cryptsetup refresh --persistent --allow-discards --perf-no_read_workqueue --perf-no_write_workqueue home",
            "cryptsetup refresh --persistent --allow-discards home"
        )
    );
}

#[test]
fn a_device_is_told_of_steps_that_lose_everything_where_none_else_is_possible() {
    let mut target = healthy();
    target.facts.drives[0].identity.knows_trim = known(false);
    let site = Site {
        target: "/dev/sda",
        kind: likenew_core::drive::Kind::Device,
        trims: false,
        writable: false,
        free_bytes: None,
        ..folder(&target.facts)
    };
    let case = Case {
        signs: &target.signs,
        facts: Some(&target.facts),
        since: None,
        references: &[],
        usual: &[],
        site: Some(site),
    };
    let of = |cause: &str| -> Vec<(String, Risk)> {
        let all = cures(&case, by_name(cause).unwrap()).into_iter();
        all.filter_map(|cure| Some((cure.command?, cure.risk))).collect()
    };
    let no_trim = of("no_trim");
    assert!(
        no_trim.contains(&("likenew recondition /dev/sda --rung overwrite-all".into(), Risk::Data)),
        "{no_trim:?}"
    );
    assert!(
        no_trim.iter().all(|(command, risk)| *risk == Risk::Data && !command.contains("format")),
        "{no_trim:?}"
    );
    assert_eq!(of("old_data"), [("likenew recondition /dev/sda --rung refresh".to_owned(), Risk::Low)]);
}
