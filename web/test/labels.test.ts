import { expect, test } from "vitest";

import { legendOf, rowsOf } from "../src/labels";

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

test("a text goes to the side on which it has room, however wide it is", () => {
  const text = "a text that is wider than half of the chart";
  expect([40, 90, 290].map((at) => rowsOf([{ at, text }], 300, 1)[0])).toEqual([
    { row: 0, align: "left" },
    { row: null, align: "center" },
    { row: 0, align: "right" },
  ]);
});

test("a legend has as many rows as its names need, and shortens one that is too wide for any", () => {
  const of = (width: number, ...names: string[]) => legendOf(names.map((name) => ({ name })), width, "#000");
  expect(of(300, "read")).toEqual({ option: { show: false }, height: 0 });
  const [one, two] = [of(300, "read", "write"), of(300, "read", "write", "the first of the used drives", "trim")];
  expect(one.option).toMatchObject({ data: [{ name: "read" }, { name: "write" }] });
  // An item without a name begins a row.
  const names = ["read", "write", "", "the first of the used drives", "trim"].map((name) => ({ name }));
  expect(two.option).toMatchObject({ data: names });
  expect(two.height).toBeGreaterThan(one.height);
  const { formatter } = of(120, "read", "sim:x25m?state=used").option as { formatter: (name: string) => string };
  expect([formatter("read"), formatter("sim:x25m?state=used")]).toEqual(["read", expect.stringMatching(/^sim:x25m.*…$/)]);
});
