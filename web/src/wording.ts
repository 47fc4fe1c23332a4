/** Every sentence and word of the page that no document holds. */

import type { Action, Identity, Standing } from "./Document";

/** The mark before an answer, and its meaning in a word; measurements have none. */
export const MARKS: Record<Standing, { mark: string; word: string } | null> = {
  good: { mark: "✓", word: "OK" },
  problem: { mark: "✗", word: "Problem" },
  unknown: { mark: "?", word: "Unknown" },
  info: null,
};

export const LOSSES: Record<Action["loses"], string> = {
  nothing: "nothing lost",
  deleted_files: "deleted files cannot be recovered",
  everything: "ERASES everything",
};

export const KINDS: Record<Identity["kind"], string> = {
  folder: "free space of a folder",
  file: "file",
  device: "block device",
  simulated: "simulated drive",
  nop: "no drive at all",
};

/** Headings, buttons and short remarks. */
export const WORDS = {
  product: "Likenew",
  noDocuments: "This page holds no documents. Make one with",
  noAnswers: "This run gave no answers.",
  answers: "Answers",
  overview: "Overview",
  backUp: "Back up first",
  fix: "Fix it",
  decide: "To decide",
  undo: "To undo:",
  evidence: "Evidence",
  charts: "More charts",
  tables: "Tables",
  comparison: "Comparison",
  drive: "The drive",
  method: "How it was measured",
  plan: "Plan to repeat it",
  copy: "Copy",
  copied: "Copied",
  startHere: "Start it here",
  saved: "Saved",
  linkCopied: "Address copied",
  theme: "Theme",
  showAll: "Show all",
  logarithmic: "Log",
  table: "Table",
  zoomIn: "Zoom in",
  zoomOut: "Zoom out",
  marks: "marks",
  spans: "range of a knee",
  usual: "usual of its class",
  slower: "slower",
  unclear: "change unclear",
  noReference: "Without a bar: nothing to compare it with.",
  slowerFaster: "← slower · faster →",
  eachByItself: "Each run by itself",
  seed: "beyond 2⁵³; the JSON has it exactly",
  planHint: "Save it as plan.toml, then run",
  pickCell: "Click a cell, or press Enter on it, to see its latencies.",
  noCell: "The document has no latencies of this cell.",
} as const;

export const caveatWords = (caveat: string): string => `Caveat: ${caveat}`;

export const rowsWords = (count: number): string => `${count} rows`;

export const firstRowsWords = (shown: number, all: number): string => `The first ${shown} of ${all} rows.`;

export function paperRowsWords(shown: number, all: number): string {
  return `The first ${shown} of ${all} rows. All of them are on this page on a screen, and in the JSON.`;
}

export const madeByWords = (version: string): string => `Measured and written by likenew ${version}`;

export const copyOf = (what: string): string => `Copy ${what}`;

export const startHereOf = (command: string): string => `${WORDS.startHere}: ${command}`;

/** The forms in which a table is copied. */
export const FORMS = { markdown: "as Markdown", text: "as plain text", csv: "as CSV" };

export const linkOf = (title: string): string => `Address of ${title}`;

export const THEMES = { system: "like the system", light: "light", dark: "dark" };

/** The name of the table of a chart, whose own name is the title. */
export const tableNameOf = (title: string): string => `${WORDS.table}: ${title}`;

export const saveOf = (title: string, format: string): string => `Save ${title} as ${format}`;

/** The normal range of a class, beside a number: `usual 2.10–3.50 GB/s`. */
export const usualWords = (range: string): string => `usual ${range}`;

/** `66% of 8,900 IOPS`, and what that is if bars differ in it. */
export function shareWords(share: string, of: string, kind?: string): string {
  return `${share} of ${of}${kind === undefined ? "" : ` (${kind})`}`;
}

/** A value with what is said beside it, as far as there is something: `52.5 MB/s · 24% slower`. */
export function besideWords(...words: string[]): string {
  return words.filter((text) => text !== "" && text !== "–").join(" · ");
}

