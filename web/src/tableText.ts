/** Tables as text to copy: for a forum or an issue, for a fixed-width font, and for a spreadsheet. */

import type { FORMS } from "./wording";
import type { Cell, Copied, Heading, Table } from "./Table";

export type Form = keyof typeof FORMS;

/** A table as text, below its title and what it is of; a spreadsheet gets the table alone. */
export function textOf(table: Table, about: string[], form: Form): string {
  if (form === "csv") return csvOf(table);
  return form === "markdown" ? markdownOf(table, about) : alignedOf(table, about);
}

/** The heading of a column that needs no other beside it. */
export function wholeHeading({ text, of }: Heading): string {
  return of === null ? text : `${text} ${of}`;
}

function linesOf({ headings, rows }: Table): string[][] {
  return [headings.map(wholeHeading), ...rows.map((row) => row.map(({ text }) => text.replace(/\s+/g, " ").trim()))];
}

function markdownOf(table: Table, about: string[]): string {
  const line = (cells: string[]) => `| ${cells.map(plain).join(" | ")} |`;
  const [headings = [], ...rows] = linesOf(table);
  const rule = `|${table.headings.map(({ number }) => (number ? "---:|" : "---|")).join("")}`;
  const above = [`**${plain(table.title)}**`, ...about.map(plain)].join("  \n");
  return [above, "", line(headings), rule, ...rows.map(line), ""].join("\n");
}

/** A text in which nothing is taken for Markdown. */
function plain(text: string): string {
  return text.replace(/[\\`*_<>|[\]#~]/g, "\\$&");
}

function alignedOf(table: Table, about: string[]): string {
  const lines = linesOf(table);
  const length = (text: string) => [...text].length;
  const widths = table.headings.map((_, column) => Math.max(...lines.map((cells) => length(cells[column] ?? ""))));
  const set = (cells: string[]) =>
    widths
      .map((width, column) => {
        const text = cells[column] ?? "";
        const room = " ".repeat(width - length(text));
        return table.headings[column]?.number ? room + text : text + room;
      })
      .join("  ")
      .trimEnd();
  const [headings = [], ...rows] = lines;
  const rule = widths.map((width) => "-".repeat(width)).join("  ");
  return [table.title, ...about, "", set(headings), rule, ...rows.map(set), ""].join("\n");
}

/** The table as comma-separated values, numbers in the units of the document. */
function csvOf({ headings, rows }: Table): string {
  const quoted = (value: Copied) => {
    const text = value === null ? "" : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  // The unit of a row stands beside each of its numbers, and is one column.
  const columns = new Map<string, ((row: Cell[]) => Copied | undefined)[]>();
  headings.forEach(({ key, beside, of }, column) =>
    [key, ...beside].forEach((name, at) => {
      const full = of === null ? name : `${name} ${of}`;
      const valueOf = (row: Cell[]) => (at === 0 ? row[column]?.value : row[column]?.beside?.[at - 1]);
      columns.set(full, [...(columns.get(full) ?? []), valueOf]);
    }),
  );
  const cells = (row: Cell[]) =>
    [...columns.values()].map((all) => quoted(all.map((valueOf) => valueOf(row)).find((value) => value != null) ?? null));
  return [[...columns.keys()].map(quoted), ...rows.map(cells), []].map((line) => line.join(",")).join("\r\n");
}
