//! The catalog is complete and strict, and names are found or explained.

use std::io;
use std::path::Path;

use likenew_core::drive::Drive as _;
use likenew_sim::flash::policies::{Collection, ErasedBlocks, Policies, Streams};
use likenew_sim::model::{Layer, Mechanism, Model};
use likenew_sim::{SimError, Spec, SpecName, State, by_reported_model, catalog};
use proptest::prelude::*;

const TINY: &str = include_str!("../../../../catalog/tiny-flash.toml");
const DISK: &str = include_str!("../../../../catalog/wd-velociraptor.toml");
const VOLUME: &str = include_str!("../../../../catalog/cloud-gp2-100gib.toml");
const FAKE: &str = include_str!("../../../../catalog/fake-stick-512gb.toml");
const QLC: &str = include_str!("../../../../catalog/qlc-nvme-1tb.toml");

const SHINGLED: &str = include_str!("../../../../catalog/seagate-archive-8tb.toml");

fn no_files(_: &Path) -> io::Result<Vec<u8>> {
    Err(io::ErrorKind::NotFound.into())
}

/// The error of a file in which the first `from` is replaced by `to`.
fn refusal(from: &str, to: &str) -> String {
    assert!(TINY.contains(from), "{from}");
    Model::parse("my.toml", &TINY.replacen(from, to, 1)).expect_err(to).to_string()
}

#[test]
fn every_drive_of_the_catalog_opens_new() {
    let files = std::fs::read_dir("../../catalog").unwrap().map(|file| file.unwrap().path());
    let files = files.filter(|path| path.extension().is_some_and(|ending| ending == "toml"));
    assert_eq!(catalog().len(), files.count());
    for entry in catalog() {
        let drive = Spec::parse(&format!("sim:{}", entry.name)).unwrap().open(no_files).unwrap();
        let identity = drive.identity();
        assert_eq!(identity.capacity_bytes, entry.model.capacity_bytes);
        assert_eq!(identity.engine, "simulation");
        assert!(identity.caveats[0].starts_with("Simulated drive"));
        assert!(entry.model.sources.iter().all(|sourced| !sourced.source.is_empty()));
    }
}

#[test]
fn spare_is_reported_in_both_conventions() {
    let drive = Spec::parse("sim:intel-x25-m-80gb").unwrap().open(no_files).unwrap();
    let facts = drive.identity().facts;
    let fact =
        |name: &str| facts.iter().find(|(key, _)| key.starts_with(name)).map(|(_, value)| value.as_str());
    assert_eq!(fact("over-provisioning"), Some("7.3%"));
    assert_eq!(fact("spare share"), Some("6.8%"));
    assert_eq!(fact("flash"), Some("80 GiB"));
    assert!(fact("state").unwrap().starts_with("new"));
    assert!(facts.iter().all(|(key, _)| key != "map"), "a page map needs no words");
}

#[test]
fn a_map_of_clusters_is_reported() {
    let drive = Spec::parse("sim:jmicron-jmf602bx2").unwrap().open(no_files).unwrap();
    let map = ("map".into(), "BAST: clusters of 8 MiB; groups of dies: 2; log blocks of each: 4".into());
    assert!(drive.identity().facts.contains(&map), "{:?}", drive.identity().facts);
}

#[test]
fn data_sheet_terms_become_the_terms_of_the_map() {
    let entry = catalog().iter().find(|entry| entry.name == "tlc-nvme-1tb").unwrap();
    let Mechanism::Flash(flash) = entry.model.mechanism else { panic!("it is flash") };
    let ftl = flash.flash;
    assert_eq!((ftl.row_pages, ftl.unit_pages, ftl.pages_per_block), (8, 24, 1152 * 8));
    assert_eq!(flash.parameters.nand.page_transfer.0, (16_384 + 2048) / 4 * 1_000_000_000 / 450_000_000);
}

