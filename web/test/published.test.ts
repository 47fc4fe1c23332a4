import { expect, test } from "vitest";

import { standingOf, summaryOf } from "../src/answers";
import { tablesOf } from "../src/compare";
import { picturesOf } from "../src/pictures";
import { published } from "./documents";

/** Examples of one pass, whose first answer is open for that. */
const OPEN = ["apps-new", "data-new", "replay-day"];
/** The same on another scale, which a reader of the chart chooses there. */
const isTwin = (name: string) => name.endsWith("_linear");

test.each(published())("the page shows all of $label", ({ label, document }) => {
  const one = { label, document };
  expect(summaryOf(document)).toBe(document.summary);
  expect(standingOf(document.answers) === "unknown").toBe(OPEN.includes(label));
  expect(tablesOf([one])).toHaveLength(
    Object.keys(document.tables).filter((name) => document.tables[name]?.length).length,
  );
  const keys = picturesOf([one]).map(({ key }) => key);
  const series = Object.keys(document.series).filter((name) => !isTwin(name));
  expect(keys).toEqual(expect.arrayContaining(series));
  const made =
    (
      { bench: ["latencies_of_tests"], check: ["metric_bars"], recondition: ["before_and_after"] } as Record<
        string,
        string[]
      >
    )[document.procedure] ?? [];
  expect(keys).toHaveLength(series.length + made.length);
});
