import { expect, test } from "vitest";

import { standingOf, summaryOf } from "../src/answers";
import { tablesOf } from "../src/compare";
import { picturesOf } from "../src/pictures";
import { published } from "./documents";

test.each(published())("the page shows all of $label", ({ label, document }) => {
  const one = { label, document };
  expect(summaryOf(document)).toBe(document.summary);
  expect(standingOf(document.answers)).not.toBe("unknown");
  expect(tablesOf([one])).toHaveLength(
    Object.keys(document.tables).filter((name) => document.tables[name]?.length).length,
  );
  const keys = picturesOf([one]).map(({ key }) => key);
  expect(keys).toEqual(expect.arrayContaining(Object.keys(document.series)));
  const made =
    (
      { bench: ["latencies_of_tests"], check: ["metric_bars"], recondition: ["before_and_after"] } as Record<
        string,
        string[]
      >
    )[document.procedure] ?? [];
  expect(keys).toHaveLength(Object.keys(document.series).length + made.length);
});
