import { expect, test } from "vitest";

import { numberColumns } from "../src/answers";
import { tablesOf } from "../src/compare";
import { overviewTable, tableOf } from "../src/Table";
import { textOf } from "../src/tableText";
import { small } from "./documents";

const ABOUT = ["Drive A|B · 2026-03-14 15:09 UTC · likenew 0.1.0"];
const TABLE = tableOf("Files", [
  { file: 1, name: "/a_b", bytes_per_s: 1.5e6, latency_ns_max: 12_300 },
  { file: 20, name: "µ", bytes_per_s: 254e6, latency_ns_max: null },
]);

test("a table is Markdown below its title and what it is of, and nothing in a cell is taken for Markdown", () => {
  expect(textOf(TABLE, ABOUT, "markdown")).toBe(
    [
      "**Files**  ",
      "Drive A\\|B · 2026-03-14 15:09 UTC · likenew 0.1.0",
      "",
      "| file | name | MB/s | latency max |",
      "|---:|---|---:|---:|",
      "| 1 | /a\\_b | 1.50 | 12.3 µs |",
      "| 20 | µ | 254 | – |",
      "",
    ].join("\n"),
  );
});

test("a table is plain text in columns", () => {
  expect(textOf(TABLE, ABOUT, "text")).toBe(
    [
      "Files",
      ...ABOUT,
      "",
      "file  name  MB/s  latency max",
      "----  ----  ----  -----------",
      "   1  /a_b  1.50      12.3 µs",
      "  20  µ      254            –",
      "",
    ].join("\n"),
  );
});

test("the columns of a comparison say whose they are", () => {
  const members = [1e6, 2e6].map((bytes_per_s, at) => small(["new", "used"][at]!, { results: [{ test: "a", bytes_per_s }] }));
  const text = textOf(tablesOf(members)[0]!, [], "text");
  expect(text.split("\n")[2]).toBe("test  MB/s new  MB/s used  MB/s used ÷ new");
});

test("a first screen is copied with the shares that it draws", () => {
  const screen = { headings: ["", "now"], rows: [{ cells: ["sequential read", "254 MB/s"], share: 0.26 }, { cells: ["TRIM", "–"] }] };
  const table = overviewTable(screen, "Overview", numberColumns(screen));
  expect(textOf(table, [], "markdown").split("\n").slice(2)).toEqual([
    "|  | now |  |",
    "|---|---:|---:|",
    "| sequential read | 254 MB/s | 26% |",
    "| TRIM | – |  |",
    "",
  ]);
  expect(textOf(table, [], "csv")).toBe("name,now,share\r\nsequential read,254 MB/s,0.26\r\nTRIM,–,\r\n");
});
