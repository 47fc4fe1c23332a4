/** Everything that the pages of the server say. */

import type { Standing } from "../Document";
import { spell, speedChange, withChangeRange, withRange } from "../units";
import { REFERENCES } from "../wording";
import type { Change, CheckMetric, DriveSummary, Job, JobEnd, MetricHistory } from "./api";

export const NAV = { drives: "Drives", start: "New run", history: "History", runs: "Earlier runs" };
export const CHECK = "Check";
export const REAL_DRIVES = "Drives of this machine";
export const SIMULATED_DRIVES = "Simulated drives";
export const NO_DRIVES = "No drive of this machine can be seen from here. A folder can be measured all the same.";
export const HEALTH_LOADING = "Reading what the drives report …";
export const UNDER_WAY = "Under way";
export const LOADING = "Loading …";
export const COMMAND = "Command";
export const TARGET = "Folder, device or simulated drive";
export const TARGET_HINT = "A folder is measured with temporary files, always deleted. A device is only read.";
export const OPTIONS = "Options";
export const COST = "What does it cost?";
export const START = "Start";
export const CANCEL = "Cancel";
export const CANCELING = "Canceling …";
export const RESUME = "Resume";
export const COMPARE = "Compare";
export const NEWER = "Newer";
export const OLDER = "Older";
export const NO_RUNS = "No run yet. Start one, or run likenew in a terminal.";
export const INTERRUPTED = "interrupted";
export const SPEED_SO_FAR = "Speed so far";
export const SHOW_RESULT = "Full report";
export const AGAIN = "Run it again";
export const DEFAULT_CHOICE = "default";

const seconds = (ns: number): string => {
  const s = ns / 1e9;
  if (s < 1) return "less than a second";
  if (s < 90) return `about ${s.toFixed(0)} s`;
  if (s < 5400) return `about ${(s / 60).toFixed(0)} min`;
  return `about ${(s / 3600).toFixed(0)} h`;
};

export const left = (ns: number): string => `${seconds(ns)} left`;

/** The title of a job. */
export const jobTitle = ({ command, target }: Pick<Job, "command" | "target">): string => `${command} ${target}`;

/** How a run ended, in a word. */
export function endWord({ code }: JobEnd): string {
  switch (code) {
    case 0:
      return "Done";
    case 10:
      return "Done, and found a problem";
    case 130:
      return "Canceled; it can be resumed";
    case 2:
      return "Refused";
    case 3:
      return "Refused for safety";
    case null:
      return "Ended by a signal";
    default:
      return "Could not finish";
  }
}

export const runsShown = (from: number, to: number, count: number): string => `${from} to ${to} of ${count}`;

/** `2026-03-14T15:09:26.123Z` as the date and minute of the machine that measured. */
export const when = (started_at: string): string => started_at.slice(0, 16).replace("T", " ");

/** What the chart of a running job shows, for who cannot see it. */
export const speedInWords = (values: number[]): string => {
  if (values.length === 0) return "No speed yet";
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const last = values[values.length - 1] ?? 0;
  return `Speed so far: ${spell(low, "bytes/s")} to ${spell(high, "bytes/s")}, now ${spell(last, "bytes/s")}`;
};

// ---- Drives over time, as `likenew history` says it ----

/** The metrics as a sentence begins with them. */
const METRICS: Record<string, string> = {
  sequential_read: "sequential reads",
  sequential_write: "sequential writes",
  sustained_write: "sustained writes",
  random_read: "4K random reads",
  random_write: "4K random writes",
  random_read_qd32: "4K random reads at QD32",
};

export const CHECKED_DRIVES = "Real drives";
export const NO_HISTORY = "No drive was checked yet.";
export const FIRST_CHECK = "Check one";
export const CHECK_AGAIN = "Check again";
export const ALL_METRICS = "all";
export const METRIC = "Metric";
export const FULL_IS_FIRST = "100% is the first check.";
export const FULL_IS = "100% is";
export const CHECKS = "Checks";
export const CHECKED = "checked";
export const FOUND = "found";
export const LEVELS = "↓ and ↑ begin a new level.";
export const LEVEL_WORDS = { slower: "slower from here on", faster: "faster from here on" };
export const SHARE_OF_FIRST = "share of the first check";
export const DATE_AXIS = "date";
export const DAMAGED = "Runs that cannot be read";
/** The metrics in the list of drives. */
export const DRIVE_METRICS = ["sustained_write", "sequential_read"];

/** The day of a time such as `2026-03-14T15:09:26Z`. */
export const day = (time: string): string => time.slice(0, 10);

/** Maker and model, or what stands for them, and where the drive is. */
export const driveName = ({ access, model, target }: Pick<DriveSummary, "access" | "model" | "target">): string =>
  model !== null && access !== "simulated" ? `${model} (${target})` : target;

const checkCount = (count: number): string => (count === 1 ? "1 check" : `${spell(count, "")} checks`);

/** The first line about one drive. */
export function driveTitle(drive: DriveSummary): string {
  const capacity = drive.capacity_bytes === null ? "" : `, ${spell(drive.capacity_bytes, "bytes")}`;
  return `${driveName(drive)}${capacity}: ${checksSince(drive)}`;
}

export const checksSince = ({ check_count, first_at }: DriveSummary): string =>
  `${checkCount(check_count)} since ${day(first_at)}`;

/** `Sequential reads are 12% slower (9–15%) since 2026-03-03.` */
export function changeSentence({ metric }: MetricHistory, { since, ratio, ratio_low, ratio_high }: Change): string {
  const name = METRICS[metric] ?? metric;
  const range = withChangeRange(ratio, ratio_low, ratio_high);
  return `${name.charAt(0).toUpperCase()}${name.slice(1)} are ${range} since ${day(since)}.`;
}

/** A fall is a problem, and a gain is none. */
export const changeStanding = ({ ratio }: Change): Standing => (ratio < 1 ? "problem" : "good");

/** Instead of changes, where there are none. */
export function noChange(checks: number, hasMetrics: boolean): { standing: Standing; sentence: string } {
  if (checks === 0) return { standing: "unknown", sentence: "Never checked." };
  if (!hasMetrics) return { standing: "unknown", sentence: "Its last check measured no speed." };
  if (checks === 1)
    return { standing: "unknown", sentence: "Checked once, so there is nothing to compare with yet." };
  return { standing: "good", sentence: `No change beyond the scatter between its ${spell(checks, "")} checks.` };
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
