/** Charts of every I/O of a run: latency over time, and how latencies are distributed. */

import { distributionsOf, quantileOf, slowestOf } from "./distribution";
import type { Distribution } from "./distribution";
import { colored, overlay } from "./pictures";
import type { Named } from "./pictures";
import type { Picture, ShownSeries } from "./shown";
import { pointsOf } from "./reduce";
import type { Recording } from "./samples";
import { MISSING, plainHeading } from "./Table";
import type { Cell, Table } from "./Table";
import { powersAround, roundWithin, spell, spellWithin } from "./units";
import { distributionWords, leftOutWords, SAMPLES, sampleWords, slowestWords } from "./wording";

/** The recorded I/Os of a document and its name beside others. */
export interface NamedRecording {
  label: string;
  recording: Recording;
}

const ROWS = 100;
/** Among a million I/Os three digits of the time do not say which one it was. */
const START_DIGITS = 6;
const QUANTILES: [string, number][] = [
  ["p50", 0.5],
  ["p90", 0.9],
  ["p99", 0.99],
  ["p99.9", 0.999],
  ["p99.99", 0.9999],
];

/** Where the charts of some recordings stand. */
export interface Setting {
  /** Whether there are other documents in the group. */
  isCompared: boolean;
  /** The name of the group, if there are other groups. */
  group: string | null;
}

/** The latencies over time of each document, side by side because one would hide the other; then all distributions. */
export function samplePictures(recordings: NamedRecording[], { isCompared, group }: Setting): Picture[] {
  const drawn = recordings
    .map(({ label, recording }) => ({ label, recording, distributions: distributionsOf(recording) }))
    .filter(({ distributions }) => distributions.length > 0);
  const [first] = drawn;
  if (!first) return [];
  const scatters = drawn.map(({ label, recording, distributions }): Named => {
    return { label, series: scatterOf(recording, distributions) };
  });
  const ends: [number, number] = [0, Math.max(...scatters.map(({ series }) => series.ends?.[1] ?? 0))];
  const heights = rangeOf(drawn.flatMap(({ distributions }) => distributions));
  const together = isCompared ? { ends, heights, link: `samples ${group}` } : {};
  const titleOf = (series: ShownSeries, label: string | null) => {
    const of = [group, label].filter((name) => name !== null).join(", ");
    return of === "" ? series.title : `${series.title} · ${of}`;
  };
  const curves = drawn.map(({ label, recording, distributions }): Named => {
    return { label, series: distributionSeries(recording, distributions) };
  });
  const alt = curves.map(({ label, series }) => (isCompared ? `${label}: ${series.alt}` : series.alt)).join(" ");
  const named = drawn.flatMap(({ label, recording, distributions }) =>
    distributions.map((distribution): Column => {
      return { name: isCompared ? `${label} ${distribution.op}` : distribution.op, recording, distribution };
    }),
  );
  const distribution: ShownSeries = {
    ...(isCompared ? overlay(curves, curves[0] as Named) : (curves[0] as Named).series),
    ends: powersAround(...heights),
    heights: [Math.min(0.1, ...named.map(({ distribution }) => leastShare(distribution))), 1],
    alt,
    isWide: isCompared,
    table: { words: SAMPLES.percentiles, rows: () => percentileTable(named) },
  };
  return [
    ...scatters.map((one) => ({
      key: "samples",
      series: colored({ ...one.series, ...together, title: titleOf(one.series, isCompared ? one.label : null) }),
      range: null,
    })),
    {
      key: "sample_distribution",
      series: colored({ ...distribution, title: titleOf(distribution, null) }),
      range: null,
    },
  ];
}

/** Half a step, to which a latency is known. */
function errorOf({ step }: Recording, latency: number): number {
  return latency * (Math.sqrt(step) - 1);
}

function rangeOf(distributions: Distribution[]): [number, number] {
  return [
    Math.min(...distributions.map(({ latencies }) => latencies[0] ?? 1)),
    Math.max(...distributions.map(({ slowest }) => slowest.latency)),
  ];
}

