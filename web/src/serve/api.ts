/** What the server answers, and how it is asked. */

import type { Document } from "../Document";

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

export interface Estimate {
  elapsed_ns: number;
  bytes_written: number;
  is_bounded: boolean;
  bytes_rewritten: number;
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
  run?: { procedure: string; target: string; folder: string | null; estimate: Estimate };
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
  model: string | null;
  has_findings: boolean;
  error: string | null;
}

export interface RunPage {
  runs: RunEntry[];
  count: number;
}

export interface ListedDrive {
  target: string;
  model: string | null;
  technology: string | null;
  capacity_bytes: number;
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
export const drives = (): Promise<Record<string, ListedDrive[]>> => json("/api/drives");
export const facts = (): Promise<Document> => json("/api/facts");
export const estimate = (order: Order): Promise<Estimate> => post("/api/estimate", order);
export const start = (order: Order): Promise<Job> => post("/api/jobs", order);
export const resume = (run: string): Promise<Job> => post(`/api/runs/${encodeURIComponent(run)}/resume`);
export const jobs = (): Promise<Job[]> => json("/api/jobs");
export const job = (id: number): Promise<Job> => json(`/api/jobs/${id}`);
export const cancel = (id: number): Promise<unknown> => post(`/api/jobs/${id}/cancel`);
export const runs = (offset: number, limit: number): Promise<RunPage> => json(`/api/runs?offset=${offset}&limit=${limit}`);
export const run = (name: string): Promise<Document> => json(`/api/runs/${encodeURIComponent(name)}`);

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
