/** Tables as shown: headings, cells, and the values for sorting and copying. */

import declared from "../../schema/columns.json" with { type: "json" };
import type { OverviewTable, Row, Value } from "./Document";
import { heading, spell, spellBelowHeading, withRange, wordsOf } from "./units";

export interface Cell {
  /** The text shown. */
  text: string;
  /** The value for sorting and copying. */
  value: Copied;
  /** Additional values of a copy: the ends of the interval, or the unit. */
  beside?: Copied[];
}

export type Copied = number | string | null;

export interface Heading {
  /** The text of the heading. */
  text: string;
  /** The document, if several are compared. */
  of: string | null;
  /** The heading in a copy. */
  key: string;
  /** The headings of the additional columns in a copy. */
  beside: string[];
  number: boolean;
  /** Headings of one group share a name above them. */
  group: number;
}

export interface Table {
  title: string;
  headings: Heading[];
  rows: Cell[][];
}

export interface Column {
  key: string;
  heading: string;
  unit: string;
  number: boolean;
  /** Whether its values, words or numbers, identify what was measured. */
  isKey: boolean;
  interval: [string, string] | null;
  rowUnit: boolean;
  /** The key of the text that says what its identifiers mean. */
  meaning: string | null;
}

export const MISSING: Cell = { text: "–", value: null };

/** Where a table has identifiers and what they mean, the reader sees the meaning, and a copy has both. */
const MEANINGS: Record<string, string> = declared.meanings;

/** The end of a key whose numbers are rates of what the row's unit says. */
const PER_S = /_per_s$/;

