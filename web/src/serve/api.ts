/** How the server is asked. */

import type { Document } from "../Document";
import type { CommandGrammar, Order, Cost, Job, Now, JobEvent, RunPage, DriveHistory, History, DriveList } from "./answers";
import { Refusal, fromFile, historyPath, keep, savedView } from "./file";
import type { RefusalBody } from "./file";

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

async function answer(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = { authorization: `Bearer ${kept()}`, ...(init.body ? { "content-type": "application/json" } : {}) };
  const response = await fetch(path, { ...init, headers });
  if (response.ok) return response;
  const body = ((await response.json().catch(() => null)) ?? {}) as Partial<RefusalBody>;
  const { status, statusText } = response;
  throw new Refusal({ error: body.error ?? `${status} ${statusText}`, status, command: body.command ?? null });
}

async function json<T>(path: string, init?: RequestInit): Promise<T> {
  const asked = `${path}${typeof init?.body === "string" ? ` ${init.body}` : ""}`;
  if (savedView) return fromFile<T>(savedView, asked);
  try {
    const given = (await (await answer(path, init)).json()) as T;
    keep(asked, given, null);
    return given;
  } catch (error) {
    if (error instanceof Refusal) keep(asked, null, error.body);
    throw error;
  }
}
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
export const history = (): Promise<History> => json("/api/history?limit=500");
export const driveHistory = (key: string): Promise<DriveHistory> => json(historyPath(key));
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