#[test]
fn a_page_of_the_map_may_span_the_planes_of_a_gang() {
    let flash = |text: &str| {
        let model = Model::parse("my.toml", text).expect("a good file");
        let Mechanism::Flash(flash) = model.mechanism else { panic!("it is flash") };
        flash
    };
    let entry = catalog().iter().find(|entry| entry.name == "ocz-vertex").unwrap();
    let vertex = flash(entry.text);
    assert_eq!((vertex.flash.row_pages, vertex.flash.pages_per_block, vertex.flash.dies), (1, 128, 16));
    assert_eq!(u64::from(vertex.flash.user_pages), entry.model.capacity_bytes.div_ceil(32_768));
    let nand = vertex.parameters.nand;
    // Two planes of 8832 bytes each at 30 ns a byte; the other die of the gang moves its own at the same time.
    assert!(nand.page_transfer.0.abs_diff(2 * 8832 * 30) < 10, "{}", nand.page_transfer.0);
    let part = nand.read_part.unwrap();
    assert!(part.bytes == 8192 && part.transfer.0.abs_diff(nand.page_transfer.0 / 4) < 2, "{part:?}");
    let gang = "dies_per_channel = { value = 4, source = \"invented\" }";
    let ganged = |dies: u32| format!("{gang}\ndies_per_gang = {{ value = {dies}, source = \"invented\" }}");
    let two = flash(&TINY.replace(gang, &ganged(2)));
    assert_eq!((two.flash.row_pages, two.flash.dies), (2, 8));
    assert!(two.parameters.nand.read_part.is_none(), "whole pages of a chip are read as before");
    let error = refusal(gang, &ganged(3));
    assert!(
        error.contains("nand.dies_per_gang is 3: it takes a divisor of nand.dies_per_channel, 4"),
        "{error}"
    );
}

#[test]
fn a_refusal_names_file_line_key_value_and_range() {
    let line = 1 + TINY.lines().position(|line| line.starts_with("channels")).unwrap();
    let error = refusal("channels = { value = 4", "channels = { value = 4000");
    assert_eq!(error, format!("my.toml:{line}: nand.channels is 4000: it takes a whole number from 1 to 64"));
    let error = refusal("channels = { value = 4", "channels = { value = \"four\"");
    assert!(error.starts_with(&format!("my.toml:{line}: nand.channels is \"four\"")), "{error}");
    let error = refusal("channels = ", "chanels = ");
    assert!(error.contains("nand.channels is missing") && error.contains("1 to 64"), "{error}");
}

#[test]
fn what_is_unknown_incomplete_or_unsourced_is_refused() {
    for (from, to, word) in [
        (
            "[link]",
            "[link]\nspeed = { value = 1, source = \"x\" }",
            "[link] has no key speed: it takes bytes_per_s",
        ),
        ("kind = \"flash\"", "kind = \"tape\"", "\"flash\", \"disk\""),
        ("kind = \"flash\"", "kind = \"flash\"\nnote = 1", "the file has no key note"),
        ("channels = { value = 4, source = \"invented\" }", "channels = 4", "has no source"),
        ("value = 4, source = \"invented\" }", "value = 4, source = \"\" }", "the source of nand.channels"),
        (
            "value = 4, source = \"invented\" }",
            "value = 4 }",
            "takes value and source, and perhaps range or choices",
        ),
        (
            "value = 4, source = \"invented\" }",
            "value = 4, source = \"a\", sauce = 1 }",
            "takes value and source, and perhaps range or choices",
        ),
        ("[used]", "[usage]", "[used] is missing"),
        ("overwritten_share = { value = 2.0", "overwritten_share = { value = nan", "0 to 100"),
        ("trim = { value = \"immediate\"", "trim = { value = 1", "\"immediate\", \"lazy\" or \"ignored\""),
        ("capacity_bytes = { value = 1073741824", "capacity_bytes = { value = 1073741825", "multiple"),
        (
            "blocks_per_plane = { value = 144",
            "blocks_per_plane = { value = 100",
            "more flash pages than user pages",
        ),
        ("blocks_per_plane = { value = 144", "blocks_per_plane = { value = 130", "too little spare"),
        ("buffer_bytes = { value = 262144", "buffer_bytes = { value = 4096", "two program units"),
        (
            "[map]\nfamily = { value = \"page\", source = \"invented\" }\npage_bytes = { value = 4096",
            "[map]\nfamily = { value = \"page\", source = \"invented\" }\npage_bytes = { value = 6144",
            "nand.page_bytes",
        ),
        (
            "[map]\nfamily = { value = \"page\", source = \"invented\" }\npage_bytes = { value = 4096",
            "[map]\nfamily = { value = \"page\", source = \"invented\" }\npage_bytes = { value = 12288",
            "nand.pages_per_block is 128: it takes a multiple of the 3 rows",
        ),
        ("kind", "kind kind", "this is not TOML"),
    ] {
        let error = refusal(from, to);
        assert!(error.contains(word) && error.starts_with("my.toml:"), "{error} does not say {word}");
    }
    let slow = DISK.replace("full_seek_ns = { value = 10000000", "full_seek_ns = { value = 1000000");
    let error = Model::parse("d.toml", &slow).unwrap_err().to_string();
    assert!(error.contains("no seek curve rises"), "{error}");
}

