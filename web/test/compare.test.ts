import { expect, test } from "vitest";

import joins from "../../schema/joins.json";
import { groupsOf, tablesOf } from "../src/compare";
import type { Labeled, Row } from "../src/Document";
import { picturesOf } from "../src/pictures";
import { partsOf, sorted, titleOf } from "../src/Table";
import { textOf } from "../src/tableText";
import type { Table } from "../src/Table";
import { labeled, small } from "./documents";

const pair = (): [Labeled, Labeled] => [labeled("new", "bench-new"), labeled("used", "bench-used")];

function only(tables: Table[], title: string): Table {
  const found = tables.filter((table) => table.title === title);
  expect(found).toHaveLength(1);
  return found[0] as Table;
}

/** The rows of a table as the texts that are shown. */
const textsOf = ({ rows }: Table): string[][] => rows.map((row) => row.map(({ text }) => text));

test.each(joins.cases)("$name", ({ a, b, headings, rows }) => {
  const tables = tablesOf([small("A", { rows: a as unknown as Row[] }), small("B", { rows: b as unknown as Row[] })]);
  if (headings === null) {
    expect(tables.map(({ title }) => title)).toEqual(["Rows, A", "Rows, B"]);
    return;
  }
  const table = only(tables, "Rows");
  expect(table.headings.map(({ text, of }) => [text, of])).toEqual(headings);
  expect(textsOf(table)).toEqual(rows);
});

test("tables stand in the order of the document", () => {
  expect(tablesOf([labeled("new", "bench-new")]).map(({ title }) => title)).toEqual(["Results", "Passes", "Commits"]);
  const [one, two] = [labeled("one", "endure-knees"), labeled("two", "endure-knees")];
  delete one.document.tables["knees"];
  const shared = Object.keys(one.document.tables).map(titleOf);
  expect(tablesOf([one, two]).map(({ title }) => title)).toEqual([...shared, "Knees, two"]);
});

test("rows meet by what tells them apart whatever their order", () => {
  const row = (op: string, mb: number) => {
    const [bytes_per_s_low, bytes_per_s_high] = [mb * 0.99e6, mb * 1.01e6];
    return { test: "SEQ1M Q8T1", op, bytes_per_s: mb * 1e6, bytes_per_s_low, bytes_per_s_high };
  };
  const one = small("new", { results: [row("read", 251), row("write", 77.2), row("trim", 900)] });
  const two = small("used", { results: [row("trim", 900), row("write", 19.3)] });
  const table = only(tablesOf([one, two]), "Results");
  expect(table.headings.map(({ text, of }) => [text, of])).toEqual([
    ["test", null],
    ["op", null],
    ["MB/s (low–high)", "new"],
    ["MB/s (low–high)", "used"],
    ["MB/s (low–high)", "used ÷ new"],
  ]);
  expect(textsOf(table)).toEqual([
    ["SEQ1M Q8T1", "read", "251 (248–254)", "–", "–"],
    ["SEQ1M Q8T1", "write", "77.2 (76.4–78.0)", "19.3 (19.1–19.5)", "0.250×"],
    ["SEQ1M Q8T1", "trim", "900 (891–909)", "900 (891–909)", "1.00×"],
  ]);
});

test("a ratio of documents with long labels is named by their places", () => {
  const labels = ["sim:x25m?state=new", "sim:x25m?state=used", "sim:x25m?state=cured"];
  const table = only(tablesOf(labels.map((label) => labeled(label, "bench-new"))), "Results");
  expect(table.headings.slice(2, 7).map(({ of }) => of)).toEqual([...labels, "2nd ÷ 1st", "3rd ÷ 1st"]);
});

test("a table that is too wide for paper is several, each with the columns that all documents share", () => {
  const table = only(tablesOf(pair()), "Results");
  const { headings } = table;
  const parts = partsOf(table, 10);
  expect(parts.length).toBeGreaterThan(1);
  for (const part of parts) {
    expect(part.length).toBeLessThanOrEqual(10);
    expect(part.slice(0, 2).map((column) => headings[column]?.text)).toEqual(["test", "op"]);
  }
  expect(new Set(parts.flat()).size).toBe(headings.length);
  expect(partsOf(only(tablesOf([labeled("new", "bench-new")]), "Results"), 3)).toHaveLength(1);
});

test("a column without any value is not on paper", () => {
  const [table] = tablesOf([small("one", { results: [{ test: "a", left: null, mib: 1 }, { test: "b", left: null, mib: 2 }] })]);
  expect(partsOf(table!, 10)).toEqual([[0, 2]]);
});

