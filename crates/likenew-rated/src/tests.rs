//! Lookups, the form of the files, and how many of the drives that people have are known.

use std::collections::BTreeMap;

use likenew_core::facts::{Cloud, DriveKind, Fact, Hop, Identity, Link as FactsLink};

use super::*;

/// Shares of the census, in 0..1, whose figures and classes are known on this code, rounded down: they may grow.
const FIGURES: f64 = 0.14;
const CLASSES: f64 = 0.9;

/// A drive of the census.
pub(crate) struct Counted {
    kind: &'static str,
    pub(crate) maker: &'static str,
    model: &'static str,
    gb: f64,
    drives: u64,
}

pub(crate) fn census() -> Vec<Counted> {
    let rows = include_str!("census.tsv").lines().filter(|line| !line.starts_with('#'));
    rows.map(|row| {
        let cells: Vec<&str> = row.split('\t').collect();
        let [kind, maker, model, gb, drives] = cells[..] else { panic!("{row}") };
        Counted { kind, maker, model, gb: gb.parse().unwrap_or(0.0), drives: drives.parse().unwrap() }
    })
    .collect()
}

impl Counted {
    /// What the system may have reported: the census has the maker in a column of its own, and the capacity as well.
    pub(crate) fn reported(&self) -> Vec<String> {
        let size = if self.gb >= 1000.0 && self.gb % 1000.0 == 0.0 {
            format!("{}TB", self.gb / 1000.0)
        } else {
            format!("{}GB", self.gb)
        };
        let (maker, model) = (self.maker, self.model.trim_end_matches("..."));
        let mut names = vec![model.to_owned(), format!("{maker} {model}"), format!("{model} {maker}")];
        names.extend([
            format!("{maker} {model} {size}"),
            format!("{model} {size}"),
            format!("{maker} {model}{size}"),
        ]);
        names
    }

    /// The rated drive, found by its first characters if the census has no more.
    fn rated(&self) -> Option<Rated> {
        let bytes = Some((self.gb * 1e9) as u64);
        let models = self.reported();
        let whole = || models.iter().find_map(|model| by_reported_model(model, bytes));
        let nameless = || models.iter().find_map(|model| by_reported_model(model, None));
        let cut = || {
            let is_cut = self.model.ends_with("...");
            models[..2].iter().filter(|_| is_cut).find_map(|model| by_inquiry(model, bytes?))
        };
        whole().or_else(cut).or_else(nameless)
    }

    /// The drive as a system reports it: an SSD does not rotate and is on SATA. The census tells neither how
    /// fast a disk rotates nor how many lanes an NVMe drive has.
    fn drive(&self) -> Drive {
        let hop = Hop { line_bits_per_s_max: Fact::new(6_000_000_000, "the census"), ..Hop::default() };
        let is_ssd = self.kind == "ssd";
        Drive {
            kind: if self.kind == "nvme" { DriveKind::Nvme } else { DriveKind::Sata },
            identity: Identity {
                rotation_rpm: if is_ssd { Fact::new(0, "the census") } else { Fact::NotQueried },
                ..Identity::default()
            },
            link: FactsLink { hops: if is_ssd { vec![hop] } else { Vec::new() }, ..FactsLink::default() },
            ..Drive::default()
        }
    }
}

/// Shares of the census, in 0..1, whose figures and whose class are known.
fn coverage() -> BTreeMap<&'static str, (f64, f64)> {
    let mut sums: BTreeMap<&str, [u64; 3]> = BTreeMap::new();
    for counted in census() {
        let rated = counted.rated();
        let has_figures = rated.is_some_and(|rated| rated.drive.read.is_some());
        let class = rated
            .and_then(|rated| Class::of_product(rated.product))
            .or_else(|| Class::of_drive(&counted.drive()));
        for kind in [counted.kind, "all"] {
            let sum = sums.entry(kind).or_default();
            sum[0] += counted.drives;
            sum[1] += counted.drives * u64::from(has_figures);
            sum[2] += counted.drives * u64::from(class.is_some());
        }
    }
    let share = |part: u64, whole: u64| part as f64 / whole as f64;
    sums.into_iter()
        .map(|(kind, [drives, figures, class])| (kind, (share(figures, drives), share(class, drives))))
        .collect()
}

