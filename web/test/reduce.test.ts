import { expect, test } from "vitest";

import type { ShownSeries } from "../src/shown";
import { endsOf, pointsOf, POINTS_MAX, reduced } from "../src/reduce";

const FRAME = { window: null, width: 800, height: 236, logarithmic: { x: false, y: false } };

function seriesOf(shape: "line" | "scatter", points: [number, number][]): ShownSeries {
  const [x, y] = [
    { label: "time", unit: "ns" },
    { label: "latency", unit: "ns" },
  ];
  return { title: "Latencies", shape, x, y, lines: [{ name: "read", points }] };
}

/** Even noise with single outliers that any average would hide. */
function noise(count: number, outliers: number[]): [number, number][] {
  return Array.from({ length: count }, (_, at) => [at, outliers.includes(at) ? 1e9 + at : 100 + ((at * 7919) % 97)]);
}

const values = ({ lines }: ShownSeries) => lines[0]?.points ?? [];

test("a line keeps every outlier, the lowest and highest of each column, and both ends", () => {
  const outliers = [3, 4_999, 250_001, 777_777];
  const points = noise(1_000_000, outliers);
  const drawn = values(reduced(seriesOf("line", points), FRAME));
  expect(drawn.length).toBeLessThan(POINTS_MAX);
  for (const at of [0, ...outliers, points.length - 1]) expect(drawn).toContainEqual(points[at]);
  expect(drawn.map(([x]) => x)).toEqual(drawn.map(([x]) => x).toSorted((one, other) => one - other));
  const step = points.length / FRAME.width;
  for (const column of [0, 399, 799]) {
    const all = points.slice(Math.ceil(column * step), Math.floor((column + 1) * step)).map(([, y]) => y);
    const shown = drawn.filter(([x]) => x >= column * step && x < (column + 1) * step).map(([, y]) => y);
    expect([Math.min(...shown), Math.max(...shown)]).toEqual([Math.min(...all), Math.max(...all)]);
  }
});

test("a window of a line has its own columns, so that zooming in shows every point", () => {
  const points = noise(1_000_000, [500_100]);
  const drawn = values(reduced(seriesOf("line", points), { ...FRAME, window: [500_000, 500_200] }));
  const inside = drawn.filter(([x]) => x >= 500_000 && x <= 500_200);
  expect(inside).toEqual(points.slice(500_000, 500_201));
  expect(drawn).toContainEqual(points[999_999]);
});

test("a scatter keeps a point of each cell, counts those it stands for, and keeps outliers", () => {
  const points = noise(200_000, [17, 123_456]).map(([x, y]): [number, number] => [(x * 7919) % 200_000, y]);
  const [line] = reduced(seriesOf("scatter", points), FRAME).lines;
  expect(line!.points.length).toBeLessThan(30_000);
  expect(line!.weights!.reduce((sum, weight) => sum + weight, 0)).toBeGreaterThanOrEqual(points.length);
  for (const at of [17, 123_456]) expect(line!.points).toContainEqual(points[at]);
  expect(line!.points.every((point, at) => points[line!.indices![at]!] === point)).toBe(true);
});

test("a scatter that moves has fewer points, and every outlier", () => {
  const points = noise(200_000, [17, 123_456]).map(([x, y]): [number, number] => [(x * 7919) % 200_000, y]);
  const still = values(reduced(seriesOf("scatter", points), FRAME));
  const moving = values(reduced(seriesOf("scatter", points), { ...FRAME, isMoving: true }));
  expect(moving.length).toBeLessThan(still.length);
  for (const at of [17, 123_456]) expect(moving).toContainEqual(points[at]);
});

test("a window of a scatter has every point in it", () => {
  const points = noise(200_000, []).map(([x, y]): [number, number] => [(x * 7919) % 200_000, y]);
  const [line] = reduced(seriesOf("scatter", points), { ...FRAME, window: [150_000, 150_040] }).lines;
  const shown = line!.points.filter(([x]) => x >= 150_000 && x <= 150_040).map(([x]) => x);
  expect(shown.toSorted((one, other) => one - other)).toEqual(Array.from({ length: 41 }, (_, at) => 150_000 + at));
  const ends = reduced(seriesOf("scatter", points), { ...FRAME, window: [199_990, 199_999] }).lines[0]!.points.map(
    ([x]) => x,
  );
  expect(ends).toContain(199_999);
});

test("the interval of a line stays beside its points", () => {
  const series = seriesOf("line", noise(10_000, [5_000]));
  series.lines[0]!.band = series.lines[0]!.points.map(([x, y]) => [x, y - 1, y + 1]);
  const [line] = reduced(series, FRAME).lines;
  expect(line!.band!.map(([x]) => x)).toEqual(line!.points.map(([x]) => x));
});

test("few points are all drawn, and no points have no ends", () => {
  const series = seriesOf("line", noise(100, []));
  expect(reduced(series, FRAME)).toBe(series);
  expect(endsOf(series, "x")).toEqual([0, 99]);
  expect(endsOf(seriesOf("line", []), "x")).toBeNull();
});

test("typed arrays are reduced like pairs, and few of them become pairs", () => {
  for (const shape of ["line", "scatter"] as const) {
    const pairs = noise(100_000, [17, 50_001]);
    const coordinates = { x: Float64Array.from(pairs, ([x]) => x), y: Float64Array.from(pairs, ([, y]) => y) };
    const typed = { ...seriesOf(shape, []), lines: [{ name: "read", ...pointsOf(coordinates) }] };
    for (const window of [null, [49_000, 51_000] as [number, number]]) {
      const frame = { ...FRAME, window, logarithmic: { x: false, y: true } };
      expect(reduced(typed, frame).lines).toEqual(reduced(seriesOf(shape, pairs), frame).lines);
    }
  }
  expect(pointsOf({ x: Float64Array.of(1, 2), y: Float64Array.of(3, 4) })).toEqual({ points: [[1, 3], [2, 4]] });
});
