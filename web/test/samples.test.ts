import { expect, test } from "vitest";

import { altOf, seriesTable } from "../src/alt";
import type { PackedSamples } from "../src/Document";
import { distributionsOf, quantileOf, slowestOf } from "../src/distribution";
import { tooltipOf } from "../src/picture";
import type { Picture } from "../src/shown";
import { reduced } from "../src/reduce";
import { samplePictures } from "../src/samplePictures";
import { DamagedSamples, recordingOf } from "../src/samples";
import { textOf } from "../src/tableText";
import { spellWithin } from "../src/units";
import { DAMAGE } from "../src/wording";
import { bytesOf, codeOf, deflated, packed, queue } from "./packed";
import type { Io } from "./packed";

const ALONE = { isCompared: false, group: null };
const FRAME = { window: null, width: 1100, height: 236, logarithmic: { x: false, y: true } };

/** Reads of 100 µs each millisecond, and one of 12.3 ms. */
const plain = (count: number): Io[] =>
  Array.from({ length: count }, (_, at) => ({ start: at * 1e6, latency: at === count - 1 ? 12.34e6 : 100e3 }));

const refusal = async (block: PackedSamples) =>
  recordingOf(block).then(
    () => "unpacked",
    (error: unknown) => (error instanceof DamagedSamples ? error.message : String(error)),
  );

test("packed I/Os come out as they went in, to half a step", async () => {
  const ios = queue(20_000);
  const { lines } = await recordingOf(packed(ios));
  expect(lines.map(({ op }) => op)).toEqual(["read", "write"]);
  for (const [index, all] of [ios.read, ios.write].entries()) {
    const line = lines[index]!;
    expect(line.starts).toHaveLength(all.length);
    all.forEach(({ start, latency }, at) => {
      expect(Math.abs(line.starts[at]! - start)).toBeLessThanOrEqual(1192.5);
      expect(Math.abs(Math.log(line.latencies[at]! / latency))).toBeLessThanOrEqual(Math.log(1.01) / 2 + 1e-9);
    });
  }
});

test("a start hours after the one before keeps its digits", async () => {
  const late = 90 * 3600e9;
  const { lines } = await recordingOf(packed({ read: [{ start: 0, latency: 1 }, { start: late, latency: 5e9 }] }));
  expect(Math.abs(lines[0]!.starts[1]! - late)).toBeLessThanOrEqual(1192);
  expect(lines[0]!.latencies[0]).toBe(1);
});

test("operations without I/Os, and a run without any, are no error", async () => {
  const one = await recordingOf(packed({ read: [], write: plain(3) }));
  const pictures = samplePictures([{ label: "a", recording: one }], ALONE);
  expect(pictures.map(({ series }) => series.lines.map(({ name }) => name))).toEqual([["write"], ["write"]]);
  expect(pictures[0]!.series.lines[0]!.hue).toBe(1);
  const none = await recordingOf(packed({ read: [], write: [] }));
  expect(samplePictures([{ label: "a", recording: none }], ALONE)).toEqual([]);
});

test("one I/O has a place, a latency and words", async () => {
  const recording = await recordingOf(packed({ read: [{ start: 0, latency: 81_000 }] }));
  const [scatter, distribution] = samplePictures([{ label: "a", recording }], ALONE);
  const [low, high] = scatter!.series.ends!;
  expect(high).toBeGreaterThan(low);
  expect(altOf(scatter!.series)).toBe("1 read: p50 81 µs, slowest 81 µs at 0 ns.");
  expect(altOf(distribution!.series)).toBe("read: p50 81 µs, max 81 µs.");
  expect(distribution!.series.heights).toEqual([0.1, 1]);
  expect(distribution!.series.lines[0]!.points.map(([, share]) => share)).toEqual([1]);
});

