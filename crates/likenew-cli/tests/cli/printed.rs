//! What programs printed on another machine, as the target of `facts` and `check`.

use std::fs;

use crate::support::Sandbox;

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
        document["answers"].as_array().unwrap().iter().find(|of| of["id"] == "read_from").unwrap();
    assert!(read_from["caveats"][0].as_str().unwrap().contains("photo.jpg"), "{read_from}");

    // A drive elsewhere is none of this machine's, and no baseline of one.
    let history = sandbox.run(&["history", "--json", "-"]).code(0).json();
    assert_eq!(history["drives"], serde_json::json!([]), "{history}");

    // The kept run says the same when it is judged again.
    let again = sandbox.run(&["report", "--json", "-"]).code(0).json();
    assert_eq!(again["tables"]["causes"], document["tables"]["causes"]);
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
        answers.into_iter().filter(|of| of["question"] == "sda").collect::<Vec<_>>()
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
