import { expect, test } from "vitest";

import { factsOf } from "../src/facts";
import { example } from "./documents";

test("settings are words and numbers, and no tables", () => {
  const document = example("bench-new");
  document.plan.options = {
    passes: 3,
    depths: [1, 32],
    check: { reference: [{ metric: "read" }] },
    reference: [{ metric: "read" }],
  };
  const facts = factsOf(document);
  const named = (name: string) => facts.find((fact) => fact.name === name)?.value;
  expect(named("Passes")).toBe("3");
  expect(named("Depths")).toBe("1, 32");
  expect([named("Check"), named("Reference")]).toEqual([undefined, undefined]);
});
