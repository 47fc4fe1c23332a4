/** What matters of drives over time, as data and as a chart. */

import { REFERENCES } from "../declared";
import { colored } from "../pictures";
import type { Picture, ShownLine, ShownSeries } from "../shown";
import { plainHeading } from "../Table";
import type { Table } from "../Table";
import { DATE, spell, wordsOf } from "../units";
import type { Check, CheckMetric, DriveHistory, DriveSummary, MetricHistory, RunEntry, UnknownDrive } from "./answers";
import {
  CHECKED,
  CHECKS,
  checkWords,
  COLUMNS,
  DATE_AXIS,
  FOUND,
  FULL_IS,
  INTERRUPTED,
  LEVEL_SIGNS,
  markWords,
  NAV,
  SHARE_OF_FIRST,
  speedTitle,
  when,
  wholePercent,
} from "./wording";

/** The name of a metric. */
export const nameOf = (metric: string): string => wordsOf(metric, "metric");

const sizeOf = ({ ratio }: { ratio: number }): number => Math.abs(Math.log(ratio));

/** The drives that were checked; real ones before simulated ones, each in the order of the server. */
export function checkedDrives(drives: DriveSummary[]): { real: DriveSummary[]; simulated: DriveSummary[] } {
  const checked = drives.filter(({ check_count }) => check_count > 0);
  const isSimulated = ({ access }: DriveSummary): boolean => access === "simulated";
  return { real: checked.filter((drive) => !isSimulated(drive)), simulated: checked.filter(isSimulated) };
}

/** A drive in a list, with what is known of it, if it was ever measured. */
export interface ListedDrive {
  name: string;
  about: string;
  target: string;
  drive: DriveSummary | null;
  /** Its last check, if that is of no drive that is known again. */
  unknown?: UnknownDrive | undefined;
}

/** A drive in a list of those that were checked. */
export const listedDrive = (drive: DriveSummary): ListedDrive => ({
  name: drive.name,
  about: drive.about,
  target: drive.target,
  drive,
});

/** The drive that was checked last under this name. */
export function drivesByTarget(drives: DriveSummary[]): Map<string, DriveSummary> {
  const checked = drives.filter(({ check_count }) => check_count > 0);
  const earliestFirst = checked.toSorted((one, other) => (one.last_at < other.last_at ? -1 : 1));
  return new Map(earliestFirst.map((drive) => [drive.target, drive]));
}

interface Point {
  x: number;
  /** Of the first check. */
  share: number;
  value: CheckMetric;
}

function pointsOf(checks: Check[], metric: string): Point[] {
  return checks.flatMap(({ started_at, metrics }) => {
    const value = metrics.find((one) => one.metric === metric);
    const percent = value?.percent_of_baseline ?? null;
    return value && percent !== null ? [{ x: Date.parse(started_at), share: percent / 100, value }] : [];
  });
}

/** A value of a check as a share of the first one. */
const shareOf = ({ share, value }: Point, per_s: number): number => (share * per_s) / value.per_s;

/**
 * The metrics of each check as shares of the first, over dates. One metric alone has its intervals and what it was
 * compared with; those of all would hide the lines.
 */
export function speedOverTime({ metrics, checks }: DriveHistory, chosen: string | null): Picture {
  const shown = metrics.filter(({ metric }) => chosen === null || metric === chosen);
  const lines = shown.map(({ metric }): ShownLine => {
    const points = pointsOf(checks, metric);
    const band = points.map((point): [number, number, number] => [
      point.x,
      shareOf(point, point.value.low_per_s),
      shareOf(point, point.value.high_per_s),
    ]);
    return {
      name: nameOf(metric),
      points: points.map(({ x, share }) => [x, share]),
      labels: points.map(({ value }) => checkWords(value)),
      ...(chosen === null ? {} : { band }),
    };
  });
  const series = colored({
    title: speedTitle(chosen === null ? null : nameOf(chosen)),
    shape: "line",
    x: { label: DATE_AXIS, unit: DATE },
    y: { label: SHARE_OF_FIRST, unit: "share" },
    lines,
    marks: marksOf(shown),
    notes: new Map(checks.map(({ started_at, run }) => [Date.parse(started_at), run])),
  });
  const references = chosen === null ? [] : referencesOf(pointsOf(checks, chosen));
  return { key: "history", series: { ...series, lines: [...series.lines, ...references] }, range: null };
}