export function titleOf(name: string): string {
  const words = name.replaceAll("_", " ").replace(/\bios\b/, "I/Os");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/**
 * The columns of all rows together. `X_low` and `X_high` join `X`; a text column `unit` goes into the cells of the
 * measured numbers whose keys name no unit, or none but `per_s`.
 */
export function columnsOf(rows: Row[]): Column[] {
  const keys = new Set(rows.flatMap((row) => Object.keys(row)));
  const present = (key: string) => rows.map((row) => row[key] ?? null).filter((value) => value !== null);
  const isNumeric = (key: string) => present(key).length > 0 && present(key).every(isNumber);
  const hasInterval = (key: string) => [key, `${key}_low`, `${key}_high`].every(isNumeric);
  const withUnit = keys.has("unit") && !isNumeric("unit");
  const meaningOf = (key: string) => {
    const meaning = MEANINGS[key];
    return meaning !== undefined && keys.has(meaning) ? meaning : null;
  };
  const hidden = (key: string) => {
    const whole = key.replace(/_(low|high)$/, "");
    const isMeaning = [...keys].some((other) => meaningOf(other) === key);
    return isMeaning || (withUnit && key === "unit") || (whole !== key && hasInterval(whole));
  };
  return [...keys]
    .filter((key) => !hidden(key))
    .map((key) => {
      const { text: whole, unit } = heading(key);
      const isPerS = withUnit && unit === "/s" && PER_S.test(key);
      const text = isPerS ? heading(key.replace(PER_S, "")).text : whole;
      const number = isNumeric(key);
      const interval: [string, string] | null = hasInterval(key) ? [`${key}_low`, `${key}_high`] : null;
      return {
        key,
        heading: interval ? `${text} (low–high)` : text,
        unit,
        number,
        isKey: declared.keys.includes(key) || present(key).some((value) => typeof value === "string"),
        interval,
        meaning: meaningOf(key),
        rowUnit: isPerS || (withUnit && unit === "" && ![...declared.keys, ...declared.counts].includes(key)),
      };
    });
}

export function cellOf(column: Column, row: Row): Cell {
  const value = row[column.key] ?? null;
  if (value === null) return MISSING;
  if (typeof value === "boolean") return { text: value ? "yes" : "no", value: value ? "yes" : "no" };
  if (typeof value === "string") {
    const meaning = column.meaning === null ? null : row[column.meaning];
    const beside = besideOf(column).map((key) => plainOf(row[key]));
    return { text: typeof meaning === "string" ? meaning : wordsOf(value, column.key), value, beside };
  }
  if (typeof value !== "number") return { text: JSON.stringify(value), value: JSON.stringify(value) };
  const spelled = (number: number) =>
    column.rowUnit && typeof row["unit"] === "string"
      ? spell(number, row["unit"])
      : spellBelowHeading(number, column.unit);
  const [low, high] = (column.interval ?? []).map((key) => row[key]);
  const text =
    isNumber(low) && isNumber(high) ? withRange(spelled(value), spelled(low), spelled(high)) : spelled(value);
  return { text, value, beside: besideOf(column).map((key) => plainOf(row[key])) };
}

/** Keys whose values are shown inside the cells of this column. */
export function besideOf({ interval, rowUnit, number, meaning }: Column): string[] {
  if (meaning !== null) return [meaning];
  return interval ?? (rowUnit && number ? ["unit"] : []);
}

function plainOf(value: Value | undefined): Copied {
  return typeof value === "number" || typeof value === "string" ? value : null;
}

/** One table of one document. */
export function tableOf(title: string, rows: Row[]): Table {
  const columns = columnsOf(rows);
  return {
    title,
    headings: columns.map((column, group) => headingOf(column, null, group)),
    rows: rows.map((row) => columns.map((column) => cellOf(column, row))),
  };
}

/** The heading of a column of one document. */
export function headingOf(column: Column, of: string | null, group: number): Heading {
  const { key, heading: text, number } = column;
  return { text, of, key, beside: besideOf(column), number, group };
}

/** The heading of a column that is of no document in particular: of words, and in a group with all others, unless it says more. */
export function plainHeading(text: string, key: string, more: Partial<Heading> = {}): Heading {
  return { text, of: null, key, beside: [], number: false, group: 0, ...more };
}

/** The table of a first screen, with the shares that it draws as bars. */
export function overviewTable({ headings, rows }: OverviewTable, title: string, numbers: boolean[]): Table {
  const hasShares = rows.some(({ share }) => share !== undefined);
  const shareOf = (share: number | undefined): Cell =>
    share === undefined ? { text: "", value: null } : { text: spell(share, "share"), value: share };
  return {
    title,
    headings: [
      ...headings.map((text, column) => plainHeading(text, text || "name", { number: numbers[column] ?? false, group: column })),
      ...(hasShares ? [plainHeading("", "share", { number: true, group: headings.length })] : []),
    ],
    rows: rows.map(({ cells, share }) => [
      ...headings.map((_, column) => ({ text: cells[column] ?? "", value: cells[column] ?? null })),
      ...(hasShares ? [shareOf(share)] : []),
    ]),
  };
}

/** The rows sorted by one column; those without a value come last in both directions. */
export function sorted(rows: Cell[][], column: number, descending: boolean): Cell[][] {
  const direction = descending ? -1 : 1;
  return [...rows].sort((one, other) => {
    const a = one[column]?.value ?? null;
    const b = other[column]?.value ?? null;
    if (a === null || b === null) return Number(a === null) - Number(b === null);
    if (typeof a === "number" && typeof b === "number") return direction * (a - b);
    return direction * String(a).localeCompare(String(b), "en", { numeric: true });
  });
}

export function isNumber(value: Value | undefined): value is number {
  return typeof value === "number";
}

/**
 * The columns of the tables as which a table is printed, without those that are empty. Of several documents each has those that all
 * share, and whole groups of the others.
 */
export function partsOf({ headings, rows }: Table, most: number): number[][] {
  const hasValue = (column: number) => rows.some((row) => (row[column]?.value ?? null) !== null);
  const columnsOf = (is: (heading: Heading) => boolean) =>
    headings.flatMap((heading, column) => (is(heading) && hasValue(column) ? [column] : []));
  const shared = columnsOf(({ of }) => of === null);
  const groups = new Set(headings.flatMap(({ of, group }) => (of === null ? [] : [group])));
  return [...groups].reduce<number[][]>(
    (parts, group) => {
      const columns = columnsOf((heading) => heading.of !== null && heading.group === group);
      const last = parts.at(-1) ?? shared;
      const fits = last.length === shared.length || last.length + columns.length <= most;
      return fits ? [...parts.slice(0, -1), [...last, ...columns]] : [...parts, [...shared, ...columns]];
    },
    [shared],
  );
}
