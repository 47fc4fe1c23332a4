/** A run as likenew reports it: the types of `schema/report.schema.json`. */

export type Standing = "good" | "problem" | "unknown" | "info";

export interface Estimate {
  value: number;
  /** Null where nothing bounds it. */
  low: number | null;
  high: number | null;
  unit: string;
}

/** Something the owner of the drive can do. */
export interface Action {
  id: string;
  why: string;
  /** The command, ready to paste into a shell. */
  command?: string;
  undo?: string;
  time_s?: number;
  bytes_written?: number;
  loses: "nothing" | "deleted_files" | "everything";
}

export interface Answer {
  id: string;
  question: string;
  answer: string;
  standing: Standing;
  estimate: Estimate | null;
  evidence: string[];
  caveats: string[];
  actions: Action[];
}

export interface OverviewTable {
  headings: string[];
  /** A share of 1 is a full bar. */
  rows: { cells: string[]; share?: number }[];
}

/** The part of the findings for the first screen. */
export interface Overview {
  lead: "summary" | "table";
  answers?: string[];
  table?: OverviewTable;
  series?: string;
}

export type Value = string | number | boolean | null | Value[] | { [key: string]: Value };

export type Row = Record<string, Value>;

export interface Axis {
  label: string;
  unit: string;
  /** A logarithmic scale; linear without it. */
  scale?: "log";
  /** Where it begins and ends, if that is not where its values do. */
  ends?: [number, number];
}

export interface Line {
  name: string;
  points: [number, number][];
  /** `[x, low, high]`: the interval around the line. */
  band?: [number, number, number][];
}

export interface Mark {
  x: number;
  label: string;
}

export interface Series {
  title: string;
  /** In a heat map each line is a row and each of its points, `[category, value]`, a cell. */
  shape: "line" | "bars" | "scatter" | "heat";
  x: Axis;
  y: Axis;
  /** The meaning of the rows of a heat map. */
  rows?: string;
  categories?: string[];
  lines: Line[];
  marks?: Mark[];
  /** What a mark is. */
  mark_name?: string;
}

export interface Accounting {
  host_bytes_written: number;
  flash_bytes_programmed: number;
  erases: number;
  write_amplification: number;
  free_blocks: number;
  wear?: Wear;
}

export interface Wear {
  erases_min: number;
  erases_max: number;
  erases_mean: number;
  bad_blocks: number;
}

export interface Identity {
  name: string;
  kind: "folder" | "file" | "device" | "simulated" | "nop";
  model: string | null;
  engine: string;
  capacity_bytes: number;
  block_bytes: number;
  facts: [string, string][];
  caveats: string[];
  accounting?: Accounting;
}

export interface Calibration {
  timer_step_ns: number;
  nop_iops: number;
  overhead_ns_per_io: number;
  random_data_bytes_per_s: number;
  ratio_data_bytes_per_s: number;
  added_latency?: { call_ns: number; wake_ns_p50: number; wake_ns_p99: number };
}

export interface Instrument {
  version: string;
  clock: "wall" | "virtual";
  engine: string;
  /** Operating system and kernel; not of a simulated run. */
  system?: string;
  calibration?: Calibration;
}

export interface Plan {
  schema: number;
  procedure: string;
  target?: string;
  drive?: string;
  seed: number;
  options: Row;
}

export interface Document {
  schema: 2;
  procedure: string;
  target: Identity;
  plan: Plan;
  summary: string;
  answers: Answer[];
  overview: Overview;
  tables: Record<string, Row[]>;
  series: Record<string, Series>;
  bytes_written: number;
  elapsed_ns: number;
  instrument: Instrument;
}

/** Every I/O of a run, packed as `samples.ts` reads it. */
export interface PackedSamples {
  lines: { op: string; count: number; slow_from: number }[];
  time_unit_ns: number;
  /** The ratio of a latency code to the one before. */
  latency_step: number;
  /** Of the I/Os of a line whose code is below its `slow_from`, one in so many is here; of the others all are. */
  kept_of: number;
  /** Base64 of a raw deflate stream. */
  data: string;
}

/** A document and its name beside others. */
export interface Labeled {
  label: string;
  document: Document;
  /** When the run began, as a date in UTC; not of a simulated run. */
  started_at?: string;
  /** Present if the run recorded each I/O. */
  samples?: PackedSamples;
}
