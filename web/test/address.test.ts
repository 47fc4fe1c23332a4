import { expect, test } from "vitest";

import { idsOf, partOf, toPart } from "../src/address";
import { placeOf, toResult, toStart } from "../src/serve/place";

test("a part of a file has an address, and so has one of a view", () => {
  expect(toPart("", "bench-chart-bandwidth")).toBe("#bench-chart-bandwidth");
  expect(toPart("#bench-overview", "bench-chart-bandwidth")).toBe("#bench-chart-bandwidth");
  const view = toResult("one", "two");
  const address = toPart(toPart(view, "other"), "bench-chart-bandwidth");
  expect(partOf(address)).toBe("bench-chart-bandwidth");
  expect(placeOf(address)).toEqual(placeOf(view));
  expect([partOf(""), partOf(view)]).toEqual(["", ""]);
});

test("a question mark of a target names no part", () => {
  const order = { command: "check", target: "sim:tiny?at=used", options: {} };
  expect(placeOf(toStart(order))).toEqual({ view: "start", order });
  expect(placeOf("#/start/check/sim:tiny?state=used")).toMatchObject({ order: { target: "sim:tiny?state=used" } });
});

test("each part has a name of its own", () => {
  expect(idsOf(["sweep-chart-heat_random_read", "a", "a", "a"])).toEqual(["sweep-chart-heat-random-read", "a", "a-2", "a-3"]);
});
