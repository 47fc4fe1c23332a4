import { expect, test } from "vitest";

import { placeOf, toDriveHistory, toHistory, toResult, toStart } from "../src/serve/place";

test("an address leads where it came from", () => {
  expect(placeOf(toHistory)).toEqual({ view: "history", key: null });
  expect(placeOf("#/history/")).toEqual({ view: "history", key: null });
  expect(placeOf(toDriveHistory("acda2bfe"))).toEqual({ view: "history", key: "acda2bfe" });
  expect(placeOf(toResult("one", "two"))).toEqual({ view: "result", runs: ["one", "two"] });
  const target = "sim:tiny-flash?state=used/50%";
  expect(placeOf(toStart("check", target))).toEqual({ view: "start", command: "check", target });
  expect(placeOf("#/nowhere")).toEqual({ view: "drives" });
  expect(placeOf("#/history/%")).toEqual({ view: "history", key: "%" });
});