test("damaged data is refused with its reason", async () => {
  const lines = { read: plain(500) };
  const block = packed(lines);
  const bytes = bytesOf([lines.read]);
  const data = (bytes: number[]) => ({ ...block, data: deflated(bytes) });
  expect(await refusal(block)).toBe("unpacked");
  expect(await refusal({ ...block, data: "no base64!" })).toBe(DAMAGE.packing);
  expect(await refusal({ ...block, data: Buffer.from(bytes).toString("base64") })).toBe(DAMAGE.packing);
  expect(await refusal({ ...block, data: block.data.slice(0, 40) })).toBe(DAMAGE.packing);
  expect(await refusal({ ...block, data: "" })).toBe(DAMAGE.packing);
  expect(await refusal(data(bytes.slice(0, -1)))).toBe(DAMAGE.short);
  expect(await refusal(data(bytes.slice(0, 20)))).toBe(DAMAGE.short);
  expect(await refusal(data([...bytes, 0]))).toBe(DAMAGE.long);
  expect(await refusal({ ...block, lines: [{ op: "read", count: 499, slow_from: 0 }] })).not.toBe("unpacked");
  expect(await refusal({ ...block, lines: [{ op: "read", count: 501, slow_from: 0 }] })).not.toBe("unpacked");
  // A varint that never ends, a start beyond 64 bits, and a latency beyond them.
  const single = { ...block, lines: [{ op: "read", count: 1, slow_from: 0 }] };
  expect(await refusal({ ...single, data: deflated(Array.from({ length: 10 }, () => 255)) })).toBe(DAMAGE.range);
  expect(await refusal({ ...single, time_unit_ns: 1e19, data: deflated([2, 0, 0]) })).toBe(DAMAGE.range);
  expect(await refusal({ ...single, data: deflated([0, 255, 255]) })).toBe(DAMAGE.range);
  // Zeros that inflate to a thousand times their size.
  expect(await refusal({ ...single, data: deflated(Array.from({ length: 1e6 }, () => 0)) })).toBe(DAMAGE.long);
});

test("a damaged description is refused", async () => {
  const block = packed({ read: plain(3) });
  const damaged: Partial<Record<keyof PackedSamples, unknown>>[] = [
    { lines: [{ op: "read", count: -1 }] },
    { lines: [{ op: "read", count: 1.5, slow_from: 0 }] },
    { lines: [{ op: "", count: 3, slow_from: 0 }] },
    { lines: [null] },
    { lines: "read" },
    { lines: [{ op: "read", count: 1, slow_from: 0 }, { op: "read", count: 2, slow_from: 0 }] },
    { time_unit_ns: 0 },
    { time_unit_ns: "2384" },
    { latency_step: 1 },
    { latency_step: Infinity },
    { kept_of: 0 },
    { kept_of: 1.5 },
    { data: 7 },
  ];
  for (const change of damaged)
    expect(await refusal({ ...block, ...change } as PackedSamples), JSON.stringify(change)).toBe(DAMAGE.header);
  expect(await refusal(undefined as unknown as PackedSamples)).toBe(DAMAGE.header);
  expect(await refusal({ ...block, lines: [{ op: "read", count: 1e9, slow_from: 0 }] })).toBe(DAMAGE.many);
});

test("percentiles and shares are those of the sorted latencies", async () => {
  const ios = queue(50_000);
  const [read] = distributionsOf(await recordingOf(packed(ios)));
  const sorted = ios.read.map(({ latency }) => 1.01 ** codeOf(latency)).toSorted((one, other) => one - other);
  for (const share of [0.5, 0.99, 0.999, 0.9999])
    expect(quantileOf(read!, share)).toBeCloseTo(sorted[Math.ceil(share * sorted.length - 1e-9) - 1]!, 3);
  expect(read!.atLeast[0]).toBe(sorted.length);
  const at = read!.latencies.findIndex((latency) => latency > 200e3);
  expect(read!.atLeast[at]).toBe(sorted.filter((latency) => latency > 200e3).length);
});

test("too few I/Os have no percentile that is just the slowest one", async () => {
  const [few] = distributionsOf(await recordingOf(packed({ read: plain(500) })));
  expect(quantileOf(few!, 0.99)).not.toBeNull();
  expect(quantileOf(few!, 0.999)).toBeNull();
});