/** A line of a chart: `read: 239–279 MB/s, from 253 MB/s at offset 0 B to 256 MB/s at offset 74 GiB.` */
export function lineWords(name: string, range: string, first: string, last: string): string {
  return `${name}: ${range}, from ${first} to ${last}.`;
}

/** Points of a chart: `access: 999 points, 180–310 µs.` */
export function pointsWords(name: string, count: string, range: string): string {
  return `${name}: ${count} ${count === "1" ? "point" : "points"}, ${range}.`;
}

/** The bars of a category: `4K random write: now 5,890 IOPS · 66% of 8,900 IOPS, rated 110%.` */
export const barsWords = (category: string, bars: string[]): string => `${category}: ${bars.join(", ")}.`;

export const cellsWords = (highest: string, lowest: string): string => `Highest: ${highest}. Lowest: ${lowest}.`;

export function marksWords(marks: string[], others: number): string {
  return `Marks: ${marks.join("; ")}${others > 0 ? `; and ${others} more` : ""}.`;
}

export const othersWords = (count: number): string => `And ${count} more.`;

/** `stalled at file 26`, and `stalled at 407 MiB written`. */
export function atWords(value: string, axis: string, place: string): string {
  const words = axis === "written" ? [place, axis] : [axis, place];
  return `${value} at ${words.filter(Boolean).join(" ")}`;
}

export const onWords = (value: string, date: string): string => `${value} on ${date}`;

/** How a chart is moved and read without and with a pointer. */
export const HINTS = {
  zoom: "Ctrl and wheel zooms, dragging moves; drag across the lower half of the strip to choose a part.",
  short: "Ctrl and wheel zooms, dragging moves.",
  keys: "Keys: arrows read the points, + and − zoom, 0 shows all.",
} as const;

/** What a first screen says where a change may be none. */
export const UNCLEAR = "unclear";
export const UNKNOWN = "unknown";
export const ABSENT = "none";

export const DRAWN = {
  title: "Inside the drive",
  controller: "Controller",
  medium: "Medium",
  spare: "Gray: the share of the flash that is spare (over-provisioning), not its place.",
  dies: ({ value, isKnown }: { value: string; isKnown: boolean }) =>
    isKnown ? `${value} dies work in parallel` : "Number of dies: unknown",
} as const;

export function likelyWords(confidence: string): string {
  return confidence === "" ? "" : `${confidence} likely`;
}

export function insideWords(parts: { name: string; value: string }[]): string {
  return `${parts.map(({ name, value }) => `${name}: ${value}`).join("; ")}.`;
}

export function unknownWords(names: string[]): string {
  return `Unknown: ${names.join(", ")}. The evidence says what it takes to find out.`;
}

/** A name that is the only one on the page: `Overview, used`. */
export function namedOf(name: string, of: string | null): string {
  return of === null ? name : `${name}, ${of}`;
}

/** The line above a result, and below the title of a saved chart. */
export const ABOUT = {
  simulated: "simulated",
  firmware: (version: string): string => `firmware ${version}`,
  /** `2026-03-14 15:09 UTC`. */
  date: (start: string): string => `${start.slice(0, 16).replace("T", " ")} UTC`,
  version: (version: string): string => `likenew ${version}`,
  setting: (name: string, value: string): string => `${name.toLowerCase()} ${value}`,
} as const;

/** Names of facts about the drive, the run and the instrument. */
export const FACTS = {
  target: "Target",
  model: "Model",
  kind: "Kind",
  capacity: "Capacity",
  procedure: "Procedure",
  seed: "Seed",
  engine: "Engine",
  system: "System",
  run: "Run",
  host: "Written by the host in this run",
  medium: "Written to the medium in this run",
  flash: "Programmed to flash in this run",
  amplification: "Write amplification",
  erases: "Erases",
  free: "Free blocks",
  wear: "Lifetime erases per block (min, mean, max)",
  bad: "Bad blocks",
  timer: "Timer step",
  limit: "IOPS limit without a drive",
  cpu: "CPU time per I/O",
  random: "Incompressible data generated",
  half: "Half-compressible data generated",
  overhead: "Measurement overhead per latency",
} as const;