#[test]
fn most_drives_that_people_have_are_known() {
    let coverage = coverage();
    println!("figures and class, as shares of the drives: {coverage:.3?}");
    let (figures, class) = coverage["all"];
    assert!(figures >= FIGURES && class >= CLASSES, "{coverage:.3?}");
    let mut missing: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    for counted in
        census().iter().filter(|counted| counted.rated().is_none_or(|rated| rated.drive.read.is_none()))
    {
        let family = counted.model.split('-').next().unwrap_or_default();
        *missing.entry((counted.maker, family)).or_default() += counted.drives;
    }
    let mut missing: Vec<_> = missing.into_iter().collect();
    missing.sort_by_key(|(_, drives)| std::cmp::Reverse(*drives));
    for ((maker, model), drives) in missing.iter().take(20) {
        println!("without figures: {drives} {maker} {model}");
    }
}

#[test]
fn no_model_of_the_census_is_taken_for_two_drives() {
    for counted in census() {
        for model in counted.reported() {
            let bytes = Some((counted.gb * 1e9) as u64);
            let candidates = named(&model)
                .into_iter()
                .filter(|rated| rated.drive.gb.is_some() && rated.is_as_large(bytes));
            let names: Vec<&str> = candidates.map(|rated| rated.drive.models.as_str()).collect();
            assert!(names.len() <= 1, "{model}: {names:?}");
        }
    }
}

pub(crate) fn faulty(text: &str) -> Vec<String> {
    reading::read(&[("catalog/rated/some.toml".to_owned(), text.to_owned())]).unwrap_err()
}

fn product(lines: &str) -> String {
    let head = "[[product]]\nname = \"Some\"\nlink = \"sata6g\"\nsource = \"https://example.org\"\n";
    format!("{head}drives = [\n{lines}\n]\n")
}

#[test]
fn what_is_wrong_is_refused_by_file_and_line() {
    let cases = [
        (
            product("{ models = \"ABCD 500\", gb = 500, read = 700 },"),
            "some.toml:6: ABCD 500: 700 MB/s, and SATA",
        ),
        (
            product("{ models = \"ABCD*\", gb = 500 },\n{ models = \"ABCD 500\", gb = 500 },"),
            "some.toml:7: \"abcd 500\" is also \"abcd*\" of catalog/rated/some.toml:6",
        ),
        (product("{ models = \"*500\", gb = 500 },"), "some.toml:6: \"*500\" has too few letters"),
        (product("{ models = \"ABCD 500\", read = 500 },"), "some.toml:6: ABCD 500: speeds without gb"),
        (product("{ models = \"ABCD 500\", gb = 500, speed = 1 },"), "some.toml:6: unknown field `speed`"),
        (
            product("")
                .replace("https://example.org", "a friend")
                .replace("[\n\n]", "[{ models = \"ABCD\" }]"),
            "ABCD has no source",
        ),
        (product("").replace("sata6g", "sata9g"), "some.toml:3: unknown variant `sata9g`"),
        (
            product("") + &product("").replace("Some", "Other"),
            "some.toml:9: \"Other\" must come before \"Some\"",
        ),
    ];
    for (text, expected) in cases {
        let problems = faulty(&text);
        assert!(problems.iter().any(|line| line.contains(expected)), "{text}\n{problems:#?}\n{expected}");
    }
}