#[test]
fn the_policies_of_a_map_are_read_and_checked() {
    let with = |keys: &str| {
        let keys = keys.replace(" is ", " = { value = ").replace(';', ", source = \"invented\" }\n");
        Model::parse("my.toml", &TINY.replacen("[map]\n", &format!("[map]\n{keys}"), 1))
    };
    let policies = |keys: &str| {
        let Mechanism::Flash(flash) = with(keys).expect(keys).mechanism else { panic!("it is flash") };
        let Layer::Page(page) = flash.layer else { panic!("it has a page map") };
        page.policies
    };
    assert_eq!(policies(""), Policies::default());
    let all = "collection is \"choices\";collection_choices is 10;streams is \"hot-cold\";";
    let expected = Policies {
        collection: Collection::Choices(10),
        streams: Streams::HotCold,
        erased_blocks: ErasedBlocks::LeastWorn,
        wear_spread_max: 50,
        endurance_erases: Some(3000),
    };
    let wear = "erased_blocks is \"least-worn\";wear_spread_max is 50;endurance_erases is 3000;";
    assert_eq!(policies(&format!("{all}{wear}")), expected);
    assert_eq!(policies("collection is \"cost-benefit\";").collection, Collection::CostBenefit);
    assert_eq!(policies("collection is \"fifo\";streams is \"mixed\";").streams, Streams::Mixed);
    for (keys, word) in [
        ("collection is \"choices\";", "map.collection_choices is missing"),
        ("collection is \"fifo\";collection_choices is 2;", "for map.collection \"choices\" only"),
        ("collection_choices is 2;", "for map.collection \"choices\" only"),
        ("collection is \"choices\";collection_choices is 1001;", "from 1 to 1000"),
        ("collection is \"best\";", "\"greedy\", \"fifo\", \"choices\" or \"cost-benefit\""),
        ("streams is 3;", "\"mixed\", \"separate\" or \"hot-cold\""),
        ("erased_blocks is \"any\";", "\"fifo\" or \"least-worn\""),
        ("wear_spread_max is -1;", "from 0 to 1000000"),
        ("endurance_erases is 0;", "from 1 to 10000000"),
    ] {
        let error = with(keys).expect_err(keys).to_string();
        assert!(error.contains(word) && error.starts_with("my.toml:"), "{error} does not say {word}");
    }
}

