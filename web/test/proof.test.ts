import { expect, test } from "vitest";

import { altOf, seriesTable } from "../src/alt";
import type { Document, Row } from "../src/Document";
import { aboutOf } from "../src/facts";
import { DARK, drawingOf, LIGHT, marksIn } from "../src/picture";
import { picturesOf, split } from "../src/pictures";
import { seriesOf } from "../src/proof";
import { spell } from "../src/units";
import { insideOf } from "../src/xray";
import { example, xray } from "./documents";

const leads = (document: Document) => {
  const members = [{ label: "one", document }];
  return split(members, picturesOf(members)).lead.map(({ key }) => key);
};

const speed = (row: Row, key: string) => spell(Number(row[key]), "bytes/s");

/** The sustained write of `check-slow`, as a bar says it. */
const sustained = () => {
  const row = example("check-slow").tables["metrics"]!.find(({ metric }) => metric === "sustained_write")!;
  const share = `${Math.round(Number(row["percent"]))}%`;
  return { row, words: `${speed(row, "measured_per_s")} · ${share} of ${speed(row, "reference_per_s")}` };
};

test("the first picture is the one that proves the answer", () => {
  expect(leads(example("check-slow"))).toEqual(["metric_bars"]);
  expect(leads(example("recondition-restored"))).toEqual(["before_and_after"]);
  expect(leads(example("age-used"))).toEqual(["used_vs_new"]);
  expect(leads(example("endure-knees"))).toEqual(["file"]);
  expect(leads(example("sweep-new")).every((key) => key.startsWith("heat_"))).toBe(true);
});

test("each metric is a share of new, with its interval and its rated speed", () => {
  const { metric_bars: bars } = seriesOf(example("check-slow"));
  const [now, rated] = bars!.lines;
  const at = bars!.categories!.indexOf("sustained write");
  expect(now!.points[at]![1]).toBeCloseTo(Number(sustained().row["percent"]) / 100, 9);
  expect(now!.labels![at]).toBe(sustained().words);
  expect(now!.tones![at]).toBe("fall");
  expect(now!.tones![bars!.categories!.indexOf("sequential read")]).toBe("plain");
  expect(rated!.isMark).toBe(true);
  expect(rated!.points).toHaveLength(3);
  const document = example("check-slow");
  for (const row of document.tables["metrics"]!) row["reference_per_s"] = null;
  expect(seriesOf(document)["metric_bars"]).toBeUndefined();
});

test("a chart says what its bars are a share of", () => {
  const drawn = (references: string[]) => {
    const document = example("check-slow");
    document.tables["metrics"]!.forEach((row, at) => (row["reference"] = references[at % references.length]!));
    const { title, y, whole } = seriesOf(document)["metric_bars"]!;
    return [title, y.label, whole!.label];
  };
  expect(drawn(["simulated"])).toEqual(["Each metric now, as a share of new", "share of new", "when new"]);
  expect(drawn(["other_drive"])[0]).toBe("Each metric now, as a share of another drive of its model");
  expect(drawn(["baseline"])[2]).toBe("baseline");
  expect(drawn(["advertised", "link"])[0]).toBe("Each metric now, as a share of its reference");
});

test("metrics without a reference keep their values, and those of several references name them", () => {
  const document = example("check-slow");
  const [first, second, ...rest] = document.tables["metrics"]!;
  [first!["reference"], second!["reference"]] = ["advertised", "link"];
  for (const row of rest) [row["reference"], row["reference_per_s"]] = [null, null];
  const { metric_bars: bars } = seriesOf(document);
  const { labels, tones, points } = bars!.lines[0]!;
  expect(bars!.categories).toEqual(document.overview.table!.rows.map(({ cells }) => cells[0]));
  expect(labels!.slice(0, 2).map((label) => /\(.*\)$/.exec(label)?.[0])).toEqual(["(rated)", "(link limit)"]);
  expect(labels!.slice(2)).toEqual(document.overview.table!.rows.slice(2).map(({ cells }) => cells[1]));
  expect(tones!.slice(2)).toEqual(["absent", "absent", "absent", "absent", "absent"]);
  expect(points).toHaveLength(7);
  expect(bars!.remark).toContain("nothing to compare it with");
});

