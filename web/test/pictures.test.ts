import { expect, test } from "vitest";

import type { Series } from "../src/Document";
import { columnsOf } from "../src/heat";
import { canBeLogarithmic, drawingOf, frameOf, LIGHT } from "../src/picture";
import { picturesOf, split } from "../src/pictures";
import { placeOf, stepped, wordsAt } from "../src/steps";
import { labeled, small } from "./documents";

function map(rows: Record<string, [number, number][]>, categories: string[]): Series {
  const lines = Object.entries(rows).map(([name, points]) => ({ name, points }));
  const [x, y] = [{ label: "size", unit: "" }, { label: "speed", unit: "bytes/s" }];
  return { title: "Map", shape: "heat", x, y, rows: "depth", categories, lines };
}

/** Documents a and b with one chart each. */
const drawn = (one: Series, two: Series) => [small("a", {}, { map: one }), small("b", {}, { map: two })];

test("series share axes where they agree", () => {
  const [one, two] = [labeled("new", "bench-new"), labeled("used", "bench-used")];
  const [picture] = picturesOf([one, two]);
  expect(picture?.series.lines.map(({ name }) => name)).toEqual(["new read", "new write", "used read", "used write"]);
  const other = two.document.series["bandwidth"];
  if (other) other.y.unit = "ns";
  const apart = picturesOf([one, two]).filter(({ key }) => key === "bandwidth");
  expect(apart.map(({ series }) => series.title)).toEqual([
    "Speed of each test · new",
    "Speed of each test · used",
  ]);
});

test("reads and writes have their colors wherever they stand beside each other", () => {
  const hues = (shape: "line" | "scatter" | "bars", ...names: string[]) => {
    const [x, y] = [{ label: "pass", unit: "" }, { label: "speed", unit: "bytes/s" }];
    const series: Series = { title: "One", shape, x, y, lines: names.map((name) => ({ name, points: [[0, 1]] })) };
    return picturesOf([small("one", {}, { one: series })])[0]?.series.lines.map(({ hue, dash }) => [hue, dash]);
  };
  expect(hues("bars", "write", "read")).toEqual([[1, 0], [0, 0]]);
  expect(hues("line", "sequential write", "sequential read", "random write", "random read")).toEqual([[1, 0], [0, 0], [1, 1], [0, 1]]);
  expect(hues("scatter", "first read", "second read")).toEqual([[0, 0], [1, 1]]);
  expect(hues("line", "measured", "fitted")).toEqual([[0, 0], [1, 1]]);
  expect(hues("line", "write")).toEqual([[1, 0]]);
});

test("a chart on another scale is not drawn again", () => {
  const [x, y] = [{ label: "request", unit: "bytes" }, { label: "speed", unit: "bytes/s" }];
  const fit: Series = { title: "Fit", shape: "line", x, y: { ...y, scale: "log" }, lines: [{ name: "measured", points: [[1, 2]] }] };
  const series = { fit, fit_linear: { ...fit, y }, other: { ...fit, title: "Other", y } };
  expect(picturesOf([small("one", {}, series)]).map(({ key }) => key)).toEqual(["fit", "other"]);
});

test("with several documents the color is the document", () => {
  const [picture] = picturesOf([labeled("new", "bench-new"), labeled("used", "bench-used")]);
  expect(picture?.series.lines.map(({ hue, dash }) => [hue, dash])).toEqual([[0, 0], [0, 1], [1, 0], [1, 1]]);
});

test("a band moves with its line", () => {
  const members = [labeled("new", "sweep-new"), labeled("used", "sweep-used")];
  const speed = picturesOf(members).find(({ key }) => key === "speed_random_write");
  expect(speed?.series.lines.map(({ name }) => name)).toEqual(
    members.flatMap(({ label, document }) =>
      document.series["speed_random_write"]!.lines.map(({ name }) => `${label} ${name}`),
    ),
  );
  expect(speed?.series.lines.every(({ band, points }) => band?.length === points.length)).toBe(true);
});

