import { expect, test } from "vitest";

import type { Series } from "../src/Document";
import { columnsOf } from "../src/heat";
import { canBeLogarithmic } from "../src/picture";
import { picturesOf } from "../src/pictures";
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
