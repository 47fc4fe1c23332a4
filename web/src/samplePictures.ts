/** Charts of every I/O of a run: latency over time, and how latencies are distributed. */

import { distributionsOf, quantileOf, slowestOf } from "./distribution";
import type { Distribution } from "./distribution";
import { colored, overlay, titled } from "./pictures";
import type { Named, Picture, ShownSeries } from "./pictures";
import { pointsOf } from "./reduce";
import type { Recording } from "./samples";
import type { Heading, Table } from "./Table";
import { decadesOf, roundWithin, spell, spellWithin } from "./units";
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
  ["p99", 0.99],
  ["p99.9", 0.999],
  ["p99.99", 0.9999],
];

/** The latencies over time of each document, side by side because one would hide the other; then all distributions. */
export function samplePictures(recordings: NamedRecording[], isCompared: boolean): Picture[] {
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
  const together = isCompared ? { ends, heights, link: "samples" } : {};
  const curves = drawn.map(({ label, recording, distributions }): Named => {
    return { label, series: distributionSeries(recording, distributions) };
  });
  const alt = curves.map(({ label, series }) => (isCompared ? `${label}: ${series.alt}` : series.alt)).join(" ");
  const distribution = isCompared
    ? { ...overlay(curves, curves[0] as Named), alt, ends: decadesOf(...heights), isWide: true }
    : (curves[0] as Named).series;
  return [
    ...scatters.map((one) => ({
      key: "samples",
      series: colored({ ...(isCompared ? titled(one, one.label) : one.series), ...together }),
      range: null,
    })),
    { key: "sample_distribution", series: colored(distribution), range: null },
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
  const headings: Heading[] = [
    { text: SAMPLES.time, of: null, key: "start_ns", beside: [], number: true, group: 0 },
    { text: SAMPLES.op, of: null, key: "op", beside: [], number: false, group: 1 },
    { text: SAMPLES.latency, of: null, key: "latency_ns", beside: [], number: true, group: 2 },
  ];
  const rows = slowestOf(recording, ROWS).map((slow) => [
    { text: start(slow.start), value: roundWithin(slow.start, recording.timeUnit, 15) },
    { text: slow.op, value: slow.op },
    { text: latency(slow.latency), value: roundWithin(slow.latency, errorOf(recording, slow.latency), 15) },
  ]);
  return { title: SAMPLES.scatter, headings, rows };
}

function distributionSeries(recording: Recording, distributions: Distribution[]): ShownSeries {
  const latency = (ns: number) => spellWithin(ns, errorOf(recording, ns));
  const quantiles = QUANTILES.map(([name]) => name);
  return {
    title: SAMPLES.distribution,
    shape: "line",
    x: { label: SAMPLES.latency, unit: "ns", scale: "log" },
    y: { label: SAMPLES.share, unit: "share", scale: "log" },
    lines: distributions.map(({ op, latencies, atLeast, all }) => ({
      name: op,
      points: latencies.map((ns, at) => [ns, (atLeast[at] as number) / all]),
    })),
    ends: decadesOf(...rangeOf(distributions)),
    heights: [Math.min(0.1, ...distributions.map(({ atLeast, all }) => (atLeast.at(-1) ?? all) / all)), 1],
    isSmooth: true,
    spelled: { x: latency, y: (share) => spell(share, "share") },
    alt: distributions
      .map((one) => distributionWords(one.op, quantilesOf(one, quantiles, latency), latency(one.slowest.latency)))
      .join(" "),
  };
}
