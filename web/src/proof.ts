/**
 * The series of a document as they are drawn: with those that its tables hold, and with what the tables say about a
 * point beside it. Nothing is calculated but shares of what stands in the document.
 */

import type { Document, Row, Value } from "./Document";
import type { ShownLine, ShownSeries, Tone } from "./shown";
import { isNumber } from "./Table";
import { spell, wordsOf } from "./units";
import {
  barWords,
  beforeAndAfterTitle,
  differenceWords,
  gainWords,
  LATENCY_NAMES,
  metricBarsTitle,
  OWN_REFERENCE,
  REFERENCES,
  shareWords,
  UNCLEAR,
  WORDS,
} from "./wording";

/** All series by their keys; those from tables come first. */
export function seriesOf(document: Document): Record<string, ShownSeries> {
  const all: Record<string, ShownSeries> = { ...document.series };
  const { procedure } = document;
  if (procedure === "age" && all["used_vs_new"]) all["used_vs_new"] = withChanges(all["used_vs_new"], document);
  if (procedure === "endure")
    for (const [test, series] of Object.entries(all)) all[test] = withLevels(test, series, document);
  if (procedure === "apps" && all["scores"]) {
    const rowOf = (category: string) =>
      (document.tables["applications"] ?? []).find((row) => row["application"] === category);
    all["scores"] = withIntervals(all["scores"], "score", rowOf);
  }
  if (procedure === "bench" && all["bandwidth"]) {
    const rowOf = (category: string, op: string) =>
      (document.tables["results"] ?? []).find((row) => row["test"] === category && row["op"] === op);
    all["bandwidth"] = withUsual(withIntervals(all["bandwidth"], "bytes_per_s", rowOf), document);
  }
  if (procedure === "model") for (const [key, series] of Object.entries(all)) all[key] = withPairs(series);
  if (procedure === "surface") {
    for (const key of ["curve", "access_by_offset"]) if (all[key]) all[key] = { ...all[key], link: "address" };
  }
  if (procedure === "sweep")
    for (const [key, series] of Object.entries(all))
      if (series.shape === "heat") all[key] = withLatencies(key, series, document);
  if (procedure === "compare" && all["speeds"]) all["speeds"] = withDifferences(all["speeds"], document);
  const made =
    procedure === "check"
      ? metricBars(document)
      : procedure === "recondition"
        ? (beforeAndAfter(document) ?? metricBars(document))
        : null;
  const latencies = procedure === "bench" ? latenciesOf(document) : null;
  return { ...made, ...all, ...latencies };
}

function numberOf(row: Row | undefined, key: string): number | null {
  const value: Value | undefined = row?.[key];
  return isNumber(value) ? value : null;
}

function textOf(row: Row | undefined, key: string): string {
  const value = row?.[key];
  return typeof value === "string" ? value : "";
}

/** A change is clear where its interval is on one side of none. */
function toneOf(low: number, high: number): Tone {
  if (high < 1) return "fall";
  return low > 1 || high - low < 0.2 ? "plain" : "unclear";
}

const SHARE = { label: "share of new", unit: "share" };

/** What all of some rows were compared with, if that is one and the same kind of thing. */
function referenceOf(rows: Row[]): { heading: string; of: string } {
  const kinds = new Set(rows.map((row) => textOf(row, "reference")));
  return (kinds.size === 1 ? REFERENCES[[...kinds][0] ?? ""] : undefined) ?? OWN_REFERENCE;
}

/** References that many drives, or all, fall short of. */
const LIMITS = ["class", "link"];

/**
 * Each metric of the overview: as a share of its reference, with its interval and the rated speed where that is known, and
 * without a bar where there is no reference.
 */
