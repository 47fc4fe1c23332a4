/**
 * Documents of one procedure side by side: tables joined row by row.
 * The only number calculated here is the ratio of two speeds.
 */

import type { Labeled, Row } from "./Document";
import { cellOf, columnsOf, headingOf, isNumber, MISSING, tableOf, titleOf } from "./Table";
import type { Cell, Column, Heading, Table } from "./Table";
import { spell } from "./units";
import { comparedWords, NAMES, VERBS } from "./wording";

export interface Group {
  procedure: string;
  members: Labeled[];
}

/** The documents by procedure, in order of first appearance. */
export function groupsOf(documents: Labeled[]): Group[] {
  const groups: Group[] = [];
  for (const labeled of documents) {
    const { procedure } = labeled.document;
    const known = groups.find((group) => group.procedure === procedure);
    if (known) known.members.push(labeled);
    else groups.push({ procedure, members: [labeled] });
  }
  return groups;
}

/** All tables, in the order of the documents: joined if the rows of the members correspond, otherwise separate. */
export function tablesOf(members: Labeled[]): Table[] {
  const names = new Set(members.flatMap(({ document }) => Object.keys(document.tables)));
  return [...names].flatMap((name) => {
    const title = titleOf(name);
    const tables = members.flatMap(({ label, document }) => {
      const rows = document.tables[name];
      return rows && rows.length > 0 ? [{ label, rows }] : [];
    });
    if (members.length === 1) return tables.map(({ rows }) => tableOf(title, rows));
    const joined = join(title, tables);
    return joined ? [joined] : tables.map(({ label, rows }) => tableOf(`${title}, ${label}`, rows));
  });
}

interface Named {
  label: string;
  rows: Row[];
}

/** Several tables as one, if at least half of the rows of the shortest are in all of them. */
function join(title: string, tables: Named[]): Table | null {
  const first = tables[0];
  if (!first || tables.length < 2) return null;
  const columns = columnsOf(tables.flatMap(({ rows }) => rows));
  const identity = identityOf(columns, tables);
  if (!identity) return null;
  const keyOf = (row: Row) => JSON.stringify(identity.map(({ key }) => row[key] ?? null));
  const places = tables.map(({ rows }) => new Map(rows.map((row) => [keyOf(row), row])));
  const order = new Map(
    tables
      .flatMap(({ rows }) => rows)
      .toReversed()
      .map((row) => [keyOf(row), row]),
  );
  const keys = [...new Set(tables.flatMap(({ rows }) => rows.map(keyOf)))];
  const common = keys.filter((key) => places.every((rows) => rows.has(key))).length;
  if (common * 2 < Math.min(...tables.map(({ rows }) => rows.length))) return null;

  const table: Table = { title, headings: [], rows: keys.map(() => []) };
  const push = (heading: Heading, cell: (key: string) => Cell) => {
    table.headings.push(heading);
    keys.forEach((key, index) => table.rows[index]?.push(cell(key)));
  };
  columns.forEach((column, group) => {
    if (identity.includes(column)) {
      push(headingOf(column, null, group), (place) => cellIn(column, order.get(place)));
      return;
    }
    tables.forEach(({ label }, index) => {
      push(headingOf(column, label, group), (place) => cellIn(column, places[index]?.get(place)));
    });
    if (!isRate(column)) return;
    tables.slice(1).forEach(({ label }, index) => {
      const heading = headingOf(column, quotientOf(label, index + 2, first.label), group);
      push({ ...heading, key: `${column.key} ratio`, beside: [] }, (place) =>
        ratio(column, places[0]?.get(place), places[index + 1]?.get(place)),
      );
    });
  });
  return table;
}

/** The columns that identify the rows: keys, and of the others as many as needed, from the left. */
function identityOf(columns: Column[], tables: Named[]): Column[] | null {
  const chosen = columns.filter(({ isKey }) => isKey);
  const others = columns.filter(({ isKey }) => !isKey);
  const distinct = () =>
    tables.every(({ rows }) => {
      const keys = rows.map((row) => JSON.stringify(chosen.map(({ key }) => row[key] ?? null)));
      return new Set(keys).size === rows.length;
    });
  while (!distinct()) {
    const next = others.shift();
    if (!next) return null;
    chosen.push(next);
  }
  return chosen;
}

