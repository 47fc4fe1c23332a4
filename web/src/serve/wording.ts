/** Everything that the pages of the server say. */

import { spell } from "../units";
import type { Estimate, Job, JobEnd } from "./api";

export const NAV = { drives: "Drives", start: "New run", runs: "Earlier runs" };
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
export const NOT_COMPLETE = "interrupted";
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

/** What a run costs, before it. */
export function cost({ elapsed_ns, bytes_written, is_bounded, bytes_rewritten }: Estimate): string {
  const written = spell(bytes_written, "bytes");
  const rewritten = bytes_rewritten > 0 ? ` Rewrites up to ${spell(bytes_rewritten, "bytes")} of your files in place.` : "";
  const time = `Takes ${seconds(elapsed_ns)}`;
  if (bytes_written === 0) return `${time} and writes ${bytes_rewritten > 0 ? "no other files" : "nothing"}.${rewritten}`;
  return `${time} and writes ${is_bounded ? "up to" : "about"} ${written}.${rewritten}`;
}

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
