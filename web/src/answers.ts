/** Answers and actions of a document, in the order and the words that the page shows. */

import type { Action, Answer, Document, Estimate, OverviewTable, Standing } from "./Document";
import { rangeOf, spell, withRange } from "./units";
import { aboutWords, atLeast, atMost, estimateLine, intervalLine, LOSSES, WORDS, writtenWords } from "./wording";

/** The overall standing: a problem if there is one, otherwise that of the first answer. */
export function standingOf(answers: Answer[]): Standing {
  if (answers.some(({ standing }) => standing === "problem")) return "problem";
  return answers[0]?.standing ?? "info";
}

/** The summary of a document, or its first answer. */
export function summaryOf({ summary, answers }: Document): string {
  const [first] = answers;
  return summary || (first ? answerWords(first) : WORDS.noAnswers);
}

/** The answers that the document puts on its first screen, without what the summary says already. */
export function firstAnswers({ answers, overview, summary }: Document): Answer[] {
  const chosen = overview.answers ?? [];
  return answers.filter((answer) => chosen.includes(answer.id) && !isSaidIn(summary, answer));
}

/** A shorter answer may stand in a summary by chance. */
const SENTENCE_MIN = 20;

/** Whether a summary says an answer already, by the rule of the terminal: ranges in brackets and how clauses are joined do not matter. */
function isSaidIn(summary: string, answer: Answer): boolean {
  const [whole, text, asked] = [summary, answer.answer, answerWords(answer)].map(spokenWords) as [string, string, string];
  return (text.length >= SENTENCE_MIN && whole.includes(text)) || whole.includes(asked);
}

function spokenWords(text: string): string {
  return text.toLowerCase().replace(/\([^()]*\)/g, "").replace(/[:;,.]/g, " ").replace(/\s+/g, " ").trim();
}

const URGENCY: Standing[] = ["problem", "unknown", "info", "good"];

/** All answers, problems first. */
export function byUrgency(answers: Answer[]): Answer[] {
  return answers.toSorted((one, other) => URGENCY.indexOf(one.standing) - URGENCY.indexOf(other.standing));
}

export function answerWords({ question, answer }: Answer): string {
  return question ? `${question}: ${answer}` : answer;
}

/** `77.2 MB/s (76.4–77.9)`, or the value alone if the interval adds nothing. */
function estimateWords({ value, low, high, unit }: Estimate): string {
  if (low !== null && high !== null) return withRange(spell(value, unit), spell(low, unit), spell(high, unit));
  const open = openInterval(low, high, unit);
  return open ? `${spell(value, unit)} (${open})` : spell(value, unit);
}

/** `at least 15.9 MB/s`, of an interval with one open end. */
function openInterval(low: number | null, high: number | null, unit: string): string | null {
  if (low !== null) return atLeast(spell(low, unit));
  return high === null ? null : atMost(spell(high, unit));
}

/**
 * The line about the number of an answer: `Interval: 15.9–24.7 MB/s` below one that names the number. Nothing where
 * that is said already, where the interval is the number alone, and where nothing says what a bare number counts.
 */
export function intervalWords({ answer, estimate, evidence }: Answer): string | null {
  if (!estimate) return null;
  const { value, low, high, unit } = estimate;
  if (low === null || high === null) {
    const open = openInterval(low, high, unit);
    return open && intervalLine(open);
  }
  const interval = rangeOf(spell(low, unit), spell(high, unit));
  const numbers = interval.replace(/[^\d]+$/, "");
  const isSaid = [answer, ...evidence].some((text) => text.includes(numbers));
  if (unit === "" || unit === "1" || spell(low, unit) === spell(high, unit) || isSaid) return null;
  if (answer.includes(spell(value, unit))) return intervalLine(interval);
  return ["%", "share", "×"].includes(unit) ? null : estimateLine(estimateWords(estimate));
}

/** The context in which a server says where an action can be started. */
export const START_OF = "start-of";

export interface ActionGroup {
  heading: string;
  actions: Action[];
}

/** Actions that save data from a drive that is failing. */
const URGENT = ["back_up", "copy_data", "copy_and_replace"];

/** What must be done before anything else, apart from all other actions: those that fix problems or decide open questions, each once. */
export function actionGroups({ answers }: Document): { urgent: ActionGroup[]; groups: ActionGroup[] } {
  const known = new Set<string>();
  const distinct = (sought: Standing, isUrgent: boolean) =>
    answers
      .filter(({ standing }) => standing === sought)
      .flatMap(({ actions }) => actions)
      .filter(({ id }) => URGENT.includes(id) === isUrgent)
      .filter(({ command = "", why }) => {
        const isNew = !known.has(command) && !known.has(why);
        for (const text of [command, why].filter(Boolean)) known.add(text);
        return isNew;
      });
  const present = (heading: string, actions: Action[]) => (actions.length > 0 ? [{ heading, actions }] : []);
  const urgent = present(WORDS.backUp, distinct("problem", true));
  const groups = [...present(WORDS.fix, distinct("problem", false)), ...present(WORDS.decide, distinct("unknown", false))];
  return { urgent, groups };
}

/** Effect, loss and cost of an action; the second may be a warning. */
export function actionParts({ why, command, loses, time_s: time, bytes_written: bytes }: Action): string[] {
  return [
    why,
    ...(command !== undefined || loses !== "nothing" ? [LOSSES[loses]] : []),
    ...(time === undefined ? [] : [aboutWords(duration(time))]),
    ...(bytes === undefined ? [] : [writtenWords(spell(bytes, "bytes"))]),
  ];
}

/** A time in whole seconds, minutes, hours or days, as exact as an estimate deserves. */
function duration(seconds: number): string {
  if (seconds < 1) return "1 s";
  if (seconds < 90) return `${seconds.toFixed(0)} s`;
  if (seconds < 120 * 60) return `${(seconds / 60).toFixed(0)} min`;
  if (seconds < 48 * 3600) return `${(seconds / 3600).toFixed(0)} h`;
  return `${(seconds / 86_400).toFixed(0)} days`;
}

/** The columns of an overview with only numbers or missing cells. */
export function numberColumns({ headings, rows }: OverviewTable): boolean[] {
  return headings.map((_, column) => {
    const present = rows.map(({ cells }) => cells[column] ?? "").filter((cell) => cell !== "" && cell !== "–");
    return present.length > 0 && present.every(isNumber);
  });
}

/** A number with its unit, or several, such as `3 h 20 min` and `19.8 MB/s (15.9–24.7)`; `4K random read` is not one. */
function isNumber(cell: string): boolean {
  let afterValue = false;
  let hasDigit = false;
  for (const word of cell.split(/\s+/).filter(Boolean)) {
    const bare = word.replace(/^[()±+~<>≤≥≈,;]+|[()±+~<>≤≥≈,;]+$/g, "");
    const isValue = /^[\d.,–%×\-−e]*$/.test(bare);
    if (!isValue && !afterValue) return false;
    hasDigit ||= isValue && /\d/.test(bare);
    afterValue = isValue;
  }
  return hasDigit;
}