function scatterOf(recording: Recording, distributions: Distribution[]): ShownSeries {
  const latency = (ns: number) => spellWithin(ns, errorOf(recording, ns));
  const start = (ns: number) => spellWithin(ns, recording.timeUnit, START_DIGITS);
  const lines = recording.lines.filter(({ codes }) => codes.length > 0);
  const count = distributions.reduce((sum, { kept }) => sum + kept, 0);
  const series: ShownSeries = {
    title: SAMPLES.scatter,
    shape: "scatter",
    x: { label: SAMPLES.time, unit: "ns" },
    y: { label: SAMPLES.latency, unit: "ns", scale: "log" },
    lines: lines.map(({ op, starts, latencies }) => ({ name: op, ...pointsOf({ x: starts, y: latencies }) })),
    ends: [0, Math.max(...lines.map(({ starts, latencies }) => lastEnd(starts, latencies)))],
    heights: rangeOf(distributions),
    spelled: { x: start, y: latency },
    alt: distributions
      .map((one) => {
        const { op, kept, all, slowest } = one;
        const quantiles = quantilesOf(one, ["p50", "p99"], latency);
        const at = spellWithin(slowest.start, recording.timeUnit);
        return sampleWords(op, kept, about(kept, all), quantiles, latency(slowest.latency), at);
      })
      .join(" "),
    table: {
      words: slowestWords(Math.min(count, ROWS), count),
      rows: () => slowestTable(recording, latency, start),
    },
  };
  return recording.keptOf > 1 ? { ...series, remark: leftOutWords(recording.keptOf) } : series;
}

/** When the last of the I/Os ended. */
function lastEnd(starts: Float64Array, latencies: Float64Array): number {
  let last = 0;
  for (let at = 0; at < starts.length; at++) {
    const end = (starts[at] as number) + (latencies[at] as number);
    if (end > last) last = end;
  }
  return last;
}

/** How many I/Os those that are recorded stand for; none if each stands for itself. */
function about(kept: number, all: number): number | null {
  const digits = 10 ** Math.max(Math.floor(Math.log10(all)) - 2, 0);
  return all > kept * (1 + 1e-9) ? Math.round(all / digits) * digits : null;
}

function quantilesOf(distribution: Distribution, names: string[], latency: (ns: number) => string): string[] {
  return QUANTILES.filter(([name]) => names.includes(name)).flatMap(([name, share]) => {
    const value = quantileOf(distribution, share);
    return value === null ? [] : [`${name} ${latency(value)}`];
  });
}

function slowestTable(recording: Recording, latency: (ns: number) => string, start: (ns: number) => string): Table {
  const headings = [
    plainHeading(SAMPLES.time, "start_ns", { number: true }),
    plainHeading(SAMPLES.op, "op", { group: 1 }),
    plainHeading(SAMPLES.latency, "latency_ns", { number: true, group: 2 }),
  ];
  const rows = slowestOf(recording, ROWS).map((slow) => [
    { text: start(slow.start), value: roundWithin(slow.start, recording.timeUnit, 15) },
    { text: slow.op, value: slow.op },
    { text: latency(slow.latency), value: roundWithin(slow.latency, errorOf(recording, slow.latency), 15) },
  ]);
  return { title: SAMPLES.scatter, headings, rows };
}

/** The share of the slowest I/Os of one latency. */
function leastShare({ atLeast, all }: Distribution): number {
  return (atLeast.at(-1) ?? all) / all;
}

interface Column {
  name: string;
  recording: Recording;
  distribution: Distribution;
}

function percentileTable(columns: Column[]): Table {
  const headings = [
    plainHeading(SAMPLES.percentile, "percentile"),
    ...columns.map(({ name }, at) => plainHeading(name, `${name} latency_ns`, { number: true, group: at + 1 })),
  ];
  const cellOf = (recording: Recording, ns: number | null): Cell => {
    if (ns === null) return MISSING;
    const error = errorOf(recording, ns);
    return { text: spellWithin(ns, error), value: roundWithin(ns, error, 15) };
  };
  const rows: Cell[][] = QUANTILES.map(([name, share]) => [
    { text: name, value: name },
    ...columns.map(({ recording, distribution }) => cellOf(recording, quantileOf(distribution, share))),
  ]);
  const slowest = columns.map(({ recording, distribution }) => cellOf(recording, distribution.slowest.latency));
  rows.push([{ text: SAMPLES.max, value: SAMPLES.max }, ...slowest]);
  return { title: SAMPLES.distribution, headings, rows };
}

function distributionSeries(recording: Recording, distributions: Distribution[]): ShownSeries {
  const latency = (ns: number) => spellWithin(ns, errorOf(recording, ns));
  const quantiles = ["p50", "p99", "p99.9", "p99.99"];
  return {
    title: SAMPLES.distribution,
    shape: "line",
    x: { label: SAMPLES.latency, unit: "ns", scale: "log" },
    y: { label: SAMPLES.share, unit: "share", scale: "log" },
    lines: distributions.map(({ op, latencies, atLeast, all }) => ({
      name: op,
      points: latencies.map((ns, at) => [ns, (atLeast[at] as number) / all]),
    })),
    isSmooth: true,
    spelled: { x: latency, y: (share) => spell(share, "share") },
    alt: distributions
      .map((one) => distributionWords(one.op, quantilesOf(one, quantiles, latency), latency(one.slowest.latency)))
      .join(" "),
  };
}