test("a chart of steps says what its bars are a share of", () => {
  const document = example("recondition-restored");
  const rows = document.tables["before_and_after"]!;
  const drawn = () => seriesOf(document)["before_and_after"]!;
  rows.forEach((row) => (row["share_of"] = "its rated speed"));
  expect(drawn().title).toBe("Before and after each step, as a share of its rated speed");
  expect(drawn().whole).toEqual({ value: 1, label: "its rated speed" });
  rows[0]!["share_of"] = "fresh data";
  expect(drawn().title).toBe("Before and after each step, as a share of its reference");
  expect(drawn().lines[1]!.labels![0]).toMatch(/% of fresh data$/);
  rows[0]!["reference_per_s"] = null;
  expect(drawn().lines.map(({ tones }) => tones![0])).toEqual(["absent", "absent"]);
});

test("the line above a result has what is known of the drive and its run", () => {
  const [document] = [example("check-slow")];
  expect(aboutOf({ label: "", document })).toEqual([
    "Tiny Flash 1 GiB",
    "simulated",
    "1 GiB",
    "MLC flash, SATA 3 Gb/s",
    "sim:tiny-flash?state=used",
    "likenew 0.1.0",
  ]);
  const { target, instrument } = document;
  Object.assign(target, { name: "/mnt/data", kind: "folder", model: "X" });
  target.facts = [["firmware", "2B2Q"], ["bus", "nvme"], ["link", "PCIe, 3,940 MB/s"], ["drive capacity", "932 GiB"]];
  instrument.system = "Debian GNU/Linux 13, Linux 6.12.9";
  expect(aboutOf({ label: "", document, started_at: "2026-03-14T15:09:26.535Z" })).toEqual([
    "X",
    "932 GiB",
    "firmware 2B2Q",
    "PCIe, 3,940 MB/s",
    "/mnt/data",
    "2026-03-14 15:09 UTC",
    "Debian GNU/Linux 13, Linux 6.12.9",
    "likenew 0.1.0",
  ]);
});

test("a wide interval around no change is not called a fall", () => {
  const document = example("check-slow");
  const row = document.tables["metrics"]!.find(({ metric }) => metric === "sustained_write")!;
  row["high_per_s"] = Number(row["reference_per_s"]) * 1.5;
  const { metric_bars: bars } = seriesOf(document);
  expect(bars!.lines[0]!.tones![bars!.categories!.indexOf("sustained write")]).toBe("unclear");
});

test("a used drive has its change at every bar", () => {
  const { used_vs_new: bars } = seriesOf(example("age-used"));
  const [fresh, used] = bars!.lines;
  const at = bars!.categories!.indexOf("sequential writes");
  expect([fresh!.labels![at], used!.labels![at], used!.tones![at]]).toEqual([
    "69.0 MB/s",
    "52.5 MB/s · 24% slower",
    "fall",
  ]);
  expect(used!.tones![bars!.categories!.indexOf("random writes")]).toBe("unclear");
});

test("a step of recondition has its gain where it is clear", () => {
  const { before_and_after: bars } = seriesOf(example("recondition-restored"));
  const [before, after] = bars!.lines;
  const at = bars!.categories!.indexOf("sustained write");
  const row = example("recondition-restored").tables["before_and_after"]!.find(({ metric }) => metric === "sustained write")!;
  expect(before!.labels![at]).toBe(speed(row, "before_per_s"));
  expect(after!.labels![at]).toBe(
    `${speed(row, "after_per_s")} · ${Number(row["ratio"]).toFixed(2)}× · 97% of new`,
  );
  expect(after!.labels![bars!.categories!.indexOf("sequential write")]).not.toContain("×");
});

test("a curve has the levels between its knees and the intervals around them", () => {
  const { file } = seriesOf(example("endure-knees"));
  const levels = file!.lines[0]!.levels!;
  expect(levels.map(({ value }) => Math.round(value / 1e5) / 10)).toEqual([66.8, 30.6]);
  expect(levels[0]!.to).toBe(levels[1]!.from);
  expect(file!.spans).toEqual([[4410318848, 5160435712]]);
});

test("a cell of a sweep leads to its latencies", () => {
  const series = seriesOf(example("sweep-new"));
  const [key, heat] = Object.entries(series).find(([, { shape }]) => shape === "heat")!;
  const line = heat.lines.at(-1)!;
  const [x, value] = line.points[0]!;
  const details = new Map(heat.details!(heat.categories![x]!, line.name));
  expect([...details.keys()]).toEqual(["speed", "IOPS", "mean latency", "p50", "p99", "p99.9", "p99.99", "max"]);
  const row = example("sweep-new").tables["matrix"]!.find(
    (row) => row["bytes_per_s"] === value && key.includes(String(row["op"])),
  )!;
  expect(String(row["depth"])).toBe(line.name);
  expect(heat.details!("3 KiB", "1")).toEqual([]);
});

