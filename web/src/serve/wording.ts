/** Everything that the pages of the server say. */

import { REFERENCES } from "../declared";
import type { OverviewTable } from "../Document";
import { spell, speedChange, withRange } from "../units";
import { WORDS } from "../wording";
import type { CheckMetric, IoRate, Job, MetricHistory, Order, Progress } from "./answers";

export const NAV = { drives: "Drives", start: "New run", runs: "Earlier runs" };
export const HISTORY = "History";
export const LIVE_TITLE = "Run";

/** The title of a view: what it shows, and whose it is. */
export const pageTitle = (what: string): string => `${what} · ${WORDS.product}`;

export const STOPPED =
  "The server has stopped, or does not answer. Start likenew serve again, and open the address that it prints.";
export const REFUSED =
  "This address has no secret, or a wrong one. Open the address that likenew serve has printed in the terminal.";
export const SAVE_PAGE = "Save as HTML";
export const WHOLE_FILE = "All drives";
export const NOT_IN_FILE = "That is not in this file.";
export const SAVED_UNDER_WAY = "The run was under way when this was saved. What came later is not in this file.";
/** `2026-03-14T15:09:26.123Z` as a date and minute of UTC, which the dates of runs are in. */
export const savedWords = (saved_at: string): string => `Saved from likenew serve on ${when(saved_at)} UTC`;
export const SIMULATED_LINK = "Simulated drives, to try it out";
export const OTHER_DRIVES = "Folders, and drives that are not here now";
export const LAST_CHECK = "Its last check";
export const NEVER_CHECKED = "Never checked.";
export const marksShown = (count: number): string => (count === 1 ? "1 run marked" : `${count} runs marked`);
export const MARK_ANOTHER = "Mark another one to compare them.";
export const UNMARK = "Clear";
export const CHECK = "Check";
export const REAL_DRIVES = "Drives of this machine";
export const SIMULATED_DRIVES = "Simulated drives";
export const CHECKED_SIMULATED = "Checked";
export const REAL_CHECKED = "Real drives";
export const NO_DRIVES = "No drive of this machine can be seen from here. A folder can be measured all the same.";
export const HEALTH_LOADING = "Reading what the drives report …";
export const REPORTED = "What the drives report";
export const UNDER_WAY = "Under way";
export const LOADING = "Loading …";
export const COMMAND = "Command";
export const TARGET = "Folder, device or simulated drive";
export const TARGET_HINT = "A folder is measured with temporary files, always deleted. A device is only read.";
export const OPTIONS = "Options";
export const COST_LOADING = "Working out what it costs …";
export const COST_HEADING = "What it costs";
export const IN_TERMINAL = "In a terminal";
export const NEEDS_CONSENT = "This page gives no consent. Where one is needed, a terminal asks for it:";
export const START = "Start";
export const CANCEL = "Cancel";
export const CANCELING = "Canceling …";
export const RESUME = "Resume";
export const COMPARE = "Compare";
export const NEWER = "Newer";
export const OLDER = "Older";
export const NO_RUNS = "No run yet. Start one, or run likenew in a terminal.";
/** The columns of the list of runs where it is copied. */
export const COLUMNS = { command: "command", target: "target", started: "started" };
export const INTERRUPTED = "interrupted";
export const STARTED_ELSEWHERE = "Started in a terminal; cancel it there with Ctrl-C.";
export const SHOW_RESULT = "What was measured";
export const AGAIN = "Run it again";
export const DEFAULT_CHOICE = "default";

/** What is chosen for a new run. */
export const orderWords = ({ command, target }: Pick<Order, "command" | "target">): string =>
  `${NAV.start}: ${command} ${target}`;

/** The title of a job. */
export const jobTitle = ({ command, target }: Pick<Job, "command" | "target">): string => `${command} ${target}`;

/** A run by its folder, `2026-03-14T15-09-26.123Z-check-dev-sda`, as `check-dev-sda, 2026-03-14 15:09`. */
export const resultTitle = (run: string): string =>
  run.replace(/^(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)[^Z]*Z-(.*)$/, "$4, $1 $2:$3");

export const comparisonTitle = (count: number): string => `${count} runs compared`;

export const runsShown = (from: number, to: number, count: number): string => `${from} to ${to} of ${count}`;

/** `2026-03-14T15:09:26.123Z` as the date and minute of the machine that measured. */
export const when = (started_at: string): string => started_at.slice(0, 16).replace("T", " ");

/** Kinds of I/O as headings. */
export const IO_NAMES: Record<IoRate["op"], string> = { read: "Reads", write: "Writes", trim: "TRIM", flush: "Flushes" };

