//! What programs printed on another machine, as the target of `facts` and `check`.

use std::fs;

use crate::support::{CommandOutput, Sandbox, program};

const QUESTION: &str = include_str!("../../../../docs/howto/slow-on-another-machine.in/question.txt");
const FIO: &str = include_str!("../../../../docs/howto/slow-on-another-machine.in/fio.txt");

#[test]
fn a_folder_of_outputs_gives_the_diagnosis_and_what_is_no_output_is_named() {
    let sandbox = Sandbox::new();
    let folder = sandbox.work().join("outputs");
    fs::create_dir_all(folder.join("more")).unwrap();
    fs::write(folder.join("question.txt"), QUESTION).unwrap();
    fs::write(folder.join("photo.jpg"), [0xff, 0xd8, 0, 1]).unwrap();
    fs::write(folder.join("more/fio.txt"), FIO).unwrap();

    let document = sandbox.run(&["check", "--from", "outputs", "--json", "-"]).code(10).json();
    let causes = document["tables"]["causes"].as_array().unwrap();
    assert_eq!(causes[0]["cause"], "narrow_link");
    let read_from =
        document["answers"].as_array().unwrap().iter().find(|answer| answer["id"] == "read_from").unwrap();
    assert!(read_from["caveats"][0].as_str().unwrap().contains("photo.jpg"), "{read_from}");

    // A drive elsewhere is none of this machine's, and no baseline of one.
    let history = sandbox.run(&["history", "--json", "-"]).code(0).json();
    assert_eq!(history["drives"], serde_json::json!([]), "{history}");

    // The kept run says the same when it is judged again.
    let again = sandbox.run(&["report", "--json", "-"]).code(0).json();
    assert_eq!(again["tables"]["causes"], document["tables"]["causes"]);
}

#[test]
fn an_output_may_come_through_a_pipe_of_the_shell_and_a_named_one_is_not_waited_for() {
    let sandbox = Sandbox::new();
    fs::write(sandbox.work().join("question.txt"), QUESTION).unwrap();
    fs::write(sandbox.work().join("fio.txt"), FIO).unwrap();
    let mut shell = std::process::Command::new("bash");
    let program = program().into_string().unwrap();
    shell.args(["-c", &format!("{program} check --from <(cat question.txt) <(cat fio.txt); {program} compare <(cat fio.txt) fio.txt")]);
    sandbox.hold(&mut shell);
    let said = CommandOutput::of(&mut shell).code(0).stdout();
    assert!(said.contains("the link runs slower") && said.contains("against"), "{said}");
    assert!(
        std::process::Command::new("mkfifo").arg(sandbox.work().join("pipe")).status().unwrap().success()
    );
    sandbox.run(&["facts", "--from", "pipe"]).code(2).says("it is a pipe");
    sandbox.run(&["compare", "fio.txt", "pipe"]).code(2).says("it is a pipe");
}

#[test]
fn what_is_no_output_is_refused_and_a_file_that_is_not_there_is_named() {
    let sandbox = Sandbox::new();
    fs::write(sandbox.work().join("letter.txt"), "Dear all,\nit is slow.\n").unwrap();
    let refused = sandbox.run(&["facts", "--from", "letter.txt"]).code(2).stderr();
    assert!(refused.contains("letter.txt") && refused.contains("smartctl"), "{refused}");
    sandbox.run(&["facts", "--from", "nowhere.txt"]).code(2);
    sandbox.run(&["check", "--from", "letter.txt", "sim:tiny-flash"]).code(2);
}

#[test]
fn a_bundle_reads_as_the_facts_that_it_is_of() {
    let sandbox = Sandbox::new();
    fs::write(sandbox.work().join("question.txt"), QUESTION).unwrap();
    sandbox.run(&["facts", "--from", "question.txt", "--bundle", "facts.json", "--no-archive"]).code(0);
    let text = fs::read_to_string(sandbox.work().join("facts.json")).unwrap();
    assert!(!text.contains("S3Z8NB0K000001"));
    let drives = |file: &str| {
        let document = sandbox.run(&["facts", "--from", file, "--no-archive", "--json", "-"]).code(0).json();
        let rows = document["tables"]["facts"].as_array().unwrap().clone();
        rows.into_iter()
            .filter(|row| row["section"] == "health" || row["section"] == "counts")
            .collect::<Vec<_>>()
    };
    assert_eq!(drives("facts.json"), drives("question.txt"));
}

