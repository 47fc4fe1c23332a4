//! Lookups by what drives in use report, and the form of the file.

use likenew_core::facts::{Cloud, DriveKind, Fact, Identity};

use super::*;
use crate::book;
use crate::tests::{census, faulty};

/// Models and versions that drives with a fault report, and their product: at least one for each line.
const EXAMPLES: &[(&str, &str, &str)] = &[
    ("ADATA SX8200PNP", "42A8T6BA", "ADATA XPG SX8200 Pro"),
    ("CT240BX200SSD1", "MU01.4", "Crucial BX100 to BX500"),
    ("M4-CT128M4SSD2", "0002", "Crucial m4"),
    ("Crucial_CT240M500SSD1", "MU05", "Crucial M500"),
    ("Crucial_CT512M550SSD1", "MU01", "Crucial M550"),
    ("Crucial_CT256MX100SSD1", "MU01", "Crucial MX100"),
    ("CT250MX500SSD1", "M3CR023", "Crucial MX500"),
    ("C300-CTFDDAC128MAG", "0001", "Crucial RealSSD C300"),
    ("VO0960JFDGU", "HPD2", "HPE SAS SSD"),
    ("EK0800JVYPN", "HPD6", "HPE SAS SSD"),
    ("INTEL SSDSA2CW120G3", "4PC10302", "Intel SSD 320"),
    ("INTEL SSDSA2M080G2GC", "2CV102HD", "Intel X25-M, X18-M and X25-V G2"),
    ("KINGSTON SA2000M8250G", "S5Z42105", "Kingston A2000"),
    ("KINGSTON SKC2000M8500G", "S2681103", "Kingston KC2000"),
    ("KINGSTON SSDNow 40GB", "2CV102HA", "Kingston SSDNow 40 GB"),
    ("KINGSTON SV100S2128G", "D100811a", "Kingston SSDNow V100"),
    ("KCD6XVUL6T40", "0105", "Kioxia CD6-V"),
    ("MAXTOR STM3500320AS", "MX15", "Maxtor DiamondMax 22"),
    ("Micron_1100_MTFDDAK256TBN", "M0MU020", "Micron 1100"),
    ("Micron_7450_MTFDKCC1T9TFR", "E2MU200", "Micron 7450"),
    ("Micron_7450_MTFDKCC1T9TFR", "E2MU300", "Micron 7450"),
    ("Micron_7500_MTFDKCC1T9TGP", "E3MQ000", "Micron 7500"),
    ("Micron_M500_MTFDDAK240MAV", "MU03", "Micron M500"),
    ("Micron_M550_MTFDDAK256MAY", "MU01", "Micron M510 and M550"),
    ("OCZ-AGILITY3", "2.06", "OCZ Vertex 3, Agility 3 and Solid 3"),
    ("OCZ-VERTEX3 MI", "2.13", "OCZ Vertex 3, Agility 3 and Solid 3"),
    ("Samsung SSD 840 Series", "DXT06B0Q", "Samsung 840"),
    ("Samsung SSD 840 EVO 250GB", "EXT0BB6Q", "Samsung 840 EVO"),
    ("Samsung SSD 840 EVO 250GB", "EXT0CB6Q", "Samsung 840 EVO"),
    ("Samsung SSD 840 EVO 250GB mSATA", "EXT42B6Q", "Samsung 840 EVO mSATA"),
    ("Samsung SSD 840 PRO Series", "DXM06B0Q", "Samsung 840, 840 EVO and 840 PRO"),
    ("Samsung SSD 850 EVO 500GB", "EMT02B6Q", "Samsung 850 EVO and 850 PRO"),
    ("Samsung SSD 860 EVO 1TB", "RVT02B6Q", "Samsung 860 EVO, 860 QVO and 860 PRO"),
    ("Samsung SSD 870 EVO 2TB", "SVT01B6Q", "Samsung 870 EVO"),
    ("Samsung SSD 870 QVO 1TB", "SVQ01B6Q", "Samsung 870 EVO and 870 QVO"),
    ("Samsung SSD 980 PRO 2TB", "3B2QGXA7", "Samsung 980 PRO"),
    ("Samsung SSD 980 PRO with Heatsink 2TB", "3B2QGXA7", "Samsung 980 PRO"),
    ("Samsung SSD 990 PRO 1TB", "0B2QJXD7", "Samsung 990 PRO"),
    ("MZILT1T9HBJR/007", "GXA0", "Samsung PM1643a"),
    ("SAMSUNG SSD PM830 mSATA 256GB", "CXM13D1Q", "Samsung PM830 mSATA"),
    ("SAMSUNG MZ7LH960HAJR-00005", "HXT7404Q", "Samsung PM883"),
    ("SAMSUNG MZQL21T9HCJR-00A07", "GDC5502Q", "Samsung PM9A3"),
    ("SAMSUNG HD204UI", "1AQ10001", "Samsung SpinPoint F4 EcoGreen"),
    ("LT0800MO", "D408", "SanDisk SAS SSD sold by Dell"),
    ("SanDisk SD8SB8U256G1122", "X4162100", "SanDisk SD7, SD8 and SD9"),
    ("ST3500320AS", "SD15", "Seagate Barracuda 7200.11"),
    ("ST31500341AS", "SD17", "Seagate Barracuda 7200.11"),
    ("ST3000DM001-9YN166", "CC4B", "Seagate Barracuda 7200.14"),
    ("ST380013AS", "3.20", "Seagate Barracuda 7200.7"),
    ("ST95005620AS", "SD24", "Seagate Momentus XT"),
    ("SuperSSpeed S238 128GB", "S5FAM017", "SuperSSpeed S238"),
    ("WD_BLACK SN770 1TB", "731100WD", "WD Black SN770"),
];

