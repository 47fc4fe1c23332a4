import { expect, test } from "vitest";

import { placeOf, toDriveHistory, toResult, toRuns, toStart } from "../src/serve/place";

test("an address leads where it came from", () => {
  expect(placeOf("#/history/")).toEqual({ view: "history", key: null });
  expect(placeOf(toDriveHistory("acda2bfe"))).toEqual({ view: "history", key: "acda2bfe" });
  expect(placeOf(toResult("one", "two"))).toEqual({ view: "result", runs: ["one", "two"] });
  expect(placeOf(toRuns())).toEqual({ view: "runs", offset: 0 });
  expect(placeOf(toRuns(50))).toEqual({ view: "runs", offset: 50 });
  expect(placeOf("#/runs/-3x")).toEqual({ view: "runs", offset: 0 });
  expect(placeOf("#/nowhere")).toEqual({ view: "drives" });
  expect(placeOf("#/history/%")).toEqual({ view: "history", key: "%" });
});

test("what is chosen for a run is in its address", () => {
  const target = "sim:tiny-flash?state=used/50%";
  const order = { command: "bench", target, options: { bytes: "1GiB", thorough: true as const, data: "a=b/c" } };
  expect(placeOf(toStart(order))).toEqual({ view: "start", order });
  expect(placeOf("#/start")).toEqual({ view: "start", order: { command: "check", target: "", options: {} } });
});
