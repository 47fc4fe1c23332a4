/** What every view of the served page needs to know: whether the server answers, what is under way, and what is marked. */

import { now, shareSecret, takeSecret } from "./api";
import { Refusal, savedView } from "./file";
import type { Job } from "./answers";
import { pageTitle } from "./wording";

/** Time between two questions to the server, and until an answer. Together less than the 5 s after which it is missed. */
const INTERVAL_MS = 1000;
const PATIENCE_MS = 3500;

const MARKED = "likenew-marked";

export const session = $state({
  condition: "new" as "new" | "fine" | "stopped" | "refused",
  running: [] as Job[],
  /** Another text than before if runs have begun or ended. */
  change: "",
  /** Of the view that is shown. */
  title: "",
  /** Saves it as one HTML file, where that takes more than what was answered up to now. */
  save: null as (() => Promise<void>) | null,
});

/** Asks the server again and again, until the function that is returned is called. */
export function watch(): () => void {
  if (savedView) {
    session.condition = "fine";
    void now(0).then(({ running }) => (session.running = running), () => null);
    return () => {};
  }
  let timer: number | undefined;
  let isOver = false;
  const look = async (): Promise<void> => {
    window.clearTimeout(timer);
    try {
      const { running, change } = await now(PATIENCE_MS);
      // Who was away may have missed something.
      session.change = session.condition === "fine" ? change : `${change} since ${Date.now()}`;
      if (session.condition !== "fine") shareSecret();
      [session.running, session.condition] = [running, "fine"];
    } catch (error) {
      session.condition = error instanceof Refusal ? "refused" : "stopped";
      session.running = [];
    }
    if (!isOver) timer = window.setTimeout(() => void look(), INTERVAL_MS);
  };
  setMarked(JSON.parse(window.sessionStorage.getItem(MARKED) ?? "[]") as string[]);
  void takeSecret(
    () => session.condition !== "fine",
    () => void look(),
  ).then(look);
  // A hidden tab is asked for rarely.
  const onVisible = (): void => {
    if (!window.document.hidden) void look();
  };
  window.document.addEventListener("visibilitychange", onVisible);
  return () => {
    isOver = true;
    window.clearTimeout(timer);
    window.document.removeEventListener("visibilitychange", onVisible);
  };
}

/** What was answered last; it is asked for again whenever runs begin or end, and when `load` reads other state. */
export function fresh<T>(load: () => Promise<T>): { readonly value: T | null; readonly error: unknown } {
  let value = $state.raw<T | null>(null);
  let error = $state.raw<unknown>(null);
  $effect(() => {
    void session.change;
    let isLatest = true;
    load().then(
      (answer) => {
        if (isLatest) [value, error] = [answer, null];
      },
      (failure: unknown) => {
        // While the server is away, what it said before stays.
        if (isLatest && (value === null || failure instanceof Refusal)) error = failure;
      },
    );
    return () => (isLatest = false);
  });
  return {
    get value() {
      return value;
    },
    get error() {
      return error;
    },
  };
}

/** Sets the title of the page, unless another part of the view does. */
export function titled(what: () => string | null): void {
  $effect(() => {
    const title = what();
    if (title === null) return;
    session.title = title;
    window.document.title = pageTitle(title);
  });
}

/** How a view is saved as one HTML file, as long as it is shown. */
export function savedBy(save: () => Promise<void>): void {
  $effect(() => {
    session.save = save;
    return () => (session.save = null);
  });
}

/** The runs that are marked for comparison, in this tab. */
const marked = $state<string[]>([]);

/** Names begin with dates, so that sorted ones have the earliest first, with which the others are compared. */
export const markedRuns = (): string[] => marked.toSorted();

export const isMarked = (run: string): boolean => marked.includes(run);

function setMarked(runs: string[]): void {
  marked.splice(0, marked.length, ...runs);
  window.sessionStorage.setItem(MARKED, JSON.stringify(runs));
}

export const mark = (run: string, isOn: boolean): void =>
  setMarked([...marked.filter((other) => other !== run), ...(isOn ? [run] : [])]);

export const unmarkAll = (): void => setMarked([]);
