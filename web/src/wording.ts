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
export const metricBarsTitle = (of: string): string => `Each metric now, as a share of ${of}`;
export const beforeAndAfterTitle = (of: string): string => `Before and after each step, as a share of ${of}`;

export const WORDS = {
  product: "Likenew",
  noDocuments: "This page holds no documents. Make one with",
  noAnswers: "This run gave no answers.",
  answers: "Answers",
  overview: "Overview",
  backUp: "Back up first",
  fix: "Fix it",
  decide: "To decide",
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
  rated: "rated",
  now: "now",
  whenNew: "when new",
  marks: "marks",
  spans: "range of a knee",
  usual: "usual of its class",
  slower: "slower",
  unclear: "change unclear",
  noReference: "Without a bar: nothing to compare it with.",
  slowerFaster: "← slower · faster →",
  eachByItself: "Each run by itself",
  latencies: "Latencies of each test: p50, p99 and max",
  before: "before",
  after: "after",
  seed: "beyond 2⁵³; the JSON has it exactly",
  planHint: "Save it as plan.toml, then run",
  pickCell: "Click a cell, or press Enter on it, to see its latencies.",
  noCell: "The document has no latencies of this cell.",
} as const;

export function caveatWords(caveat: string): string {
  return `Caveat: ${caveat}`;
}

export function undoWords(): string {
  return "To undo:";
}

export function rowsWords(count: number): string {
  return `${count} rows`;
}

export function firstRowsWords(shown: number, all: number): string {
  return `The first ${shown} of ${all} rows.`;
}

export function paperRowsWords(shown: number, all: number): string {
  return `The first ${shown} of ${all} rows. All of them are on this page on a screen, and in the JSON.`;
}

export function madeByWords(version: string): string {
  return `Measured and written by likenew ${version}`;
}

export function copyOf(what: string): string {
  return `Copy ${what}`;
}

export function startHereOf(command: string): string {
  return `${WORDS.startHere}: ${command}`;
}

/** The forms in which a table is copied. */
export const FORMS = { markdown: "as Markdown", text: "as plain text", csv: "as CSV" };

export function linkOf(title: string): string {
  return `Address of ${title}`;
}

export const THEMES = { system: "like the system", light: "light", dark: "dark" };

/** The name of the table of a chart, whose own name is the title. */
export function tableNameOf(title: string): string {
  return `${WORDS.table}: ${title}`;
}

export function saveOf(title: string, format: string): string {
  return `Save ${title} as ${format}`;
}

/** The text at the bar of a metric: `5,890 IOPS · 66% of 8,900 IOPS`, and what that is if metrics differ in it. */
export function barWords(value: string, share: string, reference: string, kind?: string): string {
  return `${value} · ${shareWords(share, reference)}${kind === undefined ? "" : ` (${kind})`}`;
}

/** The normal range of a class, beside a number: `usual 2.10–3.50 GB/s`. */
export function usualWords(range: string): string {
  return `usual ${range}`;
}

export function shareWords(share: string, of: string): string {
  return `${share} of ${of}`;
}

/** A value with what it gained or lost. */
export function gainWords(value: string, change: string): string {
  return change === "" || change === "–" ? value : `${value} · ${change}`;
}

/** Names of what a cell of a heat map tells on request. */
export const LATENCY_NAMES: Record<string, string> = {
  bytes_per_s: "speed",
  iops: "IOPS",
  latency_ns_mean: "mean latency",
  latency_ns_p50: "p50",
  latency_ns_p99: "p99",
  latency_ns_p999: "p99.9",
  latency_ns_p9999: "p99.99",
  latency_ns_max: "max",
};

/** A line of a chart: `read: 239–279 MB/s, from 253 MB/s at offset 0 B to 256 MB/s at offset 74 GiB.` */
export function lineWords(name: string, range: string, first: string, last: string): string {
  return `${name}: ${range}, from ${first} to ${last}.`;
}