#[test]
fn a_spec_says_drive_and_state() {
    let spec = Spec::parse("sim:tiny-flash?state=used&fill=0.8&trim=off").unwrap();
    assert_eq!(spec.drive, SpecName::Catalog("tiny-flash".into()));
    assert_eq!((spec.state, spec.fill, spec.trim), (State::Used, Some(0.8), Some(false)));
    let spec = Spec::parse("sim:dir/my drive.toml").unwrap();
    assert_eq!(spec.drive, SpecName::File("dir/my drive.toml".into()));
    assert_eq!((spec.state, spec.fill, spec.trim), (State::New, None, None));
    let drive = spec
        .open(|path| {
            assert_eq!(path, Path::new("dir/my drive.toml"));
            Ok(TINY.into())
        })
        .unwrap();
    assert_eq!(drive.identity().name, "sim:dir/my drive.toml");
}

#[test]
fn a_bad_spec_is_explained() {
    for (text, word) in [
        ("tiny-flash", "sim:NAME"),
        ("sim:tiny-flsh", "did you mean \"tiny-flash\""),
        ("sim:x25-m", "did you mean \"intel-x25-m-80gb\""),
        ("sim:", "`likenew drives` lists all"),
        ("sim:qqqq", "`likenew drives` lists all"),
        ("sim:tiny-flash?", "unknown setting"),
        ("sim:tiny-flash?state=old", "state=used"),
        ("sim:tiny-flash?age=3", "age: \"3\" is not a duration"),
        ("sim:tiny-flash?data=some", "takes on or off"),
        ("sim:tiny-flash?color=red", "unknown setting \"color\""),
        ("sim:tiny-flash?fill=1.5", "from 0 to 1"),
        ("sim:tiny-flash?fill=NaN", "from 0 to 1"),
        ("sim:tiny-flash?trim=maybe", "takes on or off"),
        ("sim:tiny-flash?cache=maybe", "takes on or off"),
        ("sim:tiny-flash?fill=0.1&fill=0.2", "set twice"),
    ] {
        let error = Spec::parse(text).unwrap_err().to_string();
        assert!(error.contains(word), "{error} does not say {word}");
    }
    let missing = Spec::parse("sim:none.toml").unwrap().open(no_files).err().unwrap();
    assert!(matches!(missing, SimError::Read { .. }));
    assert!(missing.to_string().contains("none.toml") && missing.to_string().contains("likenew drives"));
}

/// One file of each kind.
fn file() -> impl Strategy<Value = &'static str> {
    prop_oneof![Just(TINY), Just(DISK), Just(SHINGLED), Just(QLC), Just(VOLUME), Just(FAKE)]
}

/// One change to a text: a part of it is replaced.
fn mutations() -> impl Strategy<Value = Vec<(usize, usize, String)>> {
    let piece = prop_oneof![
        "[0-9]{1,20}",
        "[-+.eExX_\"'\\[\\]{}=, \n#]{1,4}",
        "\\PC{0,3}",
        Just("18446744073709551615".to_owned()),
        Just("0".to_owned()),
    ];
    prop::collection::vec((any::<usize>(), 0usize..24, piece), 1..4)
}

fn mutate(text: &str, mutations: &[(usize, usize, String)]) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    for (at, length, piece) in mutations {
        let start = at % (characters.len() + 1);
        let end = (start + length).min(characters.len());
        characters.splice(start..end, piece.chars());
    }
    characters.into_iter().collect()
}

/// The same text with the number on one of its lines replaced, which is more likely to be accepted.
fn with_number(text: &str, line: usize, number: u64) -> String {
    let count = text.lines().filter(|line| line.contains("value = ")).count();
    let mut visited = 0;
    let lines = text.lines().map(|text| {
        let Some((before, after)) = text.split_once("value = ") else { return text.to_owned() };
        visited += 1;
        let rest = after.find(", source").map_or("", |at| &after[at..]);
        if visited - 1 == line % count { format!("{before}value = {number}{rest}") } else { text.to_owned() }
    });
    lines.collect::<Vec<_>>().join("\n")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn no_damaged_file_panics(text in file(), mutations in mutations()) {
        let _ = Model::parse("m.toml", &mutate(text, &mutations));
    }

    #[test]
    fn no_number_panics(
        text in file(),
        changes in prop::collection::vec((any::<usize>(), prop_oneof![any::<u64>(), 0u64..1 << 36, 0u64..5000]), 1..4),
    ) {
        let text = changes.iter().fold(text.to_owned(), |text, (line, number)| with_number(&text, *line, *number));
        let _ = Model::parse("m.toml", &text);
    }

    #[test]
    fn no_spec_panics(text in "sim:\\PC{0,30}") {
        let _ = Spec::parse(&text);
    }
}

