import { expect, test } from "vitest";

import type { IoRate, Progress } from "../src/serve/answers";
import { add, axisEnd, begin, polylines } from "../src/serve/course";

const rate = (op: IoRate["op"], bytes_per_s: number, iops = 10): IoRate => ({
  op,
  bytes_per_s,
  iops,
  latency_ns_p50: 1,
  latency_ns_p99: 2,
  latency_ns_max: 3,
});

const progress = (drive_time_ns: number, ...io: IoRate[]): { progress: Progress } => ({
  progress: { share: null, left: null, bytes_done: 0, bytes_written: 0, bytes_per_s: null, io, drive_time_ns },
});

test("each kind of I/O has a course of its own, with gaps where it paused", () => {
  const events = [
    progress(1e9, rate("read", 100)),
    progress(2e9, rate("read", 120), rate("write", 5)),
    progress(3e9, rate("write", 6)),
    progress(4e9, rate("write", 7)),
    // Another workload begins the clock again.
    progress(1e9, rate("read", 90)),
  ];
  const course = events.reduce(add, begin());
  const [read, write] = course.io;
  expect(read?.points).toEqual([[1e9, 100], [2e9, 120], [3e9, null], [5e9, 90]]);
  expect(write?.points).toEqual([[2e9, 5], [3e9, 6], [4e9, 7], [5e9, null]]);
  expect([read?.rate?.bytes_per_s, write?.rate]).toEqual([90, null]);
  expect([course.from_ns, course.to_ns]).toEqual([1e9, 5e9]);
  expect(polylines(read!.points, [1e9, 5e9], 200, [400, 100])).toEqual(["0.0,50.0 100.0,40.0", "400.0,55.0 400.0,55.0"]);
});

test("flushes move nothing and are counted", () => {
  const [flush] = add(begin(), progress(1, rate("flush", 0, 250))).io;
  expect([flush?.unit, flush?.points]).toEqual(["1/s", [[1, 250]]]);
});

test("an axis ends at a round value above all of them", () => {
  expect([0, 1, 1.1, 4, 5, 7, 80.5].map(axisEnd)).toEqual([1, 1, 2, 5, 5, 10, 100]);
});