test("heat maps are shaded alike and divided cell by cell", () => {
  const one = map({ "1": [[0, 100], [1, 0]], "8": [[0, 50]] }, ["4 KiB", "1 MiB"]);
  const two = map({ "8": [[1, 25]], "1": [[0, 7], [1, 200]], "9": [[0, 1]] }, ["1 MiB", "4 KiB"]);
  const pictures = picturesOf(drawn(one, two));
  expect(pictures.map(({ series }) => series.title)).toEqual(["Map · a", "Map · b", "Map · b ÷ a"]);
  expect(pictures.map(({ range }) => range)).toEqual([[0, 200], [0, 200], null]);
  const cells = pictures[2]?.series.lines.map(({ name, points }) => [name, points]);
  // Numeric keys of an object are sorted.
  expect(cells).toEqual([["1", [[1, 2]]], ["8", [[1, 0.5]]], ["9", []]]);
});

test("maps without a common cell have no ratio", () => {
  const pictures = picturesOf(drawn(map({ "1": [[0, 5]] }, ["4 KiB"]), map({ "1": [[0, 5]] }, ["8 KiB"])));
  expect(pictures).toHaveLength(2);
  const apart = picturesOf([labeled("a", "sweep-new"), labeled("b", "bench-new")]).map(({ series }) => series.title);
  expect(apart).toContain("Speed by block size and queue depth: random read · a");
});

test("a cell beside the categories has a column of its own", () => {
  expect(columnsOf(map({ "1": [[0, 1], [7, 2]] }, ["4 KiB", "8 KiB"])).map(({ name }) => name)).toEqual(["4 KiB", "8 KiB", "7"]);
});

test("a band that reaches nothing has no logarithm", () => {
  const series = map({ "1": [[0, 5]] }, ["a"]);
  expect(canBeLogarithmic(series)).toBe(true);
  series.lines[0]!.band = [[0, 0, 6]];
  expect(canBeLogarithmic(series)).toBe(false);
});

test("arrow keys step from point to point and say where they are", () => {
  const series = map({ "1": [[0, 100e6], [1, 200e6]], "8": [[1, 50e6]] }, ["4 KiB", "1 MiB"]);
  expect(stepped(series, null, "Enter")).toBeNull();
  const first = stepped(series, null, "ArrowRight");
  expect(first).toEqual({ line: 0, point: 0 });
  expect(stepped(series, first, "ArrowLeft")).toBeNull();
  expect(stepped(series, first, "ArrowDown"), "an empty cell").toBeNull();
  const second = stepped(series, first, "ArrowRight")!;
  const below = stepped(series, second, "ArrowDown")!;
  expect(below).toEqual({ line: 1, point: 0 });
  expect(placeOf(series, below)).toEqual({ seriesIndex: 0, dataIndex: 2 });
  expect(wordsAt(series, below)).toBe("depth 8, size 1 MiB: 50.0 MB/s");
  const lines: Series = { ...series, shape: "line" };
  lines.lines[1]!.band = [[1, 40e6, 60e6]];
  expect(placeOf(lines, below)).toEqual({ seriesIndex: 1, dataIndex: 0 });
  expect(wordsAt(lines, below)).toBe("8, 1 MiB: 50.0 MB/s (40.0–60.0 MB/s)");
  expect(stepped({ ...series, lines: [] }, null, "ArrowRight")).toBeNull();
});

const LOOK = { palette: LIGHT, logarithmic: false, width: 800 };

/** The axes of a chart of one line in a window. */
function axesOf(points: [number, number][], window: [number, number] | null, x = { label: "written", unit: "bytes" }) {
  const y = { label: "speed", unit: "bytes/s" };
  const series: Series = { title: "One", shape: "line", x, y, lines: [{ name: "write", points }] };
  const frame = { window, width: 700, height: 236, logarithmic: { x: false, y: false } };
  const { xAxis, yAxis } = frameOf(series, series, LOOK, drawingOf(series, LOOK), frame);
  return { x: xAxis as { axisLabel: { formatter: (value: number) => string } }, y: yAxis as { min: number | null; max: number | null } };
}

