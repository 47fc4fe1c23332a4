//! The examples in the README and the docs are real output: console blocks run in this order, with a separate
//! data home.

#[test]
fn the_readme_tells_the_truth() {
    let data = tempfile::tempdir().unwrap();
    let cases = trycmd::TestCases::new();
    // Tests of other binaries may use the same disk.
    cases.env("LIKENEW_LOCK_DIR", data.path().join("locks").to_str().unwrap());
    cases.env("XDG_DATA_HOME", data.path().to_str().unwrap()).env("NO_COLOR", "1").env("COLUMNS", "80");
    cases.case(concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md"));
    cases.case(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/fio.md"));
    cases.case(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/trace.md"));
    cases.case(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/record.md"));
    cases.case(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/watch.md"));
    cases.case(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/apps.md"));
    cases.case(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/explanation/model.md"));
    cases.case(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/explanation/check.md"));
    cases.case(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/tutorial/first-afternoon.md"));
    cases.case(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/json.md"));
    cases.case(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/howto/is-this-stick-fake.md"));
    cases.case(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/howto/my-hard-disk-got-slow.md"));
    cases.case(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/howto/my-cloud-volume-is-slow.md"));
    cases.case(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/howto/writes-stop-for-seconds.md"));
    cases.case(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/howto/fast-enough-for-a-database.md"));
    cases.case(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/howto/slow-on-another-machine.md"));
    cases.case(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/howto/did-it-help.md"));
    cases.run();
}