function metricBars({ tables, overview }: Document): Record<string, ShownSeries> | null {
  const shown = (overview.table?.rows ?? []).map(({ cells: [name = "", value = ""] }) => {
    const row = (tables["metrics"] ?? []).find((row) => nameOf(textOf(row, "metric")) === name);
    const reference = numberOf(row, "measured_per_s") === null ? 0 : (numberOf(row, "reference_per_s") ?? 0);
    return { name, value, row: row ?? {}, reference };
  });
  const compared = shown.filter(({ reference }) => reference > 0).map(({ row }) => row);
  if (compared.length === 0) return null;
  const now: Required<Pick<ShownLine, "points" | "band" | "labels" | "tones">> = {
    points: [],
    band: [],
    labels: [],
    tones: [],
  };
  const rated: [number, number][] = [];
  const all = referenceOf(compared);
  shown.forEach(({ value: words, row, reference }, at) => {
    if (reference <= 0) {
      now.points.push([at, 0]);
      now.labels.push(words);
      now.tones.push("absent");
      return;
    }
    const shareOf = (key: string) => (numberOf(row, key) ?? numberOf(row, "measured_per_s") ?? 0) / reference;
    const [value, low, high] = [shareOf("measured_per_s"), shareOf("low_per_s"), shareOf("high_per_s")];
    const unit = textOf(row, "unit");
    const own = all === OWN_REFERENCE ? REFERENCES[textOf(row, "reference")]?.heading : undefined;
    now.points.push([at, value]);
    now.band.push([at, low, high]);
    now.tones.push(LIMITS.includes(textOf(row, "reference")) ? "plain" : toneOf(low, high));
    now.labels.push(barWords(spell(value * reference, unit), spell(value, "share"), spell(reference, unit), own));
    const promised = numberOf(
      (tables["shares"] ?? []).find(({ metric }) => metric === row["metric"]),
      "advertised_per_s",
    );
    if (promised !== null) rated.push([at, promised / reference]);
  });
  const lines: ShownLine[] = [{ name: WORDS.now, ...now }];
  if (rated.length > 0) lines.push({ name: WORDS.rated, points: rated, isMark: true });
  return {
    metric_bars: {
      title: metricBarsTitle(all.of),
      shape: "bars",
      x: { label: "metric", unit: "" },
      y: { label: `share of ${all.of}`, unit: "share" },
      categories: shown.map(({ name }) => name),
      lines,
      whole: { value: 1, label: all.heading },
      ...(compared.length < shown.length ? { remark: WORDS.noReference } : {}),
    },
  };
}

/** Each ratio with its difference in words and the speed, in the color of its run. */
function withDifferences(series: ShownSeries, { tables }: Document): ShownSeries {
  const rows = tables["speeds"] ?? [];
  const lines = series.lines.map((line, index): ShownLine => {
    const of = rows.filter((row) => row["other"] === line.name);
    const rowOf = (at: number) => of.find((row) => row["speed"] === series.categories?.[at]);
    const speedOf = (row: Row | undefined) => spell(numberOf(row, "other_per_s") ?? 0, textOf(row, "unit"));
    return {
      ...line,
      // The first run is the one that they are compared with.
      member: index + 1,
      tones: line.points.map(([at]) => (textOf(rowOf(at), "difference") === "unclear" ? "unclear" : "plain")),
      labels: line.points.map(([at]) => differenceWords(textOf(rowOf(at), "in_words"), speedOf(rowOf(at)))),
    };
  });
  return { ...series, lines, whole: { value: 1, label: textOf(rows[0], "first") } };
}

/** The name of a metric. */
export function nameOf(identifier: string): string {
  return wordsOf(identifier, "metric");
}

/** Each metric before and after each step as a share of its reference, with the gain beside it. */
function beforeAndAfter({ tables }: Document): Record<string, ShownSeries> | null {
  const rows = tables["before_and_after"] ?? [];
  const isCompared = (row: Row) => numberOf(row, "after_of_reference_percent") !== null;
  const words = new Set(rows.filter(isCompared).map((row) => textOf(row, "share_of")));
  if (words.size === 0) return null;
  const [of] = words.size === 1 ? [...words] : [OWN_REFERENCE.of];
  const severalSteps = new Set(rows.map(({ step }) => step)).size > 1;
  const lineOf = (name: string, when: "before" | "after"): ShownLine => ({
    name,
    points: rows.map((row, at) => [at, (numberOf(row, `${when}_of_reference_percent`) ?? 0) / 100]),
    labels: rows.map((row) => {
      const value = spell(numberOf(row, `${when}_per_s`) ?? 0, textOf(row, "unit"));
      if (when === "before") return value;
      const share = (numberOf(row, "after_of_reference_percent") ?? 0) / 100;
      const isOwn = words.size > 1 && isCompared(row);
      return gainOf(value, row) + (isOwn ? ` · ${shareWords(spell(share, "share"), textOf(row, "share_of"))}` : "");
    }),
    tones: rows.map((row) => (!isCompared(row) ? "absent" : when === "before" ? "reference" : "plain")),
  });
  return {
    before_and_after: {
      title: beforeAndAfterTitle(of ?? ""),
      shape: "bars",
      x: { label: "metric", unit: "" },
      y: { label: `share of ${of}`, unit: "share" },
      categories: rows.map((row) =>
        severalSteps ? `${textOf(row, "step")}: ${textOf(row, "metric")}` : textOf(row, "metric"),
      ),
      lines: [lineOf(WORDS.before, "before"), lineOf(WORDS.after, "after")],
      whole: { value: 1, label: of ?? "" },
      ...(rows.every(isCompared) ? {} : { remark: WORDS.noReference }),
    },
  };
}

