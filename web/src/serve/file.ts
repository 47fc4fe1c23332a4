/** What the server has answered, and a file that holds it: such a file shows a view without a server. */

import type { Course } from "./course";
import { placeOf } from "./place";
import { NOT_IN_FILE } from "./wording";

export interface RefusalBody {
  error: string;
  status: number;
  command?: string | null;
}

/** The server answered that it does not do this. */
export class Refusal extends Error {
  readonly status: number;
  /** With which a terminal asks for the consent that is missing. */
  readonly command: string | null;

  constructor(readonly body: RefusalBody) {
    super(body.error);
    this.status = body.status;
    this.command = body.command ?? null;
  }
}

/** A view in a file of its own. */
export interface SavedView {
  /** The address of the view. */
  place: string;
  /** When it was saved from a server; nothing where likenew wrote the file. */
  saved_at?: string;
  /** What the server answered, by what it was asked. */
  answers: Record<string, unknown>;
  /** What it refused. */
  refusals?: Record<string, RefusalBody>;
  /** A run that was under way, up to then. */
  course?: Course;
}

const block = window.document.getElementById("likenew-view");
/** The view that this file holds, if it is one; then there is no server. */
export const savedView = block && (JSON.parse(block.textContent ?? "") as SavedView);

/** Whether this can be shown: a file holds the view that was saved, and drives that were saved with it. */
export function isHere(address: string): boolean {
  if (!savedView || address === savedView.place) return true;
  const place = placeOf(address);
  return place.view === "history" && place.key !== null && historyPath(place.key) in savedView.answers;
}

/** What was asked for the view that is shown, and what came of it. */
const answers = new Map<string, unknown>();
const refusals = new Map<string, RefusalBody>();

/** Another view asks for what it shows. */
export function forget(): void {
  answers.clear();
  refusals.clear();
}

/** What a file needs to show the same view. */
export const heard = (): Pick<Required<SavedView>, "answers" | "refusals"> => ({
  answers: Object.fromEntries(answers),
  refusals: Object.fromEntries(refusals),
});

/** What it answered before this view was saved. */
export function fromFile<T>({ answers, refusals }: SavedView, asked: string): T {
  const refusal = refusals?.[asked];
  if (refusal) throw new Refusal(refusal);
  if (!(asked in answers)) throw new Refusal({ error: NOT_IN_FILE, status: 404 });
  return answers[asked] as T;
}

/** Keeps what came of a question. */
export function keep(asked: string, given: unknown, refusal: RefusalBody | null): void {
  answers.delete(asked);
  refusals.delete(asked);
  if (refusal) refusals.set(asked, refusal);
  else answers.set(asked, given);
}

export const historyPath = (key: string): string => `/api/history/${encodeURIComponent(key)}`;