#[test]
fn each_fault_is_found_by_what_drives_report_and_not_where_it_is_fixed() {
    let mut with_example = Vec::new();
    for (model, version, product) in EXAMPLES {
        let faults = firmware_faults(model, Some(version));
        let fault = faults.iter().find(|fault| fault.product == *product);
        let fault = fault.unwrap_or_else(|| panic!("{model} {version} has {faults:#?}"));
        if let Some(fixed) = &fault.fixed {
            assert!(!firmware_faults(model, Some(fixed)).contains(fault), "{model} {fixed}");
        }
        with_example.push(*fault);
    }
    for fault in &book().faults {
        assert!(with_example.contains(&fault), "no example of {fault:#?}");
    }
}

#[test]
fn nothing_is_said_of_what_is_not_known() {
    let fault_count = |model: &str, version: Option<&str>| firmware_faults(model, version).len();
    assert_eq!(fault_count("Samsung SSD 980 PRO 2TB", Some("3B2QGXA7")), 1);
    assert_eq!(fault_count("samsung_ssd_980_pro_2tb", Some(" 3b2qgxa7 ")), 1, "as other systems write it");
    assert_eq!(fault_count("Samsung SSD 980 PRO 2TB", None), 0);
    assert_eq!(fault_count("Samsung SSD 980 PRO 2TB", Some("")), 0);
    assert_eq!(
        fault_count("Samsung SSD 980 PRO 2TB", Some("GXA7")),
        0,
        "as /sys shows a part of an ATA drive's"
    );
    assert_eq!(fault_count("Samsung SSD 980 1TB", Some("3B2QGXA7")), 0, "another model");
    assert_eq!(fault_count("Samsung SSD 860 EVO 1TB", Some(" ")), 0, "also where every version has it");
    assert_eq!(fault_count("", Some("3B2QGXA7")), 0);
}

#[test]
fn what_an_owner_meets_comes_before_what_linux_avoids() {
    let faults = firmware_faults("Samsung SSD 840 EVO 250GB", Some("EXT0BB6Q"));
    let avoided: Vec<bool> = faults.iter().map(|fault| fault.linux_avoids).collect();
    assert_eq!(avoided, [false, true], "{faults:#?}");
}

#[test]
fn hypervisors_and_clouds_have_no_firmware_of_a_maker() {
    let count = |change: &dyn Fn(&mut Drive)| {
        let mut drive = Drive {
            kind: DriveKind::Nvme,
            identity: Identity {
                model: Fact::new("Samsung SSD 980 PRO 2TB".to_owned(), "a test"),
                firmware: Fact::new("3B2QGXA7".to_owned(), "a test"),
                ..Identity::default()
            },
            ..Drive::default()
        };
        change(&mut drive);
        firmware_faults_of(&drive).len()
    };
    assert_eq!(count(&|_| {}), 1);
    assert_eq!(count(&|drive| drive.identity.firmware = Fact::NotQueried), 0);
    assert_eq!(count(&|drive| drive.cloud = Some(Cloud::default())), 0);
}