/** The gain of a step, if its interval is on one side of none. */
function gainOf(value: string, row: Row): string {
  const [ratio, low, high] = ["ratio", "ratio_low", "ratio_high"].map((key) => numberOf(row, key) ?? 1) as [
    number,
    number,
    number,
  ];
  return low > 1 || high < 1 ? gainWords(value, spell(ratio, "×")) : value;
}

/** The change at each bar of a used drive, in the words of the overview. */
function withChanges(series: ShownSeries, { tables, overview }: Document): ShownSeries {
  const rows = tables["new_vs_used"] ?? [];
  const rowOf = (at: number) => rows.find(({ test }) => test === series.categories?.[at]) ?? rows[at];
  const lines = series.lines.map((line): ShownLine => {
    const phase = line.name;
    if (phase !== "new" && phase !== "used") return line;
    const said = (at: number) => {
      const value = numberOf(rowOf(at), phase);
      return value === null ? null : spell(value, textOf(rowOf(at), "unit"));
    };
    /** What the first screen says of the change. */
    const changeAt = (at: number): string => {
      const before = numberOf(rowOf(at), "new");
      const isIt = ({ cells }: { cells: string[] }) =>
        cells[2] === said(at) && before !== null && cells[1] === spell(before, textOf(rowOf(at), "unit"));
      return overview.table?.rows.find(isIt)?.cells[3] ?? "";
    };
    return {
      ...line,
      labels: line.points.map(([at, share]) => {
        const value = said(at) ?? spell(share, "share");
        return phase === "new" ? value : gainWords(value, changeAt(at));
      }),
      tones: line.points.map(([at]) => {
        if (phase === "new") return "reference";
        if (changeAt(at) === UNCLEAR) return "unclear";
        return (numberOf(rowOf(at), "drop_percent_low") ?? 0) > 0 ? "fall" : "plain";
      }),
    };
  });
  return { ...series, y: SHARE, lines, whole: { value: 1, label: WORDS.whenNew } };
}

/** The levels between the knees of each line, and the intervals in which the knees are. */
function withLevels(test: string, series: ShownSeries, { tables }: Document): ShownSeries {
  const knees = (tables["knees"] ?? []).filter((row) => row["test"] === test);
  const steady = (tables["levels"] ?? []).filter((row) => row["test"] === test);
  const lines = series.lines.map((line): ShownLine => {
    const own = knees.filter((row) => row["op"] === line.name).toSorted((one, other) => atOf(one) - atOf(other));
    const [start = 0, end = 0] = [line.points[0]?.[0], line.points.at(-1)?.[0]];
    const levels = own.flatMap((row, index) => {
      const [before, after] = [numberOf(row, "before_bytes_per_s"), numberOf(row, "after_bytes_per_s")];
      const next = own[index + 1];
      const first = index === 0 && before !== null ? [{ from: start, to: atOf(row), value: before }] : [];
      return after === null ? first : [...first, { from: atOf(row), to: next ? atOf(next) : end, value: after }];
    });
    const level = steady.find((row) => row["op"] === line.name);
    const [value, from] = [numberOf(level, "steady_bytes_per_s"), numberOf(level, "steady_from_bytes")];
    if (levels.length === 0 && value !== null && from !== null) levels.push({ from, to: end, value });
    return levels.length > 0 ? { ...line, levels } : line;
  });
  const spans = knees.flatMap((row): [number, number][] => {
    const [low, high] = [numberOf(row, "at_bytes_low"), numberOf(row, "at_bytes_high")];
    return low === null || high === null || low === high ? [] : [[low, high]];
  });
  return { ...series, lines, spans };
}

function atOf(row: Row): number {
  return numberOf(row, "at_bytes") ?? 0;
}