/** What is moved and written up to now. */
export const movedWords = ({ bytes_done, bytes_written }: Progress): string =>
  `${spell(bytes_done, "bytes")} moved, ${spell(bytes_written, "bytes")} of it written`;

/** `812 MB/s, 793 IOPS`: the speed of now, or that there is none. */
export const rateWords = (rate: IoRate | null, unit: string): string => {
  if (!rate) return "none now";
  const iops = spell(rate.iops, "1/s");
  return unit === "bytes/s" ? `${spell(rate.bytes_per_s, unit)}, ${iops}` : iops;
};

/** Nothing where the program that measures counts none. */
export const latencyWords = (rate: IoRate | null): string => {
  const { latency_ns_p50: p50, latency_ns_p99: p99, latency_ns_max: max } = rate ?? {};
  if (p50 === undefined || p99 === undefined || max === undefined) return "\u00a0";
  return `Latency: p50 ${spell(p50, "ns")}, p99 ${spell(p99, "ns")}, max ${spell(max, "ns")}`;
};

/** What a chart of a run that is under way shows, for who cannot see it. */
export const courseWords = (name: string, speeds: (number | null)[], unit: string): string => {
  const known = speeds.filter((speed) => speed !== null);
  if (known.length === 0) return `${name}: no speed yet`;
  return `${name} so far: ${spell(Math.min(...known), unit)} to ${spell(Math.max(...known), unit)}`;
};

// ---- Drives over time ----

export const CHECK_AGAIN = "Check again";
export const ALL_METRICS = "all";
export const METRIC = "Metric";
export const FULL_IS_FIRST = "100% is the first check.";
export const FULL_IS = "100% is";
export const CHECKS = "Checks";
export const CHECKED = "checked";
export const FOUND = "found";
export const LEVELS = "↓ and ↑ begin a new level.";
export const LEVEL_SIGNS = { slower: "↓", faster: "↑" };
export const LEVEL_WORDS = { slower: "slower from here on", faster: "faster from here on" };
export const SHARE_OF_FIRST = "share of the first check";
export const DATE_AXIS = "date";
export const DAMAGED = "Runs that cannot be read";
/** The metrics in the list of drives. */
export const DRIVE_METRICS = ["sustained_write", "sequential_read"];

/** What a drive reports of itself, from the table of facts: all that is known beside name, model and capacity. */
export function reportedWords(table: OverviewTable | null, path: string): string[] {
  const row = table?.rows.find(({ cells }) => `/dev/${cells[0]}` === path);
  const named = (table?.headings ?? []).map((heading, at) => ({ heading, cell: row?.cells[at] ?? "" }));
  const known = named.slice(3).filter(({ cell }) => cell !== "" && cell !== "unknown" && cell !== "–");
  return known.map(({ heading, cell }) => `${heading} ${cell}`);
}

export const historyOf = (target: string): string => `History of ${target}`;

export const lastCheck = (summary: string): string => `Last check: ${summary}`;

export const wholePercent = (percent: number): string => `${percent.toFixed(0)}%`;

/** `451 MB/s · 81%`: the value now and its share of the first check. */
export const nowWords = ({ now_per_s, unit, percent_of_baseline }: MetricHistory): string =>
  `${spell(now_per_s, unit)} · ${wholePercent(percent_of_baseline)}`;

/** The value of a check with its interval, and what it was compared with. */
export function checkWords({ per_s, low_per_s, high_per_s, unit, reference_per_s, reference }: CheckMetric): string {
  const value = withRange(spell(per_s, unit), spell(low_per_s, unit), spell(high_per_s, unit));
  // That of its baseline is its first check, which stands before it.
  const name = reference === "baseline" ? undefined : REFERENCES[reference ?? ""]?.heading;
  return reference_per_s === null || name === undefined ? value : `${value}, ${name} ${spell(reference_per_s, unit)}`;
}

/** The text at a date on which metrics changed. */
export function markWords(changes: { name: string; ratio: number }[]): string {
  const [first] = changes;
  if (first && changes.length === 1) return `${first.name} ${speedChange(first.ratio)}`;
  const slower = changes.filter(({ ratio }) => ratio < 1).length;
  const how = slower === changes.length ? "slower" : slower === 0 ? "faster" : "changed";
  return `${changes.length} metrics ${how}`;
}

export const speedTitle = (metric: string | null): string =>
  metric === null ? "Speed of each check" : `${metric.charAt(0).toUpperCase()}${metric.slice(1)} of each check`;

export const damagedWords = (run: string, error: string): string => `${run}: ${error}`;

export const compareWords = (started_at: string): string => `${COMPARE}: ${when(started_at)}`;

export const checksShown = (shown: number, all: number): string =>
  `${shown} of ${spell(all, "")} checks: the first and the latest.`;