#[test]
fn a_pattern_means_only_drives_of_its_maker_and_no_model_has_a_version_twice() {
    let versions: Vec<&str> = EXAMPLES.iter().map(|(_, version, _)| *version).collect();
    let mut known = 0;
    for counted in census() {
        for model in counted.reported() {
            let plain = plain(&model);
            let is_it = |line: &&Line| line.models.iter().any(|pattern| pattern.matches(&plain));
            let matching: Vec<&Line> = LINES.iter().filter(is_it).collect();
            for line in &matching {
                let makers = match line.fault.product.split(' ').next() {
                    Some("WD") => vec!["WDC", "SanDisk"],
                    maker => maker.into_iter().collect(),
                };
                assert!(makers.contains(&counted.maker), "{} {model}: {:#?}", counted.maker, line.fault);
                known += 1;
            }
            for version in versions.iter().filter(|_| matching.len() > 1) {
                let faults = firmware_faults(&model, Some(version));
                let avoided = faults.iter().filter(|fault| fault.linux_avoids).count();
                assert!(avoided <= 1 && faults.len() - avoided <= 1, "{model} {version}: {faults:#?}");
            }
        }
    }
    assert!(known > 0, "no pattern was tried");
}

/// A file of these lines.
fn file(lines: &str) -> String {
    format!("fault = [\n{lines}\n]\n")
}

/// A line with more keys; `happens` is added if it is none of them.
fn line(product: &str, models: &str, firmware: &str, more: &str) -> String {
    let happens = if more.contains("happens") { "" } else { ", happens = \"it stops\"" };
    let source = if more.contains("source") { "" } else { ", source = \"https://example.org\"" };
    format!(
        "{{ product = {product:?}, models = {models:?}, firmware = {firmware:?}{happens}{source}{more} }},"
    )
}

#[test]
fn a_wrong_line_is_refused_by_file_and_line() {
    let file_of_one = |more: &str| file(&line("Some", "ABCD 500", "1.0", more));
    let file_of_two = |first: String, second: String| file(&format!("{first}\n{second}"));
    let cases = [
        (file_of_one(", source = \"a friend\""), "some.toml:2: Some: no source"),
        (file_of_one(", fixed = \"1.0\""), "some.toml:2: Some: \"1.0\" is also the version that fixes it"),
        (file_of_one(", happens = \"it stops.\""), "some.toml:2: Some: \"it stops.\" is no clause"),
        (file_of_one(", happens = \"It stops\""), "some.toml:2: Some: \"It stops\" is no clause"),
        (file_of_one(", hours = 32768"), "some.toml:2: Some: \"it stops\" does not say 32,768 hours"),
        (file_of_one(", data_at_risk = true, linux_avoids = true"), "some.toml:2: Some: what Linux avoids"),
        (file_of_one(", bricks = true"), "some.toml:2: unknown field `bricks`"),
        (file(&line("Some", "ABCD*", "*", ", fixed = \"2\"")), "some.toml:2: Some: \"*\" is also"),
        (file(&line("Some", "*500", "1.0", "")), "some.toml:2: Some: \"*500\" has too few letters"),
        (file(&line("Some", "ABCD 500", "1.0,", "")), "some.toml:2: Some: an empty version"),
        (
            file("{ product = \"Some\", models = \"ABCD\", happens = \"it stops\" },"),
            "some.toml:2: missing field `",
        ),
        (
            file(&line("Some", "ABCD", "1.0", "")).replace("\"ABCD\",", "\"\"\"ABCD\"\"\","),
            "some.toml:1: Some is not written on one line as the others are",
        ),
        (
            file_of_two(line("Some", "ABCD 500", "1.0", ""), line("Other", "EFGH 500", "1.0", "")),
            "some.toml:3: \"Other\" must come before \"Some\"",
        ),
        (
            file_of_two(line("Other", "ABCD *", "1.?", ""), line("Some", "ABCD 500", "1.0", "")),
            "some.toml:3: Some is also Other of catalog/rated/some.toml:2",
        ),
        (
            file_of_two(line("Other", "ABCD *", "1.0", ""), line("Some", "ABCD 500", "1.?", "")),
            "some.toml:3: Some is also Other of catalog/rated/some.toml:2",
        ),
    ];
    for (text, expected) in cases {
        let problems = faulty(&text);
        assert!(problems.iter().any(|line| line.contains(expected)), "{text}\n{problems:#?}\n{expected}");
    }
}