const LATENCIES: [string, string][] = [
  ["bytes_per_s", "bytes/s"],
  ["iops", "1/s"],
  ["latency_ns_mean", "ns"],
  ["latency_ns_p50", "ns"],
  ["latency_ns_p99", "ns"],
  ["latency_ns_p999", "ns"],
  ["latency_ns_p9999", "ns"],
  ["latency_ns_max", "ns"],
];

/** The row of the matrix behind each cell of a heat map of a sweep. */
function withLatencies(key: string, series: ShownSeries, { tables }: Document): ShownSeries {
  const words = key.split("_");
  const rows = (tables["matrix"] ?? []).filter((row) =>
    ["op", "pattern", "data"].every((name) => {
      const value = textOf(row, name);
      const others = new Set((tables["matrix"] ?? []).map((other) => other[name]));
      return others.size < 2 || words.includes(value);
    }),
  );
  const details = (column: string, depth: string): [string, string][] => {
    const row = rows.find(
      (row) => spell(numberOf(row, "block_bytes") ?? 0, "bytes") === column && String(row["depth"]) === depth,
    );
    return LATENCIES.flatMap(([name, unit]): [string, string][] => {
      const value = numberOf(row, name);
      return value === null ? [] : [[LATENCY_NAMES[name] ?? name, spell(value, unit)]];
    });
  };
  return { ...series, details };
}

/** What is measured and what is fitted to it have one color: `random, fitted` and `random, measured`. */
function withPairs(series: ShownSeries): ShownSeries {
  const ofWhat = (name: string) => name.replace(/, (fitted|measured)$/, "");
  const all = [...new Set(series.lines.map(({ name }) => ofWhat(name)))];
  return { ...series, lines: series.lines.map((line) => ({ ...line, member: all.indexOf(ofWhat(line.name)) })) };
}

/** How the latencies of each test of a benchmark are distributed, as far as its table says. */
function latenciesOf({ tables }: Document): Record<string, ShownSeries> | null {
  const rows = (tables["results"] ?? []).filter((row) => (numberOf(row, "latency_ns_max") ?? 0) > 0);
  if (rows.length === 0) return null;
  const lines = ["latency_ns_p50", "latency_ns_p99", "latency_ns_max"].flatMap((key): ShownLine[] => {
    const points = rows.flatMap((row, at): [number, number][] => {
      const value = numberOf(row, key);
      return value === null ? [] : [[at, value]];
    });
    return points.length > 0 ? [{ name: LATENCY_NAMES[key] ?? key, points }] : [];
  });
  return {
    latencies_of_tests: {
      title: WORDS.latencies,
      shape: "bars",
      x: { label: "test", unit: "" },
      y: { label: "latency", unit: "ns", scale: "log" },
      categories: rows.map((row) => [textOf(row, "test"), textOf(row, "op")].filter(Boolean).join(" ")),
      lines,
    },
  };
}

/** The speeds of a benchmark beside those of its class. */
function withUsual(series: ShownSeries, { tables }: Document): ShownSeries {
  const lines = series.lines.map((line): ShownLine => {
    const usual = (tables["usual"] ?? []).flatMap((row): [number, number, number, number][] => {
      const at = series.categories?.indexOf(textOf(row, "test")) ?? -1;
      const [low, middle, high] = ["bytes_per_s_low", "bytes_per_s", "bytes_per_s_high"].map((key) => numberOf(row, key));
      return at < 0 || row["op"] !== line.name || low == null || middle == null || high == null ? [] : [[at, low, middle, high]];
    });
    return usual.length > 0 ? { ...line, usual } : line;
  });
  return { ...series, lines };
}

/** The interval of each bar, from the row of a table that has its number. */
function withIntervals(
  series: ShownSeries,
  key: string,
  rowOf: (category: string, line: string) => Row | undefined,
): ShownSeries {
  const lines = series.lines.map((line): ShownLine => {
    const band = line.points.flatMap(([x, value]): [number, number, number][] => {
      const row = rowOf(series.categories?.[x] ?? "", line.name);
      const [low, high] = [numberOf(row, `${key}_low`), numberOf(row, `${key}_high`)];
      return low === null || high === null || numberOf(row, key) !== value ? [] : [[x, low, high]];
    });
    return band.length > 0 ? { ...line, band } : line;
  });
  return { ...series, lines };
}