test("I/Os that were left out count in the distribution", async () => {
  const ios = queue(200_000).read;
  const whole = await recordingOf(packed({ read: ios }));
  const slow = ios.toSorted((one, other) => other.latency - one.latency)[Math.floor(ios.length / 100)]!.latency;
  const kept = ios.filter(({ latency }, at) => codeOf(latency) >= codeOf(slow) || at % 12 === 0);
  const thinned = await recordingOf(packed({ read: kept }, 12, slow));
  const [[all], [part]] = [distributionsOf(whole), distributionsOf(thinned)];
  expect(part!.kept).toBe(kept.length);
  expect(part!.all / ios.length).toBeCloseTo(1, 2);
  for (const share of [0.5, 0.99, 0.999, 0.9999])
    expect(quantileOf(part!, share)! / quantileOf(all!, share)!).toBeCloseTo(1, 1);
  const [picture] = samplePictures([{ label: "a", recording: thinned }], ALONE);
  expect(picture!.series.remark).toBe(
    "All of the slowest 1% of each operation are drawn, and one in 12 of the others. " +
      "Percentiles and the distribution count those left out, too.",
  );
  expect(picture!.series.alt).toMatch(/^[\d,]+ of about 1[12]\d,\d00 reads: p50 8\d µs,/);
});

test("words say no more digits than are known", async () => {
  const error = (ns: number) => ns * (Math.sqrt(1.01) - 1);
  const spelled = [81_234, 212_345, 12_434_567, 1.234e9, 999, 7, 1].map((ns) => spellWithin(ns, error(ns)));
  expect(spelled).toEqual(["81 µs", "210 µs", "12.4 ms", "1.23 s", "1.00 µs", "7 ns", "1 ns"]);
  expect(spellWithin(3_204_113_456, 2384, 6)).toBe("3.20411 s");
  expect(spellWithin(3_204, 2384, 6)).toBe("0 ns");
  expect(spellWithin(0, 2384)).toBe("0 ns");
  expect(spellWithin(5_000.4e9, 2384)).toBe("5,000 s");
  const recording = await recordingOf(packed({ read: plain(1000), write: plain(200) }));
  const [scatter, distribution] = samplePictures([{ label: "a", recording }], ALONE).map(({ series }) => series);
  expect(scatter!.alt).toBe(
    "1,000 reads: p50 100 µs, p99 100 µs, slowest 12.3 ms at 999 ms. " +
      "200 writes: p50 100 µs, p99 100 µs, slowest 12.3 ms at 199 ms.",
  );
  expect(distribution!.alt).toBe(
    "read: p50 100 µs, p99 100 µs, p99.9 100 µs, max 12.3 ms. write: p50 100 µs, p99 100 µs, max 12.3 ms.",
  );
});

test("the pointer finds the I/O that is drawn, with the digits that are known", async () => {
  const ios = queue(20_000);
  const recording = await recordingOf(packed(ios));
  const [{ series }] = samplePictures([{ label: "a", recording }], ALONE) as Picture[] as [Picture];
  const [line] = reduced(series, FRAME).lines;
  const drawn = line!.indices!.length - 1;
  const index = line!.indices![drawn]!;
  const [x, y] = line!.points[drawn]!;
  expect([x, y]).toEqual([recording.lines[0]!.starts[index], recording.lines[0]!.latencies[index]]);
  const hovered = { componentType: "series", seriesIndex: 0, dataIndex: drawn, value: [x, y, index], color: "#000" };
  expect(tooltipOf(series, hovered)).toContain(`time ${spellWithin(x, 2384, 6)}`);
  expect(tooltipOf(series, hovered)).toContain(`<b>${spellWithin(y, y * 0.005)}</b>`);
});

