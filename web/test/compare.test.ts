import { expect, test } from "vitest";

import joins from "../../schema/joins.json";
import { groupsOf, shortNames, tablesOf } from "../src/compare";
import type { Labeled, Row } from "../src/Document";
import { csvOf, sorted } from "../src/Table";
import { picturesOf } from "../src/pictures";
import type { Table } from "../src/Table";
import { NAMES } from "../src/wording";
import { labeled, published } from "./documents";

const pair = () => [labeled("new", "bench-new"), labeled("used", "bench-used")];

function only(tables: Table[], title: string): Table {
  const found = tables.filter((table) => table.title === title);
  expect(found).toHaveLength(1);
  return found[0] as Table;
}

/** Documents A and B with one table each. */
function tabled(a: Row[], b: Row[]): Labeled[] {
  return [a, b].map((rows, index) => {
    const one = labeled(index === 0 ? "A" : "B", "bench-new");
    one.document.tables = { rows };
    return one;
  });
}

test.each(joins.cases)("$name", ({ a, b, headings, rows }) => {
  const tables = tablesOf(tabled(a as unknown as Row[], b as unknown as Row[]));
  if (headings === null) {
    expect(tables.map(({ title }) => title)).toEqual(["Rows, A", "Rows, B"]);
    return;
  }
  const table = only(tables, "Rows");
  expect(table.headings.map(({ text, of }) => [text, of])).toEqual(headings);
  // The page has words for identifiers that the terminal prints as they are.
  expect(table.rows.map((row) => row.map(({ text }) => text))).toEqual(
    rows.map((row) => row.map((text) => NAMES[text] ?? text)),
  );
});

test("tables stand in the order of the document", () => {
  expect(tablesOf([labeled("new", "bench-new")]).map(({ title }) => title)).toEqual(["Results", "Passes"]);
  const [one, two] = [labeled("one", "endure-steady"), labeled("two", "endure-steady")];
  delete one.document.tables["knees"];
  expect(tablesOf([one, two]).map(({ title }) => title)).toEqual(["Levels", "Rounds", "Knees, two"]);
});

test("rows meet by what tells them apart whatever their order", () => {
  const [one, two] = pair() as [ReturnType<typeof labeled>, ReturnType<typeof labeled>];
  two.document.tables["results"]?.reverse().pop();
  const table = only(tablesOf([one, two]), "Results");
  expect(table.headings.slice(0, 5).map(({ text, of }) => [text, of])).toEqual([
    ["test", null],
    ["op", null],
    ["MB/s (low–high)", "new"],
    ["MB/s (low–high)", "used"],
    ["MB/s (low–high)", "used ÷ new"],
  ]);
  expect(table.rows).toHaveLength(8);
  expect(table.rows[1]?.map(({ text }) => text).slice(0, 5)).toEqual([
    "SEQ1M Q8T1",
    "write",
    "77.2 (76.4–78.0)",
    "19.3 (19.1–19.5)",
    "0.250×",
  ]);
  expect(table.rows[0]?.slice(3, 5).map(({ text }) => text)).toEqual(["–", "–"]);
});

test("a ratio of documents with long labels is named by their places", () => {
  const labels = ["sim:x25m?state=new", "sim:x25m?state=used", "sim:x25m?state=cured"];
  const table = only(tablesOf(labels.map((label) => labeled(label, "bench-new"))), "Results");
  expect(table.headings.slice(2, 7).map(({ of }) => of)).toEqual([...labels, "2nd ÷ 1st", "3rd ÷ 1st"]);
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
  const [one] = pair() as [ReturnType<typeof labeled>];
  const rows = one.document.tables["results"] ?? [];
  one.document.tables["results"] = [{ ...rows[0], test: 'a "b", c' }];
  const csv = csvOf(only(tablesOf([one]), "Results")).split("\r\n");
  expect(csv[0]).toMatch(/^test,op,bytes_per_s,bytes_per_s_low,bytes_per_s_high,iops,/);
  expect(csv[1]).toMatch(/^"a ""b"", c",read,251300000,248787000,253813000,/);
  one.document.tables["results"] = [{ test: "random", unit: "points", new: 3, used: null }];
  expect(csvOf(only(tablesOf([one]), "Results"))).toBe("test,new,unit,used\r\nrandom,3,points,\r\n");
});

test("so many a second are of what the row says", () => {
  const [one] = pair() as [ReturnType<typeof labeled>];
  one.document.tables["results"] = [
    { metric: "read", unit: "bytes/s", now_per_s: 515e6, ratio: 2 },
    { metric: "random_read", unit: "1/s", now_per_s: 9100, ratio: 1.5 },
  ];
  const { headings, rows } = only(tablesOf([one]), "Results");
  expect(headings.map(({ text }) => text)).toEqual(["metric", "now", "ratio"]);
  expect(rows.map((row) => row.map(({ text }) => text))).toEqual([
    ["read", "515 MB/s", "2"],
    ["4K random read", "9,100 IOPS", "1.50"],
  ]);
});

test("identifiers are read as what they mean, and copied as they are", () => {
  const [one] = pair() as [ReturnType<typeof labeled>];
  one.document.tables = {
    indicators: [{ indicator: "new_over_old_data", description: "new vs old data", value: 2 }],
    causes: [
      { cause: "no_trim", kind: "the drive" },
      { cause: "scattered_data", kind: "the drive" },
    ],
  };
  const [indicators, causes] = tablesOf([one]) as [Table, Table];
  expect(indicators.headings.map(({ text }) => text)).toEqual(["indicator", "value"]);
  expect(indicators.rows[0]?.map(({ text }) => text)).toEqual(["new vs old data", "2"]);
  expect(csvOf(indicators)).toBe("indicator,description,value\r\nnew_over_old_data,new vs old data,2\r\n");
  expect(causes.rows.map(([cell]) => cell?.text)).toEqual(["no TRIM", "scattered data"]);
});

test("a table without rows is not shown", () => {
  const [one] = pair() as [ReturnType<typeof labeled>];
  one.document.tables = { zones: [], curve: [{ point: 1 }] };
  expect(tablesOf([one]).map(({ title }) => title)).toEqual(["Curve"]);
});

test("the document that compares runs belongs to them, wherever it stands", () => {
  const comparison = published().find(({ document }) => document.procedure === "compare");
  if (!comparison) throw new Error("no published example compares runs");
  const [one, two] = pair() as [Labeled, Labeled];
  for (const documents of [
    [comparison, one, two],
    [one, two, comparison],
  ]) {
    const [group, ...others] = groupsOf(documents);
    expect([group?.procedure, group?.members.length, others.length]).toEqual(["bench", 2, 0]);
    expect(group?.comparison).toBe(comparison.document);
  }
  expect(groupsOf([labeled("fill", "fill-used"), comparison])[0]?.comparison).toBeNull();
  const chart = picturesOf([comparison])[0]?.series;
  const line = chart?.lines[0];
  const at = chart?.categories?.indexOf("SEQ1M Q1T1 read") ?? -1;
  expect([line?.tones?.[at], line?.labels?.[at]]).toEqual(["fall", "0.536× · 145 MB/s"]);
  expect(chart?.whole).toEqual({ value: 1, label: "A" });
});

test("long labels become letters", () => {
  const [one, two] = pair() as [Labeled, Labeled];
  expect(shortNames([one, two])).toEqual(["new", "used"]);
  expect(shortNames([one, { ...two, label: "sim:tiny-flash?state=used" }])).toEqual(["A", "B"]);
});
