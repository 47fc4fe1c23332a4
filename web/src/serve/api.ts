/** What the server answers, and how it is asked. */

import type { Document, Standing } from "../Document";

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
  /** What the terminal asks before such a run. */
  question: string | null;
}

export interface Progress {
  step: string;
  share: number | null;
  left_ns: number | null;
  bytes_done: number;
  bytes_per_s: number | null;
  drive_time_ns: number;
}

export interface JobEnd {
  code: number | null;
  summary: string;
  run: string | null;
}

export interface Job {
  id: number;
  command: string;
  target: string;
  run: string | null;
  progress: Progress | null;
  messages: string[];
  end: JobEnd | null;
}

/** One line of a job's course; exactly one of these is there. */
export interface JobEvent {
  run?: { procedure: string; target: string; folder: string | null };
  step?: { name: string };
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
  /** The earliest first. */
  changes: Change[];
}

export interface DriveSummary {
  archive: string;
  key: string;
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

export interface History {
  drives: DriveSummary[];
  damaged: DamagedRun[];
}

export interface DriveList {
  simulated: { target: string; model: string; technology: string; capacity_bytes: number }[];
  real: { path: string; model: string | null }[];
}

const KEPT = "likenew-secret";

/** The secret comes after the # of the first address; then it is kept for this tab, and the address is free for places. */
export function takeSecret(): void {
  const given = /^#([\x21-\x7e]{32,})$/.exec(window.location.hash)?.[1];
  if (given && !given.startsWith("/")) {
    window.sessionStorage.setItem(KEPT, given);
    window.history.replaceState(null, "", window.location.pathname + "#/");
  }
}

async function answer(path: string, init: RequestInit = {}): Promise<Response> {
  const secret = window.sessionStorage.getItem(KEPT) ?? "";
  const headers = { authorization: `Bearer ${secret}`, ...(init.body ? { "content-type": "application/json" } : {}) };
  const response = await fetch(path, { ...init, headers });
  if (response.ok) return response;
  const text = await response.text();
  throw new Error(errorOf(text) ?? `${response.status} ${response.statusText}`);
}

function errorOf(text: string): string | null {
  try {
    const { error } = JSON.parse(text) as { error?: unknown };
    return typeof error === "string" ? error : null;
  } catch {
    return null;
  }
}

const json = async <T>(path: string, init?: RequestInit): Promise<T> => (await (await answer(path, init)).json()) as T;
const post = <T>(path: string, body?: unknown): Promise<T> =>
  json<T>(path, { method: "POST", ...(body === undefined ? {} : { body: JSON.stringify(body) }) });

export const commands = async (): Promise<CommandGrammar[]> =>
  (await json<{ commands: CommandGrammar[] }>("/api/commands")).commands;
export const drives = (): Promise<DriveList> => json("/api/drives");
export const facts = (): Promise<Document> => json("/api/facts");
export const estimate = (order: Order): Promise<Cost> => post("/api/estimate", order);
export const estimateRest = (run: string): Promise<Cost> => post(`/api/runs/${encodeURIComponent(run)}/estimate`);
/** Starts the run of an estimate. */
export const start = (estimate: number): Promise<Job> => post("/api/jobs", { estimate });
export const jobs = (): Promise<Job[]> => json("/api/jobs");
export const job = (id: number): Promise<Job> => json(`/api/jobs/${id}`);
export const cancel = (id: number): Promise<unknown> => post(`/api/jobs/${id}/cancel`);
export const runs = (offset: number, limit: number): Promise<RunPage> => json(`/api/runs?offset=${offset}&limit=${limit}`);
export const run = (name: string): Promise<Document> => json(`/api/runs/${encodeURIComponent(name)}`);
export const history = (): Promise<History> => json("/api/history");
export const driveHistory = (key: string): Promise<DriveHistory> => json(`/api/history/${encodeURIComponent(key)}`);
/** How much the later runs differ from the first. */
export const compare = (names: string[]): Promise<Document> =>
  json(`/api/compare?${new URLSearchParams(names.map((name) => ["run", name]))}`);

/** Calls back for each event of a job, from its beginning, until it ends or the signal aborts. */
export async function follow(id: number, onEvent: (event: JobEvent) => void, signal: AbortSignal): Promise<void> {
  const response = await answer(`/api/jobs/${id}/events`, { signal });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  if (!reader) return;
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line.startsWith("data: ")) onEvent(JSON.parse(line.slice("data: ".length)) as JobEvent);
    }
  }
}