#[test]
fn a_drive_is_found_by_what_the_system_reports() {
    let name = |model: &str, bytes: u64| {
        by_reported_model(model, Some(bytes)).map(|rated| rated.product.name.as_str())
    };
    assert_eq!(name("Samsung SSD 970 EVO Plus 1TB", 1_000_204_886_016), Some("Samsung 970 EVO Plus"));
    assert_eq!(
        name("samsung_ssd_970_evo_plus_1tb", 1_000_204_886_016),
        Some("Samsung 970 EVO Plus"),
        "as udev has it"
    );
    assert_eq!(name("SAMSUNG MZVLB512HAJQ-000L7", 512_110_190_592), Some("Samsung PM981"), "an OEM's name");
    assert_eq!(
        name("Samsung SSD 970 EVO Plus 1TB", 500_107_862_016),
        None,
        "another capacity is another drive"
    );
    assert_eq!(name("Samsung SSD 970 EVO Plus", 1_000_204_886_016), None);
    assert_eq!(name("", 1_000_204_886_016), None);
    // /sys shows 16 characters of an ATA drive.
    assert_eq!(name("Samsung SSD 860 ", 500_107_862_016), Some("Samsung 860 EVO"), "others have no 500 GB");
    assert_eq!(name("Samsung SSD 860 ", 1_000_204_886_016), None, "EVO and QVO begin alike");
}

#[test]
fn hypervisors_and_clouds_are_no_drives() {
    let sold = |change: &dyn Fn(&mut Drive)| {
        let mut drive = Drive {
            kind: DriveKind::Nvme,
            identity: Identity {
                model: Fact::new("Samsung SSD 970 EVO Plus 1TB".to_owned(), "a test"),
                capacity_bytes: Fact::new(1_000_204_886_016, "a test"),
                ..Identity::default()
            },
            ..Drive::default()
        };
        change(&mut drive);
        (of_drive(&drive).is_some(), Class::of_drive(&drive).is_some())
    };
    assert_eq!(sold(&|_| {}), (true, true));
    assert_eq!(sold(&|drive| drive.cloud = Some(Cloud::default())), (false, false));
    assert_eq!(
        sold(&|drive| drive.identity.virtual_by = Fact::new(Some("QEMU".into()), "a test")),
        (false, false)
    );
}

#[test]
fn what_is_usual_has_many_models_behind_it() {
    for class in
        [Class::SataSsd { gbit: 6 }, Class::Nvme { generation: 3, lanes: 4 }, Class::Disk { rpm: 7200 }]
    {
        let usual = usual(class, None, Figure::Read).unwrap();
        let (low, high) = usual.range();
        assert!(
            usual.least <= usual.values[0] && low <= usual.median() && usual.median() <= high,
            "{usual:?}"
        );
        assert!(
            usual.values.is_sorted() && usual.share_faster(0.0) == 1.0 && usual.share_faster(1e12) == 0.0
        );
        println!(
            "{}: {low:.3e} to {high:.3e}, least {:.3e}, {} models",
            class.words(),
            usual.least,
            usual.values.len()
        );
    }
    assert_eq!(usual(Class::Nvme { generation: 9, lanes: 9 }, None, Figure::Read), None);
}

#[test]
fn a_volume_is_limited_by_its_size() {
    let volume = |model: &str, gib: u64, name: &str| {
        volumes(model, gib << 30).into_iter().find(|volume| volume.name == name).unwrap()
    };
    let gp2 = volume("Amazon Elastic Block Store", 100, "Amazon EBS gp2");
    assert_eq!((gp2.iops, gp2.burst_iops, gp2.kind), (Some(300.0), Some(3000.0), LimitKind::OfSize));
    assert_eq!(volume("Amazon Elastic Block Store", 8, "Amazon EBS gp2").iops, Some(100.0));
    let large = volume("Amazon Elastic Block Store", 8000, "Amazon EBS gp2");
    assert_eq!((large.iops, large.burst_iops), (Some(16000.0), None), "what it may always do is no burst");
    let gp3 = volume("Amazon Elastic Block Store", 100, "Amazon EBS gp3");
    assert_eq!((gp3.iops, gp3.kind), (Some(3000.0), LimitKind::Least));
    let io1 = volume("Amazon Elastic Block Store", 100, "Amazon EBS io1");
    assert_eq!(
        (io1.iops, io1.kind),
        (Some(5000.0), LimitKind::Most),
        "what can be bought is not what it has"
    );
    assert!(volumes("Samsung SSD 970 EVO Plus 1TB", 1 << 40).is_empty());
}
