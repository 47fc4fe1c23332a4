import { expect, test } from "vitest";

import { actionGroups, actionParts, firstAnswers, intervalWords, numberColumns, standingOf, summaryOf } from "../src/answers";
import type { ActionGroup } from "../src/answers";
import type { Action, Answer } from "../src/Document";
import { example } from "./documents";

const action = (more: Partial<Action>): Action => ({ id: "a", why: "Rewrite all data", loses: "nothing", ...more });

test("a document is a problem where one of its answers is, and otherwise what the first is", () => {
  const { answers } = example("check-slow");
  const others = answers.filter(({ standing }) => standing !== "problem");
  expect(standingOf(answers)).toBe("problem");
  expect(standingOf(answers.toReversed())).toBe("problem");
  expect(standingOf(others)).toBe("info");
  expect(standingOf([])).toBe("info");
});

test("the first screen does not repeat what the headline says, however it joins it", () => {
  const document = example("check-slow");
  const answer = (id: string, question: string, answer: string): Answer => ({ ...document.answers[0]!, id, question, answer });
  document.summary = "Nothing to restore: the drive is as fast as it should be (280 MB/s).";
  document.answers = [
    answer("result", "Result", "nothing to restore; the drive is as fast as it should be"),
    answer("speed", "Speed", "as fast"),
    answer("before", "Before", "as fast as new (280 MB/s read)"),
  ];
  document.overview.answers = ["result", "speed", "before"];
  expect(firstAnswers(document).map(({ id }) => id)).toEqual(["speed", "before"]);
});

test("a document without summary says its first answer", () => {
  const document = example("age-used");
  expect(summaryOf(document)).toBe("Sequential writes fell 24%: 69.0 → 52.5 MB/s.");
  document.summary = "";
  document.answers.shift();
  expect(summaryOf(document)).toBe("Sequential write: 69.0 → 52.5 MB/s, 24% slower");
  document.answers = [];
  expect(summaryOf(document)).toBe("This run gave no answers.");
});

test("an interval is said where it adds something", () => {
  const line = (answer: string, value: number, low: number | null, high: number | null, unit: string) =>
    intervalWords({ ...(example("age-used").answers[1] as Answer), answer, estimate: { value, low, high, unit } });
  expect(line("77.2 MB/s, steady", 77.2e6, 76.4e6, 77.9e6, "bytes/s")).toBe("Interval: 76.4–77.9 MB/s");
  expect(line("steady", 77.2e6, 76.4e6, 77.9e6, "bytes/s")).toBe("Estimate: 77.2 MB/s (76.4–77.9)");
  expect(line("unchanged", -0.1, -0.9, 0.7, "%")).toBe(null);
  expect(line("steady", 77.2e6, 76.4e6, null, "bytes/s")).toBe("Interval: at least 76.4 MB/s");
  expect(line("steady", 77.2e6, null, 77.9e6, "bytes/s")).toBe("Interval: at most 77.9 MB/s");
  expect(line("steady", 77.2e6, null, null, "bytes/s")).toBe(null);
  expect(line("QD1", 1, 1, 8, "1")).toBe(null);
  expect(line("26% of new", 26, 26, 26, "%")).toBe(null);
});

test("each command is listed once, what repairs before what decides", () => {
  const document = example("fill-used");
  const [speed, stalls] = document.answers as [Answer, Answer];
  stalls.actions.push(...speed.actions);
  const named = (groups: ActionGroup[]) => groups.map(({ heading, actions }) => [heading, actions.map(({ id }) => id)]);
  const { urgent, groups } = actionGroups(document);
  expect(urgent).toEqual([]);
  expect(named(groups)).toEqual([
    ["Fix it", ["recondition", "check"]],
    ["To decide", ["second_pass"]],
  ]);
  // Two open questions that the same deed decides, and a drive that is failing.
  const open = document.answers.find(({ standing }) => standing === "unknown")!;
  open.actions = ["one", "other"].map((id) => ({ id, why: "Measure writes, too", loses: "nothing" }));
  speed.actions.push({ id: "back_up", why: "Back up now", loses: "nothing" });
  expect(named(actionGroups(document).urgent)).toEqual([["Back up first", ["back_up"]]]);
  expect(named(actionGroups(document).groups)).toEqual([
    ["Fix it", ["recondition", "check"]],
    ["To decide", ["one"]],
  ]);
});

test("an action says what it loses and costs", () => {
  const whole = action({ command: "likenew recondition /dev/sdb", time_s: 5400, bytes_written: 150e9 });
  expect(actionParts(whole)).toEqual(["Rewrite all data", "nothing lost", "about 90 min", "140 GiB written"]);
  expect(actionParts(action({ loses: "everything" }))[1]).toBe("ERASES everything");
  expect(actionParts(action({}))).toEqual(["Rewrite all data"]);
});

test("columns of numbers are told from words that begin with one", () => {
  const table = (cells: string[]) => ({ headings: ["x"], rows: cells.map((cell) => ({ cells: [cell] })) });
  const numbers = ["254 MB/s", "4,940 IOPS", "19.8 MB/s (15.9–24.7)", "31–33", "26%", "−34%", "3 h 20 min", "± 2%", "2.5×", "≥ 8 MiB"];
  for (const cell of numbers) expect(numberColumns(table([cell, "–", ""])), cell).toEqual([true]);
  for (const cell of ["4K random read", "flash", "4 KiB random reads", "", "–", "not possible: ignores TRIM", "512B"]) {
    expect(numberColumns(table([cell])), cell).toEqual([false]);
  }
});