/** Points of a chart: `access: 999 points, 180–310 µs.` */
export function pointsWords(name: string, count: string, range: string): string {
  return `${name}: ${count} ${count === "1" ? "point" : "points"}, ${range}.`;
}

/** The bars of a category: `4K random write: now 5,890 IOPS · 66% of 8,900 IOPS, rated 110%.` */
export function barsWords(category: string, bars: string[]): string {
  return `${category}: ${bars.join(", ")}.`;
}

export function cellsWords(highest: string, lowest: string): string {
  return `Highest: ${highest}. Lowest: ${lowest}.`;
}

export function marksWords(marks: string[], others: number): string {
  return `Marks: ${marks.join("; ")}${others > 0 ? `; and ${others} more` : ""}.`;
}

export function othersWords(count: number): string {
  return `And ${count} more.`;
}

/** `stalled at file 26`, and `stalled at 407 MiB written`. */
export function atWords(value: string, axis: string, place: string): string {
  const words = axis === "written" ? [place, axis] : [axis, place];
  return `${value} at ${words.filter(Boolean).join(" ")}`;
}

export function onWords(value: string, date: string): string {
  return `${value} on ${date}`;
}

/** How a chart is moved and read without and with a pointer. */
export const HINTS = {
  zoom: "Ctrl and wheel zooms, dragging moves; drag across the lower half of the strip to choose a part.",
  short: "Ctrl and wheel zooms, dragging moves.",
  keys: "Keys: arrows read the points, + and − zoom, 0 shows all.",
} as const;

/** `5.95× slower · 11.4 MB/s`. */
export const differenceWords = (difference: string, value: string): string => `${difference} · ${value}`;

/** What the first screen of `age` says where a change may be none. */
export const UNCLEAR = "unclear";
export const UNKNOWN = "unknown";
export const ABSENT = "none";

/** Words of the X-ray's table that are shown otherwise. */
export const DRAWN_WORDS: Record<string, string> = {
  page: "page-mapped",
  block: "block-mapped",
  immediate: "at once",
};

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

export function blocksWords(capacity: string, block: string): string {
  return `${capacity} in blocks of ${block}`;
}

export function runWords(written: string, time: string, isSimulated: boolean): string {
  return `${written} written in ${time}${isSimulated ? " of simulated time" : ""}`;
}

export function overheadWords(call: string, wake: string, slow: string): string {
  return `${call} of system calls, ${wake} (p99 ${slow}) to wake up`;
}

export function intervalLine(interval: string): string {
  return `Interval: ${interval}`;
}

export function atLeast(value: string): string {
  return `at least ${value}`;
}

export function atMost(value: string): string {
  return `at most ${value}`;
}

export function estimateLine(estimate: string): string {
  return `Estimate: ${estimate}`;
}

export function aboutWords(time: string): string {
  return `about ${time}`;
}

export function writtenWords(bytes: string): string {
  return `${bytes} written`;
}

/** The title of the window. */
export function titleWords(labels: string[]): string {
  return labels.length > 0 ? `${WORDS.product}: ${labels.join(", ")}` : WORDS.product;
}

/** The name of the part of the page that one procedure has. */
export function reportOf(procedure: string): string {
  return `Report of ${procedure}`;
}

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

/** What a metric was compared with: as the heading of a column, and after "share of". */
export const REFERENCES: Record<string, { heading: string; of: string }> = {
  baseline: { heading: "baseline", of: "its baseline" },
  other_drive: { heading: "another drive", of: "another drive of its model" },
  simulated: { heading: "when new", of: "new" },
  peers: { heading: "its model", of: "the median of its model" },
  advertised: { heading: "rated", of: "its rated speed" },
  simulated_model: { heading: "new (simulated)", of: "a simulated new drive of its model" },
  class: { heading: "usual", of: "the median of its class" },
  link: { heading: "link limit", of: "the limit of its link" },
};
/** Where metrics have several of them. */
export const OWN_REFERENCE = { heading: "reference", of: "its reference" };
