import { readdirSync, readFileSync } from "node:fs";

import { expect, test } from "vitest";

import declared from "../../schema/charts.json" with { type: "json" };
import { example } from "./documents";

test("the page names no procedure and no chart or table of one", () => {
  const tables = [...JSON.stringify(declared).matchAll(/"table":"(\w+)"/g)].map(([, table]) => table);
  const names = [...Object.keys(declared.procedures), ...Object.keys(declared.made), ...tables];
  const files = readdirSync("src").filter((file) => /\.(ts|svelte)$/.test(file));
  const named = files.flatMap((file) => {
    const text = readFileSync(`src/${file}`, "utf8");
    return names.filter((name) => text.includes(`"${name}"`)).map((name) => `${file} names ${name}`);
  });
  expect(named).toEqual([]);
});

test("tables that are declared are those of documents", () => {
  const { procedures, made } = declared;
  expect(example("age-used").tables).toHaveProperty(procedures.age.charts.used_vs_new.changes.table);
  expect(example("apps-new").tables).toHaveProperty(procedures.apps.charts.scores.intervals.table);
  expect(example("endure-knees").tables).toHaveProperty(procedures.endure.charts["*"].levels.steady.table);
  expect(example("trim-works").tables).toHaveProperty(procedures.trim.lead.unless_unclear.table);
  expect(example("check-slow").tables).toHaveProperty(made.metric_bars.shares.marks.table);
});
