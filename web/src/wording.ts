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
  noDocuments: "This page holds no documents. Make one with",
  noAnswers: "This run gave no answers.",
  answer: "Answer",
  answers: "Answers",
  overview: "Overview",
  fix: "Fix it",
  decide: "To decide",
  evidence: "Evidence",
  charts: "More charts",
  tables: "Tables",
  drive: "The drive",
  method: "How it was measured",
  plan: "Plan to repeat it",
  copy: "Copy",
  copied: "Copied",
  saved: "Saved",
  copyCsv: "Copy as CSV",
  showAll: "Show all",
  logarithmic: "Log",
  table: "Table",
  chart: "Chart",
  zoomIn: "Zoom in",
  zoomOut: "Zoom out",
  zoomed: "Drawn now",
  rated: "rated",
  now: "now",
  whenNew: "when new",
  before: "before",
  after: "after",
  more: "More to the right: scroll",
  seed: "beyond 2⁵³; the JSON has it exactly",
  planHint: "Save it as plan.toml, then run",
  pickCell: "Click a cell, or press Enter on it, to see its latencies.",
  noCell: "The document has no latencies of this cell.",
} as const;

/** Names of metrics, causes and other identifiers in tables; all others are written with spaces. */
export const NAMES: Record<string, string> = {
  random_read: "4K random read",
  random_write: "4K random write",
  random_read_qd32: "4K random read QD32",
  no_trim: "no TRIM",
  slow_usb: "slow USB",
  slc_cache: "SLC cache",
  buffered_flushed: "buffered, flushed",
  first_buffered: "buffered, 1st read",
  second_buffered: "buffered, 2nd read",
  map_page_bytes: "mapping unit",
  erase_unit_bytes: "erase unit (superblock)",
  write_buffer_bytes: "write buffer",
  slc_cache_bytes: "SLC cache",
  slc_speed_after_bytes_per_s: "speed after the SLC cache",
  slc_recovery_ns: "recovery of the SLC cache",
  parallelism: "dies",
  stripe_bytes: "stripe per die",
  over_provisioning_percent: "over-provisioning",
  idle_collection_ns: "idle GC starts after",
  old_data_read_ratio: "read time of old data",
  token_bucket_ios: "burst credits",
  map_cache_bytes: "mapping table in RAM",
  trim: "TRIM",
  crc_errors: "CRC errors",
  inode_age_s_p50: "file age p50",
  inode_age_s_p90: "file age p90",
};

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

export function madeByWords(version: string): string {
  return `Measured and written by likenew ${version}`;
}

export function copyOf(what: string): string {
  return `Copy ${what}`;
}

export function copyCsvOf(title: string): string {
  return `Copy ${title} as CSV`;
}

export function saveOf(title: string, format: string): string {
  return `Save ${title} as ${format}`;
}
