import { expect, test } from "vitest";

import { altOf, seriesTable } from "../src/alt";
import { LIGHT, drawingOf, layersOf, pictureOf, tooltipOf } from "../src/picture";
import type { DriveSummary } from "../src/serve/answers";
import { checkRows, checkedDrives, drivesByTarget, speedOverTime } from "../src/serve/history";
import { checkWords, markWords, nowWords } from "../src/serve/wording";
import { wordsAt } from "../src/steps";
import { LINE } from "../src/text";
import { drive, fallen } from "./histories";

test("a value now stands beside its share of the first check", () => {
  const [metric] = drive({ sequential_read: [100e6, 88e6] }).metrics;
  expect(nowWords(metric!)).toBe("88.0 MB/s · 88%");
});

test("the list has drives that were checked, real ones first", () => {
  const of = (access: string, target: string, check_count: number, last_at: string): DriveSummary => ({
    ...fallen(),
    access,
    target,
    check_count,
    last_at,
  });
  const drives = [
    of("simulated", "sim:a", 2, "2026-03-05"),
    of("device", "/dev/sda", 1, "2026-03-04"),
    of("device", "/dev/sdb", 0, "2026-03-03"),
    of("device", "/dev/sda", 5, "2026-03-02"),
    of("folder", "/home", 1, "2026-03-01"),
  ];
  const { real, simulated } = checkedDrives(drives);
  expect(real.map(({ target }) => target)).toEqual(["/dev/sda", "/dev/sda", "/home"]);
  expect(simulated.map(({ target }) => target)).toEqual(["sim:a"]);
  const byTarget = drivesByTarget(drives);
  expect(byTarget.get("/dev/sda")?.check_count, "the one that is there now").toBe(1);
  expect(byTarget.has("/dev/sdb")).toBe(false);
});

test("a chart has a line for each metric, as shares of the first check", () => {
  const { series } = speedOverTime(fallen(), null);
  expect(series.title).toBe("Speed of each check");
  expect(series.lines.map(({ name, points }) => [name, points.length])).toEqual([
    ["sequential read", 16],
    ["sequential write", 16],
    // A check that wrote another number of bytes is another test.
    ["sustained write", 15],
    ["4K random read", 16],
    ["4K random write", 16],
    ["4K random read QD32", 16],
  ]);
  const sustained = series.lines[2]!;
  expect(sustained.points[0]).toEqual([Date.parse("2026-01-03T10:20:00.000Z"), 1]);
  expect(sustained.points.at(-1)?.[1]).toBeCloseTo(0.4);
  // Reads are blue and writes orange, as everywhere.
  expect(series.lines.map(({ hue, dash }) => [hue, dash])).toEqual([[0, 0], [1, 0], [1, 1], [0, 1], [1, 2], [0, 2]]);
  expect(series.lines.every(({ band }) => band === undefined)).toBe(true);
});

test("a date on which metrics changed has one mark, that of the largest change first", () => {
  const marksOf = (metric: string | null) =>
    speedOverTime(fallen(), metric).series.marks?.map(({ x, label }) => [new Date(x).toISOString().slice(0, 10), label]);
  expect(marksOf(null)).toEqual([
    ["2026-03-10", "2 metrics slower"],
    ["2026-02-10", "4K random read 20% faster"],
  ]);
  expect(marksOf("sequential_read")).toEqual([["2026-03-10", "sequential read 14% slower"]]);
  expect(marksOf("random_write")).toEqual([]);
  expect(markWords([{ name: "a", ratio: 0.5 }, { name: "b", ratio: 3 }])).toBe("2 metrics changed");
});

test("many dates have a stroke each on the axis, which hides no line", () => {
  const values = { sequential_read: [...Array(8).fill(null), 1, 1], random_read: Array.from({ length: 10 }, (_, at) => 1 + at) };
  const { checks } = drive(values);
  const changes = checks.slice(1, 8).map(({ started_at }) => ({ since: started_at, ratio: 1.5, ratio_low: 1.4, ratio_high: 1.6 }));
  const { series } = speedOverTime(drive(values, { random_read: changes }), null);
  const look = { palette: LIGHT, logarithmic: false, width: 800 };
  const frame = { window: null, width: 800, height: 236, logarithmic: { x: false, y: false } };
  const layers = layersOf(series, series, look, drawingOf(series, look), frame) as { name: string; data: unknown[] }[];
  expect(layers.at(-1)).toMatchObject({ name: "marks", type: "custom" });
  expect(layers.at(-1)?.data).toHaveLength(7);
  expect(drawingOf(series, look).legend.option).toMatchObject({ data: expect.arrayContaining([expect.objectContaining({ name: "marks" })]) });
});

