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
  step: string;
  share: number | null;
  left_ns: number | null;
  bytes_done: number;
  bytes_written: number;
  bytes_per_s: number | null;
  io: IoRate[];
  drive_time_ns: number;
}

export interface JobEnd {
  code: number | null;
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
  /** The same of each check up to now, of many the latest. */
  percent_of_baseline_each: number[];
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

/** What a saved page holds of drives over time. */
export interface SavedHistory {
  history: History;
  drives: Record<string, DriveHistory>;
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

/** The drives of a page that was saved with their history. */
export function savedHistory(): SavedHistory | null {
  const block = window.document.getElementById("likenew-history");
  return block && (JSON.parse(block.textContent ?? "") as SavedHistory);
}

const KEPT = "likenew-secret";

/** Whether a secret of this form is behind the # of the address: places begin with a slash. */
const SECRET = /^#([\x21-\x2e\x30-\x7e][\x21-\x7e]{31,})$/;
/** Other tabs answer within this. */
const TAB_PATIENCE_MS = 500;

const kept = (): string => window.sessionStorage.getItem(KEPT) ?? "";

let tabs: BroadcastChannel | null = null;

/**
 * Takes the secret, which each tab keeps for itself: from behind the # of the first address, which is free for places
 * then, or from another tab of this page. `isNeeded` says whether it is not known yet, and `onSecret` is called when it
 * comes later.
 */
export async function takeSecret(isNeeded: () => boolean, onSecret: () => void): Promise<void> {
  const given = SECRET.exec(window.location.hash)?.[1];
  if (given) {
    window.sessionStorage.setItem(KEPT, given);
    window.history.replaceState(null, "", window.location.pathname + "#/");
  }
  const others = (tabs = new BroadcastChannel(KEPT));
  const isKnown = new Promise<void>((resolve) => {
    others.onmessage = ({ data }: MessageEvent<{ secret: string | null }>) => {
      if (data.secret === null) {
        if (!isNeeded()) shareSecret();
      } else if (isNeeded() && data.secret !== kept()) {
        window.sessionStorage.setItem(KEPT, data.secret);
        resolve();
        onSecret();
      }
    };
    window.setTimeout(resolve, TAB_PATIENCE_MS);
  });
  if (kept()) return;
  others.postMessage({ secret: null });
  await isKnown;
}

/** Gives the secret, which was right, to other tabs of this page that need it. */
export const shareSecret = (): void => tabs?.postMessage({ secret: kept() });

/** The server answered that it does not do this. */
export class Refusal extends Error {
  constructor(
    message: string,
    readonly status: number,
    /** With which a terminal asks for the consent that is missing. */
    readonly command: string | null = null,
  ) {
    super(message);
  }
}

async function answer(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = { authorization: `Bearer ${kept()}`, ...(init.body ? { "content-type": "application/json" } : {}) };
  const response = await fetch(path, { ...init, headers });
  if (response.ok) return response;
  const body: unknown = await response.json().catch(() => null);
  const { error, command } = (body ?? {}) as { error?: string; command?: string };
  throw new Refusal(error ?? `${response.status} ${response.statusText}`, response.status, command);
}

const json = async <T>(path: string, init?: RequestInit): Promise<T> => (await (await answer(path, init)).json()) as T;
const post = <T>(path: string, body?: unknown): Promise<T> =>
  json<T>(path, { method: "POST", ...(body === undefined ? {} : { body: JSON.stringify(body) }) });

export const commands = async (): Promise<CommandGrammar[]> =>
  (await json<{ commands: CommandGrammar[] }>("/api/commands")).commands;
export const drives = (): Promise<DriveList> => json("/api/drives");
export const facts = (): Promise<Document> => json("/api/facts");
export const estimate = (order: Order, signal: AbortSignal): Promise<Cost> =>
  json("/api/estimate", { method: "POST", body: JSON.stringify(order), signal });
/** What can be started here of command lines; nothing where only a terminal can do it. */
export const orders = (commands: string[]): Promise<(Order | null)[]> => post("/api/orders", { commands });
/** What is under way, within this time. */
export const now = (within_ms: number): Promise<Now> => json("/api/now", { signal: AbortSignal.timeout(within_ms) });
export const estimateRest = (run: string): Promise<Cost> => post(`/api/runs/${encodeURIComponent(run)}/estimate`);
/** Starts the run of an estimate. */
export const start = (estimate: number): Promise<Job> => post("/api/jobs", { estimate });
export const job = (id: number): Promise<Job> => json(`/api/jobs/${id}`);
export const cancel = (id: number): Promise<unknown> => post(`/api/jobs/${id}/cancel`);
export const runs = (offset: number, limit: number): Promise<RunPage> => json(`/api/runs?offset=${offset}&limit=${limit}`);
export const run = (name: string): Promise<Document> => json(`/api/runs/${encodeURIComponent(name)}`);
/** All drives over time; the server gives no more of them at once. */
export const history = async (): Promise<History> => savedHistory()?.history ?? json("/api/history?limit=500");
export const driveHistory = async (key: string): Promise<DriveHistory> =>
  savedHistory()?.drives[key] ?? json(`/api/history/${encodeURIComponent(key)}`);
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
