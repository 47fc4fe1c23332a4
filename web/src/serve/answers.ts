/** What the server answers. */

import type { Standing } from "../Document";

export interface OptionGrammar {
  name: string;
  help: string;
  kind: "switch" | { choice: string[] } | { text: string };
}

export interface CommandGrammar {
  name: string;
  about: string;
  options: OptionGrammar[];
}

export interface Order {
  command: string;
  target: string;
  options: Record<string, string | true>;
}

/** What a run costs. */
export interface Cost {
  /** By which it is agreed to. */
  id: number;
  text: string;
  /** How much of a full write of a real drive that is. */
  wear?: string | null;
  /** What the terminal asks before such a run. */
  question: string | null;
  /** The same run in a terminal. */
  command: string | null;
}

/** One kind of I/O over the last half second. */
export interface IoRate {
  op: "read" | "write" | "trim" | "flush";
  bytes_per_s: number;
  iops: number;
  /** Latencies of a run that this server started. */
  latency_ns_p50?: number;
  latency_ns_p99?: number;
  latency_ns_max?: number;
}

export interface Progress {
  share: number | null;
  /** The time left, in words. */
  left: string | null;
  bytes_done: number;
  bytes_written: number;
  bytes_per_s: number | null;
  io: IoRate[];
  drive_time_ns: number;
}

export interface JobEnd {
  code: number | null;
  /** What the code means. */
  outcome: string;
  summary: string;
  run: string | null;
}

export interface Job extends Order {
  id: number;
  /** Whether this server started it. */
  is_own: boolean;
  run: string | null;
  progress: Progress | null;
  messages: string[];
  end: JobEnd | null;
}

/** What is under way. */
export interface Now {
  running: Job[];
  /** Another text than before if runs have begun or ended. */
  change: string;
}

/** What is measured now: its name in reports, and what it does in words. */
export interface Step {
  name: string;
  activity: string;
}

/** One line of a job's course; exactly one of these is there. */
export interface JobEvent {
  run?: { procedure: string; target: string; folder: string | null };
  step?: Step;
  progress?: Progress;
  message?: string;
  end?: JobEnd;
}

export interface RunEntry {
  name: string;
  started_at: string | null;
  procedure: string | null;
  target: string | null;
  /** Unfinished: it goes on elsewhere, or was interrupted. */
  standing: Standing | "unfinished" | null;
  summary: string | null;
  /** Why it cannot be read. */
  error: string | null;
}

export interface RunPage {
  runs: RunEntry[];
  count: number;
}

/** A change that the scatter between checks does not explain: the level since then over the one before. */
export interface Change {
  since: string;
  ratio: number;
  ratio_low: number;
  ratio_high: number;
}

/** A metric of the latest check, and how it got there. */
export interface MetricHistory {
  metric: string;
  unit: string;
  baseline_per_s: number;
  now_per_s: number;
  percent_of_baseline: number;
  /** The same of each check up to now, of many the latest. */
  percent_of_baseline_each: number[];
  /** The earliest first. */
  changes: Change[];
}

export interface DriveSummary {
  archive: string;
  key: string;
  name: string;
  /** Its name, its capacity, and how often it was checked since when. */
  title: string;
  /** What is known of it beside its name. */
  about: string;
  /** What changed last, what matters most first; or a sentence that nothing did. */
  news: { standing: Standing; sentence: string }[];
  access: string;
  model: string | null;
  capacity_bytes: number | null;
  target: string;
  first_at: string;
  last_at: string;
  check_count: number;
  /** The name of its run. */
  last_check: string | null;
  last_check_at: string | null;
  standing: Standing | null;
  summary: string | null;
  metrics: MetricHistory[];
}

export interface CheckMetric {
  metric: string;
  unit: string;
  per_s: number;
  low_per_s: number;
  high_per_s: number;
  reference_per_s: number | null;
  /** What the reference is. */
  reference: string | null;
  /** None where it was measured in another way than in the latest check. */
  percent_of_baseline: number | null;
}

export interface Check {
  run: string;
  started_at: string;
  standing: Standing;
  summary: string;
  metrics: CheckMetric[];
}

export interface DriveHistory extends DriveSummary {
  /** The earliest first; of many, the first and the latest ones. */
  checks: Check[];
}

export interface DamagedRun {
  archive: string;
  run: string;
  error: string;
}

/** A target whose checks are of no drive that is known again. */
export interface UnknownDrive {
  archive: string;
  target: string;
  /** The name of its run. */
  last_check: string;
  last_check_at: string;
  sentence: string;
}

export interface History {
  drives: DriveSummary[];
  unknown_drives: UnknownDrive[];
  damaged: DamagedRun[];
}

export interface DriveList {
  simulated: { target: string; model: string; technology: string; capacity_bytes: number }[];
  real: RealDrive[];
}

export interface RealDrive {
  path: string;
  model: string | null;
  capacity_bytes: number;
  /** Whether nothing is below it, neither a file nor other devices. */
  is_drive: boolean;
  used_by: string | null;
}