function cellIn(column: Column, row: Row | undefined): Cell {
  return row ? cellOf(column, row) : MISSING;
}

function isRate({ number, unit }: Column): boolean {
  return number && ["bytes/s", "1/s", "/s"].includes(unit);
}

/** Longer labels would make a heading taller than its column is long. */
const QUOTIENT_MAX = 20;

/** The heading of a ratio to the first document. */
export function quotientOf(label: string, place: number, first: string): string {
  const named = `${label} ÷ ${first}`;
  if (named.length <= QUOTIENT_MAX) return named;
  const ending =
    new Map([
      ["two", "nd"],
      ["few", "rd"],
      ["one", "st"],
    ]).get(ORDINALS.select(place)) ?? "th";
  return `${place}${ending} ÷ 1st`;
}

const ORDINALS = new Intl.PluralRules("en", { type: "ordinal" });

function ratio({ key }: Column, first: Row | undefined, other: Row | undefined): Cell {
  const [below, above] = [first?.[key], other?.[key]];
  if (!isNumber(below) || !isNumber(above) || below <= 0) return MISSING;
  const value = above / below;
  return Number.isFinite(value) ? { text: spell(value, "×"), value } : MISSING;
}

/** How much the other documents do of what the first does: `used writes at 0.25× new`. */
export function comparison(members: Labeled[]): string[] {
  const [first, ...others] = members;
  if (!first) return [];
  const base = speedsOf(first.document);
  return others.flatMap(({ label, document }) => {
    const speeds = speedsOf(document);
    const parts = base.flatMap(({ name, value }) => {
      const other = speeds.find((speed) => speed.name === name);
      return other && value > 0 ? [{ name, ratio: other.value / value }] : [];
    });
    // Half as fast is as large a change as twice as fast.
    const sizeOf = ({ ratio }: { ratio: number }) => Math.abs(Math.log(ratio));
    const verbs = [
      { verb: VERBS.write, of: parts.filter(({ name }) => /\bwrit/i.test(name)) },
      { verb: VERBS.read, of: parts.filter(({ name }) => /\bread/i.test(name)) },
      { verb: VERBS.run, of: parts.filter(({ name }) => !/\b(writ|read)/i.test(name)) },
    ];
    const clauses = verbs.flatMap(({ verb, of }) => {
      const [largest] = of.toSorted((one, other) => sizeOf(other) - sizeOf(one));
      if (!largest) return [];
      const ratio = spell(largest.ratio, "×");
      const isAlike = of.every((one) => spell(one.ratio, "×") === ratio);
      return [{ verb, ratio, size: sizeOf(largest), test: isAlike ? null : largest.name }];
    });
    clauses.sort((one, other) => other.size - one.size);
    return clauses.length > 0 ? [comparedWords(label, first.label, clauses)] : [];
  });
}

/** The speeds of a document by their names: from its results, or from the numbers of its answers. */
function speedsOf({ tables, answers }: Labeled["document"]): { name: string; value: number }[] {
  const results = [...(tables["results"] ?? []), ...(tables["metrics"] ?? [])].flatMap((row) => {
    const value = row["bytes_per_s"] ?? row["measured_per_s"];
    const name = [row["test"], row["op"], row["metric"]]
      .filter((part) => typeof part === "string")
      .map((part) => NAMES[part] ?? part.replaceAll("_", " "));
    return isNumber(value) && value > 0 ? [{ name: name.join(" "), value }] : [];
  });
  if (results.length > 0) return results;
  return answers.flatMap(({ question, estimate }) => {
    const isRate = estimate && ["bytes/s", "1/s"].includes(estimate.unit) && estimate.value > 0;
    return isRate ? [{ name: question.toLowerCase(), value: estimate.value }] : [];
  });
}
