import { expect, test } from "vitest";

import { rowsOf } from "../src/labels";

test("texts side by side share a row, and texts that would touch do not", () => {
  const placed = rowsOf(
    [
      { at: 100, text: "first knee" },
      { at: 400, text: "second" },
      { at: 130, text: "beside the first" },
    ],
    800,
    4,
  );
  expect(placed.map(({ row }) => row)).toEqual([0, 0, 1]);
});

test("texts at the edges stay inside", () => {
  const placed = rowsOf(
    [
      { at: 2, text: "at the start" },
      { at: 797, text: "at the end" },
      { at: 400, text: "between" },
    ],
    800,
    4,
  );
  expect(placed.map(({ align }) => align)).toEqual(["left", "right", "center"]);
});

test("a text without room has no row", () => {
  const texts = Array.from({ length: 6 }, () => ({ at: 50, text: "the same place" }));
  expect(rowsOf(texts, 200, 4).map(({ row }) => row)).toEqual([0, 1, 2, 3, null, null]);
  expect(rowsOf([{ at: -20, text: "outside" }], 200, 4)[0]?.row).toBeNull();
});