export const blocksWords = (capacity: string, block: string): string => `${capacity} in blocks of ${block}`;

export function runWords(written: string, time: string, isSimulated: boolean): string {
  return `${written} written in ${time}${isSimulated ? " of simulated time" : ""}`;
}

export function overheadWords(call: string, wake: string, slow: string): string {
  return `${call} of system calls, ${wake} (p99 ${slow}) to wake up`;
}

export const intervalLine = (interval: string): string => `Interval: ${interval}`;

export const atLeast = (value: string): string => `at least ${value}`;

export const atMost = (value: string): string => `at most ${value}`;

export const estimateLine = (estimate: string): string => `Estimate: ${estimate}`;

export const aboutWords = (time: string): string => `about ${time}`;

export const writtenWords = (bytes: string): string => `${bytes} written`;

/** The title of the window. */
export function titleWords(labels: string[]): string {
  return labels.length > 0 ? `${WORDS.product}: ${labels.join(", ")}` : WORDS.product;
}

/** The name of the part of the page that one procedure has. */
export const reportOf = (procedure: string): string => `Report of ${procedure}`;

/** Names around the charts of every I/O. */
export const SAMPLES = {
  scatter: "Latency of each I/O",
  distribution: "Distribution of latencies",
  time: "time",
  latency: "latency",
  op: "operation",
  share: "share of I/Os that slow or slower",
  percentile: "percentile",
  percentiles: "The latency that this share of the I/Os does not exceed.",
  max: "max",
  none: "This run recorded no I/Os.",
  unexpected: "the browser could not draw them",
} as const;

/** Why recorded I/Os cannot be shown. */
export const DAMAGE = {
  header: "their description is damaged",
  many: "there are more than a browser can hold",
  packing: "their data is damaged",
  short: "their data ends too early",
  long: "there is more data than I/Os",
  range: "a time or latency in their data is out of range",
  browser: "this browser cannot unpack them; open the page in a current one",
} as const;

export function damagedWords(why: string, label: string | null): string {
  const whose = label === null ? "" : ` of ${label}`;
  return `The recorded I/Os${whose} cannot be shown: ${why}. All else on this page is complete.`;
}

const COUNT = new Intl.NumberFormat("en");

/** Operations in the plural. */
const OPS: Record<string, string> = { read: "reads", write: "writes", trim: "trims", flush: "flushes" };

function opsWords(op: string, count: number): string {
  return `${COUNT.format(count)} ${count === 1 ? op : (OPS[op] ?? `${op} I/Os`)}`;
}

export function unpackingWords(lines: { count: number }[]): string {
  return `Unpacking ${COUNT.format(lines.reduce((sum, { count }) => sum + count, 0))} I/Os …`;
}

/** `600,000 reads: p50 81 µs, p99 210 µs, slowest 12.4 ms at 3.20 s.` */
export function sampleWords(
  op: string,
  kept: number,
  about: number | null,
  quantiles: string[],
  slowest: string,
  at: string,
): string {
  const count = about === null ? opsWords(op, kept) : `${COUNT.format(kept)} of about ${opsWords(op, about)}`;
  return `${count}: ${[...quantiles, `slowest ${slowest} at ${at}`].join(", ")}.`;
}

/** `read: p50 81 µs, p99 210 µs, p99.9 900 µs, p99.99 3.4 ms, max 12.4 ms.` */
export function distributionWords(op: string, quantiles: string[], slowest: string): string {
  return `${op}: ${[...quantiles, `max ${slowest}`].join(", ")}.`;
}

export function slowestWords(shown: number, all: number): string {
  const count = COUNT.format(all);
  return shown === all ? `All ${count} I/Os, the slowest first.` : `The slowest ${shown} of ${count} I/Os.`;
}

export function leftOutWords(keptOf: number): string {
  const drawn = `All of the slowest 1% of each operation are drawn, and one in ${keptOf} of the others.`;
  return `${drawn} Percentiles and the distribution count those left out, too.`;
}
