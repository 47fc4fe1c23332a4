import { expect, test } from "vitest";

import { standingOf, summaryOf } from "../src/answers";
import { tablesOf } from "../src/compare";
import { picturesOf } from "../src/pictures";
import { published } from "./documents";

test.each(published())("the page shows all of $label", ({ label, document }) => {
  const one = { label, document };
  expect(summaryOf(document)).toBe(document.summary);
  expect(standingOf(document.answers)).not.toBe("unknown");
  expect(tablesOf([one])).toHaveLength(Object.keys(document.tables).filter((name) => document.tables[name]?.length).length);
  expect(picturesOf([one])).toHaveLength(Object.keys(document.series).length);
});