test("what is drawn of all I/Os has every cell of the screen and the slowest I/O", async () => {
  const ios = queue(100_000);
  const slow = Math.max(...ios.read.map(({ latency }) => latency));
  const recording = await recordingOf(packed(ios));
  const [{ series }] = samplePictures([{ label: "a", recording }], ALONE) as Picture[] as [Picture];
  for (const isMoving of [false, true]) {
    const [line] = reduced(series, { ...FRAME, isMoving }).lines;
    expect(line!.weights!.reduce((sum, weight) => sum + weight, 0)).toBeGreaterThanOrEqual(ios.read.length);
    expect(Math.max(...line!.points.map(([, y]) => y)) / slow).toBeCloseTo(1, 2);
  }
  const window: [number, number] = [1e7, 1.2e7];
  const [part] = reduced(series, { ...FRAME, window }).lines;
  const inside = recording.lines[0]!.starts.filter((at) => at >= window[0] && at <= window[1]);
  const shown = new Set(part!.points.map(([x]) => x).filter((x) => x >= window[0] && x <= window[1]));
  expect(shown.size / new Set(inside).size).toBeGreaterThan(0.9);
});

test("the table has the slowest I/Os of all operations, also where many are equal", async () => {
  const ios = queue(30_000);
  const recording = await recordingOf(packed(ios));
  const codes = [...ios.read, ...ios.write].map(({ latency }) => codeOf(latency));
  const expected = codes.toSorted((one, other) => other - one);
  const slow = slowestOf(recording, 100);
  expect(slow.map(({ latency }) => codeOf(latency))).toEqual(expected.slice(0, 100));
  const equal = await recordingOf(packed({ read: plain(5000), write: plain(5000) }));
  expect(slowestOf(equal, 100)).toHaveLength(100);
  expect(slowestOf(equal, 100).slice(0, 3).map(({ start }) => Math.round(start / 1e6))).toEqual([4999, 4999, 0]);
  const [picture] = samplePictures([{ label: "a", recording: equal }], ALONE);
  expect(picture!.series.table!.words).toBe("The slowest 100 of 10,000 I/Os.");
  const table = seriesTable(picture!.series);
  expect(table.rows[0]!.map(({ text }) => text)).toEqual(["4.99900 s", "read", "12.3 ms"]);
  expect(textOf(table, [], "csv").split("\r\n").slice(0, 2)).toEqual(["start_ns,op,latency_ns", "4999000000,read,12300000"]);
});

test("documents that are compared have equal axes and one chart of distributions", async () => {
  const both = [
    { label: "new", recording: await recordingOf(packed({ read: plain(100) })) },
    { label: "used", recording: await recordingOf(packed({ read: plain(9000) })) },
  ];
  const pictures = samplePictures(both, { isCompared: true, group: null });
  expect(pictures.map(({ series }) => series.title)).toEqual([
    "Latency of each I/O · new",
    "Latency of each I/O · used",
    "Distribution of latencies",
  ]);
  expect(pictures[0]!.series.ends).toEqual(pictures[1]!.series.ends);
  expect(pictures[0]!.series.heights).toEqual(pictures[1]!.series.heights);
  expect(pictures[2]!.series.lines.map(({ name, hue }) => [name, hue])).toEqual([["new", 0], ["used", 1]]);
  expect(pictures.map(({ series }) => series.isWide ?? false)).toEqual([false, false, true]);
  const table = seriesTable(pictures[2]!.series);
  expect(table.headings.map(({ text }) => text)).toEqual(["percentile", "new read", "used read"]);
  expect(table.rows.map((row) => row.map(({ text }) => text))).toEqual([
    ["p50", "100 µs", "100 µs"],
    ["p90", "100 µs", "100 µs"],
    ["p99", "100 µs", "100 µs"],
    ["p99.9", "–", "100 µs"],
    ["p99.99", "–", "–"],
    ["max", "12.3 ms", "12.3 ms"],
  ]);
  expect(pictures[2]!.series.alt).toMatch(/^new: read: p50 .* used: read: p50 /);
});

test("two groups have charts of different names that zoom apart", async () => {
  const recording = await recordingOf(packed({ read: plain(100) }));
  const both = [{ label: "a", recording }, { label: "b", recording }];
  const of = (group: string) => samplePictures(both, { isCompared: true, group }).map(({ series }) => series);
  expect(of("fill").map(({ title }) => title)).toEqual([
    "Latency of each I/O · fill, a",
    "Latency of each I/O · fill, b",
    "Distribution of latencies · fill",
  ]);
  expect(of("fill")[0]!.link).not.toBe(of("bench")[0]!.link);
});
