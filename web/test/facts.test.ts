import { expect, test } from "vitest";

import { driveFacts, methodFacts, planText } from "../src/facts";
import { example } from "./documents";

test("settings are words and numbers, and no tables", () => {
  const document = example("bench-new");
  document.plan.options = {
    passes: 3,
    depths: [1, 32],
    check: { reference: [{ metric: "read" }] },
    reference: [{ metric: "read" }],
  };
  const facts = methodFacts(document);
  const named = (name: string) => facts.find((fact) => fact.name === name)?.value;
  expect(named("Passes")).toBe("3");
  expect(named("Depths")).toBe("1, 32");
  expect([named("Check"), named("Reference")]).toEqual([undefined, undefined]);
});

test("the drive and the method are told apart", () => {
  const document = example("bench-new");
  const names = (facts: { name: string }[]) => facts.map(({ name }) => name);
  expect(names(driveFacts(document))).toContain("Capacity");
  expect(names(driveFacts(document))).not.toContain("Seed");
  expect(names(methodFacts(document))).toEqual(expect.arrayContaining(["Run", "Seed", "Engine"]));
});

test("a plan is written as TOML, its tables after its values", () => {
  const document = example("bench-new");
  document.plan = {
    schema: 1,
    procedure: "check",
    target: 'sim:a"b',
    seed: 7,
    options: {
      reference: [
        { metric: "read", per_s: 2.5 },
        { metric: "write", per_s: 1 },
      ],
      bytes: "4MiB",
      raw: true,
      none: null,
      depths: [1, 8],
      check: { from: "x y" },
    },
  };
  expect(planText(document.plan)).toBe(
    [
      "schema = 1",
      'procedure = "check"',
      'target = "sim:a\\"b"',
      "seed = 7",
      "",
      "[options]",
      'bytes = "4MiB"',
      "raw = true",
      "depths = [1, 8]",
      "",
      "[[options.reference]]",
      'metric = "read"',
      "per_s = 2.5",
      "",
      "[[options.reference]]",
      'metric = "write"',
      "per_s = 1",
      "",
      "[options.check]",
      'from = "x y"',
      "",
    ].join("\n"),
  );
  document.plan.seed = 2 ** 60;
  expect(planText(document.plan)).not.toContain("seed =");
});
