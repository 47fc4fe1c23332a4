import { expect, test } from "vitest";

import { linearTicks, logTicks } from "../src/ticks";

const KIB = 1024;
/** Pixels of every number. */
const SIZE = 50;

test.each([
  ["all powers where they have room", [10, 1e5], 10, 400, [10, 100, 1e3, 1e4, 1e5]],
  ["every other one where they have not", [10, 1e5], 10, 160, [100, 1e4]],
  ["2 and 5 times each of few", [1, 10], 10, 236, [1, 2, 5, 10]],
  ["not where they have no room", [1, 100], 10, 200, [1, 10, 100]],
  ["between two powers", [3, 30], 10, 236, [5, 10, 20]],
  ["sizes", [512, 4 * KIB], 2, 400, [512, 1024, 2048, 4096]],
  ["sizes in a narrow chart", [512, 4 * KIB * KIB], 2, 200, [4 * KIB, 64 * KIB, KIB * KIB]],
  ["one number alone", [900, 1100], 10, 200, [1000]],
] as const)("a logarithmic axis numbers %s", (_, ends, base, length, ticks) => {
  expect(logTicks([...ends], base, length, () => SIZE)).toEqual(ticks);
});

test("no logarithmic axis has a hole, and no number covers another", () => {
  for (const base of [2, 10] as const)
    for (let length = 120; length < 1200; length += 37)
      for (let power = 0.4; power < 12; power += 0.37) {
        const ends: [number, number] = [7, 7 * 10 ** power];
        const ticks = logTicks(ends, base, length, () => SIZE);
        const steps = ticks.slice(1).map((tick, at) => tick / ticks[at]!);
        const isParted = base === 10 && steps.some((step) => step < 10);
        expect(isParted ? steps.every((step) => step <= 2.5) : new Set(steps.map((step) => step.toFixed(3))).size <= 1).toBe(true);
        const apart = steps.map((step) => (Math.log10(step) / power) * length);
        expect(Math.min(SIZE, ...apart)).toBe(SIZE);
      }
});

test.each([
  [805, 675, [0, 200, 400, 600, 800]],
  [805, 170, [0, 500]],
  [102, 600, [0, 20, 40, 60, 80, 100]],
  [102, 157, [0, 50, 100]],
  [0, 100, [0]],
])("a linear axis up to %d in %d pixels", (high, length, ticks) => {
  expect(linearTicks(high, length, () => SIZE)).toEqual(ticks);
});