/** Where metrics changed for good, the largest change first, so that its text has the first choice of a place. */
function marksOf(metrics: MetricHistory[]): NonNullable<ShownSeries["marks"]> {
  const dates = new Map<string, { name: string; ratio: number }[]>();
  for (const { metric, changes } of metrics)
    for (const { since, ratio } of changes)
      dates.set(since, [...(dates.get(since) ?? []), { name: nameOf(metric), ratio }]);
  const largestOf = (changes: { ratio: number }[]): number => Math.max(...changes.map(sizeOf));
  return [...dates]
    .toSorted(([, one], [, other]) => largestOf(other) - largestOf(one))
    .map(([since, changes]) => ({ x: Date.parse(since), label: markWords(changes) }));
}

/** The gray of the palette, and dots. */
const REFERENCE_STYLE = { hue: 5, dash: 2 };

/** What the checks compared a metric with, a line for each kind of reference. The first check is 100% anyway. */
function referencesOf(points: Point[]): ShownLine[] {
  const others = Object.entries(REFERENCES).filter(([reference]) => reference !== "baseline");
  return others.flatMap(([reference, { heading: name }]) => {
    const known = points.flatMap((point): [number, number][] => {
      const { reference_per_s } = point.value;
      return point.value.reference === reference && reference_per_s !== null
        ? [[point.x, shareOf(point, reference_per_s)]]
        : [];
    });
    return known.length > 0 ? [{ name, points: known, ...REFERENCE_STYLE }] : [];
  });
}

/** A line of the table of checks. */
export interface CheckRow {
  check: Check;
  /** For each metric its share of the first check in percent, and whether a new level begins here. */
  cells: { percent: number | null; level: "slower" | "faster" | null }[];
}

/** The checks, the latest first. */
export function checkRows({ metrics, checks }: DriveHistory): CheckRow[] {
  return checks.toReversed().map((check) => ({
    check,
    cells: metrics.map(({ metric, changes }) => {
      const percent = check.metrics.find((one) => one.metric === metric)?.percent_of_baseline ?? null;
      const change = changes.find(({ since }) => since === check.started_at);
      return { percent, level: change ? (change.ratio < 1 ? "slower" : "faster") : null };
    }),
  }));
}

/** The list of runs as a table to copy. */
export function runsTable(runs: RunEntry[]): Table {
  const cell = (value: string | null) => ({ text: value ?? "–", value });
  return {
    title: NAV.runs,
    headings: [
      plainHeading(COLUMNS.command, "procedure"),
      plainHeading(COLUMNS.target, "target"),
      plainHeading(COLUMNS.started, "started_at", { beside: ["run"] }),
      plainHeading(FOUND, "summary", { beside: ["standing"] }),
    ],
    rows: runs.map(({ name, procedure, target, started_at, standing, summary, error }) => [
      cell(procedure),
      cell(target),
      { text: when(started_at ?? name), value: started_at, beside: [name] },
      { ...cell(error ?? (standing === "unfinished" ? INTERRUPTED : summary)), beside: [standing] },
    ]),
  };
}

/** The table of checks as text to copy, which says what 100% is above it; a spreadsheet has the speeds beside the shares. */
export function checksTable(drive: DriveHistory): Table {
  const { metrics } = drive;
  return {
    title: CHECKS,
    headings: [
      plainHeading(CHECKED, "started_at", { beside: ["run"] }),
      ...metrics.map(({ metric }) => plainHeading(nameOf(metric), `${metric}_percent_of_first`, { beside: [`${metric}_per_s`], number: true })),
      plainHeading(FOUND, "summary", { beside: ["standing"] }),
    ],
    rows: checkRows(drive).map(({ check: { run, started_at, standing, summary, metrics: values }, cells }) => [
      { text: when(started_at), value: started_at, beside: [run] },
      ...cells.map(({ percent, level }, at) => ({
        text: percent === null ? "–" : `${wholePercent(percent)}${level ? ` ${LEVEL_SIGNS[level]}` : ""}`,
        value: percent,
        beside: [values.find(({ metric }) => metric === metrics[at]?.metric)?.per_s ?? null],
      })),
      { text: summary, value: summary, beside: [standing] },
    ]),
  };
}

/** What stands above that table: the drive, and what its shares are of. */
export const checksAbout = ({ title, metrics }: DriveHistory): string[] => [
  title,
  `${FULL_IS} ${metrics.map(({ metric, unit, baseline_per_s }) => `${nameOf(metric)} ${spell(baseline_per_s, unit)}`).join(", ")}`,
];