test("the latencies of a benchmark are drawn as far as its table has them", () => {
  const { latencies_of_tests: latencies } = seriesOf(example("bench-new"));
  const [row] = example("bench-new").tables["results"]!;
  expect(latencies!.lines.map(({ name }) => name)).toEqual(["p50", "p99", "max"]);
  expect(latencies!.lines.map(({ points }) => points[0]![1])).toEqual([
    row!["latency_ns_p50"],
    row!["latency_ns_p99"],
    row!["latency_ns_max"],
  ]);
});

test("the inside of a drive has what was found, and what is unknown", () => {
  const { document } = xray();
  const inside = insideOf(document)!;
  expect(inside.dies).toBe(16);
  expect(inside.parts["mapping"]).toMatchObject({ value: "maps single pages", range: "", confidence: "95%", isKnown: true });
  expect(inside.parts["erase_unit_bytes"]).toMatchObject({ value: "8 MiB", range: "7.20–8.80 MiB" });
  expect(inside.parts["slc_cache_bytes"]).toMatchObject({ value: "none", isAbsent: true });
  expect(inside.unknown.map(({ name }) => name)).toEqual(["read time of old data"]);
  document.procedure = "bench";
  expect(insideOf(document)).toBeNull();
});

test("a chart is told in words with its main numbers", () => {
  const bars = altOf(seriesOf(example("check-slow"))["metric_bars"]!);
  expect(bars).toContain(`sustained write: now ${sustained().words}, rated 90%.`);
  const line = altOf(seriesOf(example("endure-knees"))["file"]!);
  expect(line).toMatch(
    /^write: [\d.–]+ MB\/s, from 69\.7 MB\/s at bytes written 16 MiB to .*\. Marks: write: 66\.8 → 30\.6 MB\/s at /,
  );
  expect(altOf(Object.values(seriesOf(example("sweep-new")))[0]!)).toMatch(
    /^Highest: queue depth .*Lowest: queue depth /,
  );
});

test("a chart is a table of its numbers", () => {
  const { file } = seriesOf(example("endure-knees"));
  const table = seriesTable(file!);
  expect(table.headings.map(({ text }) => text)).toEqual(["bytes written", "write"]);
  expect(table.rows).toHaveLength(file!.lines[0]!.points.length);
  expect(table.rows[0]!.map(({ text }) => text)).toEqual(["16 MiB", "69.7 MB/s"]);
});

/** Contrast of two colors as WCAG defines it. */
function contrast(one: string, other: string): number {
  const luminance = (color: string) => {
    const part = (from: number) => {
      const share = parseInt(color.slice(from, from + 2), 16) / 255;
      return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    };
    return 0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5);
  };
  const [high, low] = [luminance(one), luminance(other)].sort((a, b) => b - a) as [number, number];
  return (high + 0.05) / (low + 0.05);
}

test.each([
  ["light", LIGHT],
  ["dark", DARK],
] as const)("lines and bars stand out from the card when it is %s", (_, palette) => {
  for (const color of [...palette.lines, palette.fall, palette.unclear])
    expect(contrast(color, palette.card), color).toBeGreaterThanOrEqual(3);
  for (const color of [palette.ink, palette.faint])
    expect(contrast(color, palette.card), color).toBeGreaterThanOrEqual(4.5);
});

test("a change is unclear in the chart where the first screen calls it so", () => {
  const document = example("age-used");
  const changes = document.overview.table!.rows.map(({ cells }) => cells[3]);
  const [, used] = seriesOf(document)["used_vs_new"]!.lines;
  expect(changes).toContain("unclear");
  expect(used!.tones!.map((tone) => tone === "unclear")).toEqual(changes.map((change) => change === "unclear"));
});

test("a mark before the first point has its name, as the axis begins at zero", () => {
  const series = { ...seriesOf(example("fill-used"))["files"]! };
  const [first] = series.lines[0]!.points[0]!;
  series.marks = [{ x: first / 2, label: "stalled 846 ms" }];
  const drawing = drawingOf(series, { palette: LIGHT, logarithmic: false, width: 800 });
  const [mark] = marksIn(series, drawing, { window: null, width: 700, height: 200, logarithmic: { x: false, y: false } });
  expect(mark!.row).toBe(0);
});