test("rows that do not correspond stay apart", () => {
  const [one, two] = [labeled("one", "fill-used"), labeled("two", "fill-used")];
  for (const row of two.document.tables["stalls"] ?? []) row["offset_bytes"] = Number(row["offset_bytes"]) + 1;
  const titles = tablesOf([one, two]).map(({ title }) => title);
  expect(titles).toEqual(["Files", "Stalls, one", "Stalls, two"]);
});

test("procedures are not mixed", () => {
  const groups = groupsOf([...pair(), labeled("fill", "fill-used")]);
  expect(groups.map(({ procedure, members }) => [procedure, members.length])).toEqual([
    ["bench", 2],
    ["fill", 1],
  ]);
});

test("rows without a value come last in either order", () => {
  const rows = [3, null, 1, 20].map((value) => [{ text: String(value), value }]);
  const order = (descending: boolean) => sorted(rows, 0, descending).map(([cell]) => cell?.value);
  expect(order(false)).toEqual([1, 3, 20, null]);
  expect(order(true)).toEqual([20, 3, 1, null]);
});

test("a copy has the numbers and keys of the document", () => {
  const copied = (row: Row) => textOf(only(tablesOf([small("one", { results: [row] })]), "Results"), [], "csv").split("\r\n");
  const speed = { bytes_per_s: 251300000, bytes_per_s_low: 248787000, bytes_per_s_high: 253813000 };
  expect(copied({ test: 'a "b", c', iops: 7.5, ...speed })).toEqual([
    "test,iops,bytes_per_s,bytes_per_s_low,bytes_per_s_high",
    '"a ""b"", c",7.5,251300000,248787000,253813000',
    "",
  ]);
  expect(copied({ test: "random", unit: "points", new: 3, used: null })).toEqual([
    "test,new,unit,used",
    "random,3,points,",
    "",
  ]);
  // One column of units, whichever numbers a row has.
  expect(copied({ test: "random", unit: "points", new: null, used: 4 })[1]).toBe("random,,4,points");
  expect(copied({ test: "random", unit: "points", new: 3, used: 4 })[0]).toBe("test,new,unit,used");
});

test("so many a second are of what the row says", () => {
  const results = [
    { metric: "read", unit: "bytes/s", now_per_s: 515e6, ratio: 2 },
    { metric: "random_read", unit: "1/s", now_per_s: 9100, ratio: 1.5 },
  ];
  const table = only(tablesOf([small("one", { results })]), "Results");
  expect(table.headings.map(({ text }) => text)).toEqual(["metric", "now", "ratio"]);
  expect(textsOf(table)).toEqual([
    ["read", "515 MB/s", "2"],
    ["4K random read", "9,100 IOPS", "1.50"],
  ]);
});

test("identifiers are read as what they mean, and copied as they are", () => {
  const one = small("one", {
    indicators: [{ indicator: "new_over_old_data", description: "new vs old data", value: 2 }],
    causes: [
      { cause: "no_trim", kind: "the drive" },
      { cause: "scattered_data", kind: "the drive" },
    ],
  });
  const [indicators, causes] = tablesOf([one]) as [Table, Table];
  expect(indicators.headings.map(({ text }) => text)).toEqual(["indicator", "value"]);
  expect(indicators.rows[0]?.map(({ text }) => text)).toEqual(["new vs old data", "2"]);
  expect(textOf(indicators, [], "csv")).toBe("indicator,description,value\r\nnew_over_old_data,new vs old data,2\r\n");
  expect(causes.rows.map(([cell]) => cell?.text)).toEqual(["no TRIM", "scattered data"]);
});

test("a table without rows is not shown", () => {
  expect(tablesOf([small("one", { zones: [], curve: [{ point: 1 }] })]).map(({ title }) => title)).toEqual(["Curve"]);
});

test("the document that compares runs belongs to them, wherever it stands", () => {
  const comparison = labeled("comparison", "compare-benches");
  const [one, two] = pair();
  for (const documents of [
    [comparison, one, two],
    [one, two, comparison],
  ]) {
    const [group, ...others] = groupsOf(documents);
    expect([group?.procedure, group?.members.length, others.length]).toEqual(["bench", 2, 0]);
    expect(group?.comparison).toBe(comparison.document);
  }
  expect(groupsOf([labeled("fill", "fill-used"), comparison])).toMatchObject([
    { procedure: "fill", comparison: null },
    { procedure: "compare", members: [comparison] },
  ]);
  const chart = picturesOf([comparison])[0]?.series;
  const line = chart?.lines[0];
  const at = chart?.categories?.indexOf("SEQ1M Q1T1 read") ?? -1;
  expect([line?.name, line?.hue, line?.tones?.[at], line?.labels?.[at]]).toEqual([
    "used",
    1,
    "plain",
    "1.87× slower · 145 MB/s",
  ]);
  expect(chart?.whole).toEqual({ value: 1, label: "new" });
});