#[test]
fn a_setting_that_costs_speed_comes_with_its_commands_and_a_usual_one_with_nothing() {
    let sandbox = Sandbox::new();
    let of = |scheduler: &str, read_ahead: u32| {
        let device = format!(
            r#"{{"blockdevices":[{{"name":"sda","type":"disk","tran":"sata","model":"WDC WD20EZAZ","rota":true,
            "sched":"{scheduler}","ra":{read_ahead},"size":2000398934016}}]}}"#
        );
        fs::write(sandbox.work().join("lsblk.json"), device).unwrap();
        let document =
            sandbox.run(&["facts", "--from", "lsblk.json", "--no-archive", "--json", "-"]).code(0).json();
        let answers = document["answers"].as_array().unwrap().clone();
        answers.into_iter().filter(|answer| answer["question"] == "sda").collect::<Vec<_>>()
    };
    let [scheduler, read_ahead] = &of("none", 16)[..] else { panic!("two settings") };
    let [now, good] = &scheduler["actions"].as_array().unwrap()[..] else { panic!("{scheduler}") };
    // Root needs no sudo.
    let typed = |command: &serde_json::Value| command.as_str().unwrap().replace("sudo ", "");
    assert_eq!(typed(&now["command"]), "echo mq-deadline | tee /sys/block/sda/queue/scheduler");
    assert_eq!(typed(&good["undo"]), "rm /etc/udev/rules.d/90-scheduler-sda.rules");
    assert!(good["why"].as_str().unwrap().contains("then shows [mq-deadline]"), "{good}");
    let undo = typed(&read_ahead["actions"][0]["undo"]);
    assert_eq!(undo, "echo 16 | tee /sys/block/sda/queue/read_ahead_kb");
    assert_eq!(of("mq-deadline", 128), [serde_json::Value::Null; 0]);
}

/// Ways in which people pass on what a program printed.
fn passed_on(text: &str) -> Vec<(&'static str, Vec<u8>)> {
    let each = |of: &dyn Fn(&str) -> String| text.lines().map(of).collect::<String>().into_bytes();
    let numbered = |of: &dyn Fn(usize, &str) -> String| -> Vec<u8> {
        text.lines().enumerate().map(|(at, line)| of(at + 1, line)).collect::<String>().into_bytes()
    };
    let units = |bytes: fn(u16) -> [u8; 2]| -> Vec<u8> {
        format!("\u{feff}{text}").encode_utf16().flat_map(bytes).collect()
    };
    vec![
        ("quoted", each(&|line| format!("> {line}\n"))),
        (
            "quoted twice, with empty lines bare",
            each(&|line| format!(">> {line}").trim_end().to_owned() + "\n"),
        ),
        (
            "a block of Markdown",
            [b"It is slow:\n\n".to_vec(), each(&|line| format!("    {line}\n"))].concat(),
        ),
        ("tabs", each(&|line| format!("\t{line}\n"))),
        ("cat -n", numbered(&|number, line| format!("{number:6}\t{line}\n"))),
        ("nl -ba -s' '", numbered(&|number, line| format!("{number:6} {line}\n"))),
        ("grep -n", numbered(&|number, line| format!("{}:{line}\n", number + 40))),
        (
            "a diff",
            [
                b"diff --git a/x b/x\nindex 1..2\n--- /dev/null\n+++ b/x\n@@ -0,0 +1,5 @@\n".to_vec(),
                each(&|line| format!("+{line}\n")),
            ]
            .concat(),
        ),
        ("comments", each(&|line| format!("# {line}\n"))),
        ("a journal", each(&|line| format!("Nov 30 07:12:31 nas report[812]: {line}\n"))),
        ("a journal with dates", each(&|line| format!("2026-11-30T07:12:31+0100 nas report.sh: {line}\n"))),
        ("fenced", format!("It is slow:\n```text\n{text}\n```\nThanks!\n").into_bytes()),
        ("tags", format!("[code]{text}[/code]\n").into_bytes()),
        ("a page", format!("<pre><code>{text}</code></pre>\n").into_bytes()),
        ("a terminal's colors", each(&|line| format!("\x1b[1;32m{line}\x1b[0m\x1b[K\n"))),
        ("Windows", text.replace('\n', "\r\n").into_bytes()),
        ("returns alone", text.replace('\n', "\r").into_bytes()),
        ("UTF-8 with a mark", format!("\u{feff}{text}").into_bytes()),
        ("UTF-16", units(u16::to_le_bytes)),
        ("UTF-16, the other way round", units(u16::to_be_bytes)),
        ("spaces of a page", text.replace("  ", "\u{a0} ").into_bytes()),
    ]
}

