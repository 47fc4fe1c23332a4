import { describe, expect, test } from "vitest";

import spelling from "../../schema/spelling.json";
import { axisUnit, heading, spell, spellBelowHeading, spellRound, speedChange, unbroken, withRange } from "../src/units";

describe("numbers are spelled as published", () => {
  test.each(spelling.values)("$value $unit is $text", ({ unit, value, text }) => {
    expect(spell(value, unit)).toBe(text);
  });
});

describe("ranges are spelled as published", () => {
  test.each(spelling.ranges)("$text", ({ value, low, high, text }) => {
    expect(withRange(value, low, high)).toBe(text);
  });
});

describe("keys become headings as published", () => {
  test.each(spelling.headings)("$key is $heading", ({ key, heading: text, unit }) => {
    expect(heading(key)).toEqual({ text, unit });
  });
});

test("a heading with the unit is not repeated in its cells", () => {
  expect(spellBelowHeading(-251.3e6, "bytes/s")).toBe("-251");
  expect(spellBelowHeading(12_345.6, "1/s")).toBe("12,300");
  expect(spellBelowHeading(12_340, "ns")).toBe("12.3 µs");
});

test("no line ends between a number and its unit", () => {
  expect(unbroken("550 MB/s into 5.58 GiB, 7 others (36 °C, QD32) · 2 × 3 % 1")).toBe(
    "550\u00a0MB/s into 5.58\u00a0GiB, 7\u00a0others (36\u00a0°C, QD32) · 2 × 3 % 1",
  );
});

test("an axis has one unit that suits its largest value", () => {
  expect(axisUnit("bytes", 80e9)).toEqual({ size: 1024 ** 3, name: " GiB" });
  expect(axisUnit("ns", 150e9)).toEqual({ size: 60e9, name: " min" });
  expect(axisUnit("ns", 90e9)).toEqual({ size: 1e9, name: " s" });
  expect(axisUnit("bytes", 0)).toEqual({ size: 1, name: " B" });
  expect(axisUnit("bytes/s", 5)).toEqual({ size: 1e6, name: " MB/s" });
  expect(axisUnit("points", 5)).toEqual({ size: 1, name: " points" });
});

test("round values need no zeros", () => {
  const cases: [number, string, string][] = [
    [1.5e9, "ns", "1.5 s"],
    [1e8, "ns", "100 ms"],
    [1e9, "ns", "1 s"],
    [3e11, "ns", "5 min"],
    [4096, "bytes", "4 KiB"],
    [1e7, "bytes/s", "10 MB/s"],
    [1e6, "1/s", "1,000,000 IOPS"],
    [100, "", "100"],
    [0.5, "×", "0.5×"],
  ];
  for (const [value, unit, text] of cases) expect(spellRound(value, unit)).toBe(text);
});

test("a change of speed is a percentage, and from twice as much on a factor", () => {
  expect([0.83, 1.15, 3.59, 1.0004, 0.9991].map(speedChange)).toEqual([
    "17% slower",
    "15% faster",
    "3.59× as fast",
    "as fast",
    "0.09% slower",
  ]);
});

test("a date is spelled to the minute, in UTC", () => {
  expect(spell(Date.parse("2026-03-14T15:09:26.535Z"), "date")).toBe("2026-03-14 15:09");
});