/// Models that drives report, each with its capacity, none of which is in the catalog.
const OTHERS: [(&str, u64); 48] = [
    ("M4-CT256M4SSD2", 256_060_514_304),
    ("M4-CT064M4SSD2", 64_023_257_088),
    ("M4-CT512M4SSD2", 512_110_190_592),
    ("C400-MTFDDAC256MAM", 256_060_514_304),
    ("Crucial_CT128MX100SSD1", 128_035_676_160),
    ("CT500MX500SSD1", 500_107_862_016),
    ("C300-CTFDDAC128MAG", 128_035_676_160),
    ("INTEL SSDSC2CW240A3", 240_057_409_536),
    ("INTEL SSDSC2CT120A3", 120_034_123_776),
    ("INTEL SSDSC2BB120G4", 120_034_123_776),
    ("INTEL SSDSA2M080G2GC", 80_026_361_856),
    ("INTEL SSDSA2M160G2GC", 160_041_885_696),
    ("INTEL SSDSA2MH160G1GC", 160_041_885_696),
    ("INTEL SSDSA2CW080G3", 80_026_361_856),
    ("SSDSA2SH064G1GC INTEL", 64_023_257_088),
    ("INTEL SSDSA2VP020G2", 20_003_880_960),
    ("OCZ-VERTEX2", 120_034_123_776),
    ("OCZ VERTEX2", 120_034_123_776),
    ("OCZ-VERTEX-TURBO", 120_034_123_776),
    ("OCZ VERTEX-PLUS", 120_034_123_776),
    ("OCZ-VERTEX", 64_023_257_088),
    ("OCZ-VERTEX3", 240_057_409_536),
    ("OCZ-VERTEX3", 60_022_480_896),
    ("OCZ-VERTEX3 MI", 120_034_123_776),
    ("OCZ-VERTEX3 LT", 120_034_123_776),
    ("OCZ-VERTEX4", 128_035_676_160),
    ("OCZ-VERTEX460", 120_034_123_776),
    ("OCZ-AGILITY3", 120_034_123_776),
    ("Samsung SSD 840 EVO 500GB", 500_107_862_016),
    ("Samsung SSD 850 PRO 128GB", 128_035_676_160),
    ("Samsung SSD 970 EVO 1TB", 1_000_204_886_016),
    ("KINGSTON SV300S37A120G", 120_034_123_776),
    ("ST9500420AS", 500_107_862_016),
    ("ST9320325AS", 320_072_933_376),
    ("ST9500327AS", 500_107_862_016),
    ("ST500LT012-1DG142", 500_107_862_016),
    ("ST8000AS0003-2HH188", 8_001_563_222_016),
    ("ST8000DM004-2CX188", 8_001_563_222_016),
    ("ST6000AS0002-1NA172", 6_001_175_126_016),
    ("ST2000DM001-1CH164", 2_000_398_934_016),
    ("WDC WD6400AAKX-001CA0", 640_135_028_736),
    ("WDC WD6401AALS-00L3B2", 640_135_028_736),
    ("WDC WD5000AAKS-00A7B0", 500_107_862_016),
    ("WDC WD7500BPKT-00PK4T0", 750_156_374_016),
    ("WDC WD5000BPKT-75PK4T0", 500_107_862_016),
    ("WDC WD3000HLFS-01G6U0", 300_069_052_416),
    ("QEMU HARDDISK", 128_035_676_160),
    ("", 0),
];