#[test]
fn an_output_says_the_same_however_it_was_passed_on() {
    let sandbox = Sandbox::new();
    let file = sandbox.work().join("pasted.txt");
    let reports =
        fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../likenew-real/tests/reports")).unwrap();
    let mut texts: Vec<(String, String)> = reports
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "txt"))
        .map(|path| (path.display().to_string(), fs::read_to_string(&path).unwrap()))
        .collect();
    texts.sort();
    texts.truncate(3);
    texts.push(("question".to_owned(), QUESTION.to_owned()));
    for (name, text) in texts {
        let facts = |bytes: &[u8]| {
            fs::write(&file, bytes).unwrap();
            let ran = sandbox.run(&["facts", "--from", "pasted.txt", "--no-archive", "--json", "-"]);
            let mut document = ran.json();
            // Lines before it move it.
            document["answers"].as_array_mut().unwrap().retain(|answer| answer["id"] != "read_from");
            (document["answers"].clone(), document["tables"]["facts"].clone())
        };
        let plain = facts(text.as_bytes());
        for (way, bytes) in passed_on(&text) {
            assert_eq!(facts(&bytes), plain, "{name}, {way}");
        }
    }
}

#[test]
fn nobody_is_told_to_measure_a_failing_drive() {
    let reports = concat!(env!("CARGO_MANIFEST_DIR"), "/../likenew-real/tests/reports");
    let asked = |report: &str| {
        let from = format!("{reports}/{report}.txt");
        let document = Sandbox::new().run(&["check", "--from", &from, "--json", "-"]).json();
        let answers = document["answers"].as_array().unwrap().iter();
        answers
            .flat_map(|answer| answer["actions"].as_array().unwrap())
            .map(|of| of["id"].clone())
            .collect::<Vec<_>>()
    };
    let failing = asked("toshiba-mq01abd075");
    assert!(!failing.contains(&"measure".into()) && !failing.is_empty(), "{failing:?}");
    let sound = asked("team-t253x2256g");
    assert!(sound.contains(&"measure".into()), "{sound:?}");
}

#[test]
fn a_result_compares_the_same_however_it_was_passed_on() {
    let sandbox = Sandbox::new();
    let samples = [
        FIO.to_owned(),
        include_str!("../../../likenew-fio/tests/samples/normal.txt").to_owned(),
        include_str!("../../../../docs/howto/did-it-help.in/before.txt").to_owned(),
    ];
    for text in samples {
        let against = |bytes: &[u8]| {
            fs::write(sandbox.work().join("a.txt"), &text).unwrap();
            fs::write(sandbox.work().join("b.txt"), bytes).unwrap();
            let ran = sandbox.run(&["compare", "a.txt", "b.txt", "--json", "-"]);
            ran.json()["tables"].clone()
        };
        let plain = against(text.as_bytes());
        for (way, bytes) in passed_on(&text) {
            assert_eq!(against(&bytes), plain, "{way}");
        }
    }
}
