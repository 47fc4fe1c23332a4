/**
 * Documents of one procedure side by side: tables joined row by row.
 * The only number calculated here is the ratio of two speeds.
 */

import { procedureOf } from "./declared";
import type { Document, Labeled, Row } from "./Document";
import { cellOf, columnsOf, headingOf, isNumber, MISSING, tableOf, titleOf } from "./Table";
import type { Cell, Column, Heading, Table } from "./Table";
import { spell } from "./units";

export interface Group {
  procedure: string;
  members: Labeled[];
  /** How the later members differ from the first. */
  comparison: Document | null;
}

/** The documents by procedure, in order of first appearance, with the document that compares them if they are there. */
export function groupsOf(documents: Labeled[]): Group[] {
  const groups: Group[] = [];
  const comparesRuns = ({ document }: Labeled) => procedureOf(document).compares !== undefined;
  const comparisons = documents.filter(comparesRuns);
  for (const labeled of documents.filter((one) => !comparesRuns(one))) {
    const { procedure } = labeled.document;
    const known = groups.find((group) => group.procedure === procedure);
    if (known) known.members.push(labeled);
    else {
      const of = comparisons.find(({ document }) => document.plan.options[procedureOf(document).compares ?? ""] === procedure);
      groups.push({ procedure, members: [labeled], comparison: of?.document ?? null });
    }
  }
  const alone = comparisons.filter(({ document }) => groups.every(({ comparison }) => comparison !== document));
  const [first] = alone;
  return first ? [...groups, { procedure: first.document.procedure, members: alone, comparison: null }] : groups;
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
  return `${place}${ENDINGS[ORDINALS.select(place)] ?? "th"} ÷ 1st`;
}

const ORDINALS = new Intl.PluralRules("en", { type: "ordinal" });
const ENDINGS: Record<string, string> = { one: "st", two: "nd", few: "rd" };

function ratio({ key }: Column, first: Row | undefined, other: Row | undefined): Cell {
  const [below, above] = [first?.[key], other?.[key]];
  if (!isNumber(below) || !isNumber(above) || below <= 0) return MISSING;
  const value = above / below;
  return Number.isFinite(value) ? { text: spell(value, "×"), value } : MISSING;
}