#[test]
fn a_drive_that_was_sold_is_found_by_what_it_reports() {
    let reported_models: Vec<_> =
        catalog().iter().filter_map(|entry| Some((entry, entry.model.reported_models.as_ref()?))).collect();
    assert_eq!(reported_models.len(), 12);
    for (entry, reported_models) in &reported_models {
        let bytes = entry.model.capacity_bytes;
        assert_eq!(
            by_reported_model(&reported_models.example, bytes).map(|found| found.name),
            Some(entry.name)
        );
        assert_eq!(
            by_reported_model(&format!("{}   ", reported_models.example.to_lowercase()), bytes),
            Some(*entry)
        );
        assert_eq!(by_reported_model(&reported_models.example, bytes * 2), None, "{}", entry.name);
        assert!(!entry.model.model.starts_with("Generic") && entry.model.faults.is_none());
    }
    for (model, bytes) in OTHERS {
        assert_eq!(by_reported_model(model, bytes).map(|found| found.name), None, "{model}");
    }
}

#[test]
fn a_pattern_that_would_be_anybody_is_refused() {
    let with = |models: &str, example: &str| {
        let table = format!(
            "[sold]\nmodels = {{ value = \"{models}\", source = \"x\" }}\nexample = {{ value = \"{example}\", source = \"x\" }}\n\n[advertised]"
        );
        refusal("[advertised]", &table)
    };
    assert!(with("WDC*", "WDC WD10").contains("five characters"));
    assert!(
        with("ST500LT012-*, ", "ST500LT012-1").contains("five characters"),
        "nothing is a pattern of anything"
    );
    assert!(with("ST500LT012-*", "ST500LT013-1").contains("none of sold.models stands for"));
}

/// The requirements of each setting. A drive that does not support it is refused with the setting's name, and
/// not opened without it.
#[test]
fn a_setting_that_a_drive_cannot_do_is_refused_by_name() {
    const FLASH: &str = "tiny-flash";
    const AGES: &str = "tlc-sata-500gb";
    const DISK: &str = "disk-2tb";
    const VOLUME: &str = "cloud-gp2-100gib";
    for (name, setting, refused) in [
        (FLASH, "age=90d&fill=0.5", Some("age")),
        (AGES, "age=90d&fill=0.01", None),
        (AGES, "age=90d", Some("age")),
        (DISK, "age=90d&fill=0.5", Some("age")),
        (VOLUME, "age=90d&fill=0.5", Some("age")),
        (FLASH, "trim=off", None),
        (VOLUME, "trim=off", None),
        (DISK, "trim=on", Some("trim")),
        (DISK, "trim=off", Some("trim")),
        (DISK, "cache=off", None),
        (FLASH, "cache=off", Some("cache")),
        (VOLUME, "cache=on", Some("cache")),
        (VOLUME, "fill=0.5", None),
        (DISK, "fill=0.5&deleted=0.1", None),
        (DISK, "busy=10&outliers=100&throttle=0.5&memory=1GiB&facts=off&data=off", None),
        (FLASH, "busy=10&outliers=100&throttle=0.5&memory=1GiB&facts=off&data=on", None),
    ] {
        let spec = Spec::parse(&format!("sim:{name}?{setting}")).unwrap();
        let opened = spec.open(|_| unreachable!("it is in the catalog")).err().map(|error| error.to_string());
        let explained =
            spec.explain(|_| unreachable!("it is in the catalog")).err().map(|error| error.to_string());
        match refused {
            None => assert_eq!(opened, None, "{name}?{setting}"),
            Some(key) => {
                let reason = opened.unwrap_or_else(|| panic!("{name}?{setting} does nothing"));
                assert!(reason.contains(key), "{name}?{setting}: {reason}");
            }
        }
        assert_eq!(explained.is_some(), refused.is_some(), "sim show says the same of {name}?{setting}");
    }
    // Random choices of a generated drive are not settings of the user.
    for seed in 0..40 {
        Spec::parse(&format!("sim:generated-{seed}"))
            .unwrap()
            .explain(|_| unreachable!("it is drawn"))
            .unwrap();
    }
}