test("one metric alone has its intervals and what it was compared with", () => {
  const { series } = speedOverTime(fallen(), "sequential_read");
  expect(series.lines.map(({ name }) => name)).toEqual(["sequential read", "rated"]);
  const [read, rated] = series.lines;
  expect(read?.band?.[0]).toEqual([read?.points[0]?.[0], 0.98, 1.02]);
  expect(rated?.points[0]?.[1]).toBeCloseTo(560 / 540);
  expect(rated?.points.at(-1)?.[1], "the same speed in each check").toBeCloseTo(560 / 540);
  // The first check is 100% anyway.
  expect(speedOverTime(fallen(), "sustained_write").series.lines.map(({ name }) => name)).toEqual(["sustained write"]);
});

test("a point says its value, interval, reference, date and run", () => {
  const { series } = speedOverTime(fallen(), "sequential_read");
  const said =
    "sequential read, 2026-04-24 10:20, 2026-04-24T10-20-00.000Z-check-dev-sda: 86% (84–88%) · 464 MB/s (455–474), rated 560 MB/s";
  expect(wordsAt(series, { line: 0, point: 15 })).toBe(said);
  const hovered = [{ componentType: "series", seriesIndex: 0, dataIndex: 9, color: "#0072b2", value: [] }];
  expect(tooltipOf(series, hovered).split("<br>")).toEqual([
    "2026-03-10 10:20",
    "2026-03-10T10-20-00.000Z-check-dev-sda",
    '<svg width="10" height="10" aria-hidden="true"><circle cx="5" cy="5" r="5" fill="#0072b2"/></svg> ' +
      "sequential read <b>86% (84–88%)</b> · 464 MB/s (455–474), rated 560 MB/s",
    "▼ sequential read 14% slower",
  ]);
  expect(checkWords(fallen().checks[0]!.metrics[2]!)).toBe("450 MB/s (441–459)");
});

test("a chart over dates has them on its axis, in its words and in its table", () => {
  const { series } = speedOverTime(fallen(), "sequential_read");
  const look = { palette: LIGHT, logarithmic: false, width: 800 };
  const drawing = drawingOf(series, look);
  const frame = { window: null, width: 800, height: 236, logarithmic: { x: false, y: false } };
  const { xAxis, yAxis } = pictureOf(series, series, look, drawing, frame) as {
    xAxis: { type: string; min: number; max: number };
    yAxis: { nameGap: number };
  };
  expect(yAxis.nameGap, "above the one row of names of marks").toBe(15 + LINE);
  expect([xAxis.type, xAxis.min, xAxis.max]).toEqual([
    "time",
    Date.parse("2026-01-03T10:20:00.000Z"),
    Date.parse("2026-04-24T10:20:00.000Z"),
  ]);
  expect(altOf(series)).toBe(
    "sequential read: 86–102%, from 100% on 2026-01-03 10:20 to 86% on 2026-04-24 10:20. " +
      "rated: 104%, from 104% on 2026-01-03 10:20 to 104% on 2026-04-24 10:20. " +
      "Marks: sequential read 14% slower on 2026-03-10 10:20.",
  );
  const { headings, rows } = seriesTable(series);
  expect(headings.map(({ text }) => text)).toEqual(["date", "sequential read", "rated"]);
  expect(rows[0]?.map(({ text }) => text)).toEqual([
    "2026-01-03 10:20",
    "100% (98–102%) · 540 MB/s (529–551), rated 560 MB/s",
    "104%",
  ]);
});

test("the table of checks begins with the latest and shows where a level begins", () => {
  const rows = checkRows(fallen());
  expect(rows[0]?.check.started_at).toBe("2026-04-24T10:20:00.000Z");
  const levels = rows.find(({ check }) => check.started_at.startsWith("2026-03-10"))?.cells.map(({ level }) => level);
  expect(levels).toEqual(["slower", null, "slower", null, null, null]);
  expect(rows.at(-6)?.cells.map(({ level }) => level)).toEqual([null, null, null, "faster", null, null]);
  expect(rows.at(-2)?.cells[2]?.percent, "another number of bytes").toBeNull();
});