test("the y axis fits what a window shows, and does not blow up noise", () => {
  const points = Array.from({ length: 100 }, (_, at): [number, number] => [at, at < 10 ? 550e6 : 420e6 + (at % 2) * 4e6]);
  expect(axesOf(points, null).y).toMatchObject({ min: null, max: null });
  const { min, max } = axesOf(points, [40, 60]).y;
  expect(min).toBeGreaterThan(300);
  expect(max).toBeLessThan(550);
  expect(max! - min!, "1% of noise is no fall").toBeGreaterThan(80);
  const rising = Array.from({ length: 100 }, (_, at): [number, number] => [at, at * 1e6]);
  expect(axesOf(rising, [10, 20]).y).toMatchObject({ min: 6, max: 24 });
  expect(axesOf(rising, [0, 20]).y).toMatchObject({ min: 0, max: 25 });
});

test("the end of an axis has a number only if that is round, and thousands have commas", () => {
  const { formatter } = axesOf([[0, 1e6], [465.7 * 1024 ** 3, 1e6]], null).x.axisLabel;
  expect([0, 400, 465.7].map(formatter)).toEqual(["0 GiB", "400 GiB", ""]);
  const files = axesOf([[0, 1e6], [1000, 1e6]], null, { label: "file", unit: "" }).x.axisLabel;
  expect([800, 1000].map(files.formatter)).toEqual(["800", "1,000"]);
});

test("keys look like what they name, and marks and areas have keys", () => {
  const line = (name: string, hue: number, dash: number) => ({ name, points: [[0, 1], [1, 2]] as [number, number][], hue, dash });
  const [x, y] = [{ label: "written", unit: "bytes" }, { label: "speed", unit: "bytes/s" }];
  const marks = Array.from({ length: 9 }, (_, at) => ({ x: at / 9, label: "stalled 1 s" }));
  const lines = [line("one", 1, 0), line("other", 1, 1)];
  const series = { title: "One", shape: "line" as const, x, y, lines, marks, mark_name: "stall", spans: [[0, 1]] as [number, number][] };
  const { data } = drawingOf(series, LOOK).legend.option as { data: { name: string; icon: string }[] };
  expect(data.map(({ name }) => name)).toEqual(["one", "other", "stall", "range of a knee"]);
  expect(new Set(data.map(({ icon }) => icon)).size).toBe(4);
});

test("long lines of one color would be one line, so they have colors of their own", () => {
  const points = Array.from({ length: 200 }, (_, at): [number, number] => [at, at]);
  const names = ["sequential write", "sequential read", "random write", "random read"];
  const [x, y] = [{ label: "pass", unit: "" }, { label: "speed", unit: "bytes/s" }];
  const series: Series = { title: "One", shape: "line", x, y, lines: names.map((name) => ({ name, points })) };
  const hues = picturesOf([small("one", {}, { one: series })])[0]?.series.lines.map(({ hue }) => hue);
  expect(new Set(hues).size).toBe(4);
});

test("a check leads with the drop on which its cause rests, and TRIM without gain with no chart", () => {
  const check = labeled("one", "check-slow");
  check.document.overview.series = "writes";
  expect(split([check], picturesOf([check])).lead.map(({ key }) => key)).toEqual(["metric_bars", "writes"]);
  const trim = labeled("one", "trim-works");
  const lead = () => split([trim], picturesOf([trim])).lead.map(({ key }) => key);
  expect(lead()).toEqual(["worth"]);
  Object.assign(trim.document.tables["worth"]![0]!, { ratio_low: 0.98, ratio_high: 1.03 });
  expect(lead()).toEqual([]);
});
