/** The course of a running job: what its events add up to. */

import type { IoRate, JobEnd, JobEvent, Progress, Step } from "./answers";

export interface Course {
  step: Step | null;
  progress: Progress | null;
  /** Each kind of I/O that there was. */
  io: IoCourse[];
  messages: string[];
  end: JobEnd | null;
  /** The first and the last time, on the drive's clock in nanoseconds over the whole run. */
  from_ns: number | null;
  to_ns: number;
  /** Where the drive's clock stood when the current workload began it again. */
  before_ns: number;
  /** The last time on the drive's clock. */
  last_ns: number;
}

/** One kind of I/O over the run. */
export interface IoCourse {
  op: IoRate["op"];
  /** Its speed has this unit. */
  unit: "bytes/s" | "1/s";
  /** Time, and speed; null where it paused. */
  points: [number, number | null][];
  /** Over the last half second, if there is any now. */
  rate: IoRate | null;
}

const OPS: IoRate["op"][] = ["read", "write", "trim", "flush"];

export const begin = (): Course => ({
  step: null,
  progress: null,
  io: [],
  messages: [],
  end: null,
  from_ns: null,
  to_ns: 0,
  before_ns: 0,
  last_ns: 0,
});

export function add(course: Course, event: JobEvent): Course {
  if (event.run) return { ...begin(), messages: course.messages };
  if (event.step) return { ...course, step: event.step };
  if (event.message !== undefined) return { ...course, messages: [...course.messages, event.message] };
  if (event.end) return { ...course, end: event.end };
  const { progress } = event;
  if (!progress) return course;
  const { drive_time_ns } = progress;
  // Each workload may begin the clock again; the course goes on.
  const before_ns = drive_time_ns < course.last_ns ? course.before_ns + course.last_ns : course.before_ns;
  const to_ns = before_ns + drive_time_ns;
  const io = OPS.flatMap((op): IoCourse[] => {
    const known = course.io.find((one) => one.op === op);
    const rate = progress.io.find((one) => one.op === op) ?? null;
    if (!known && !rate) return [];
    const unit = op === "flush" ? "1/s" : "bytes/s";
    const value = rate && (unit === "1/s" ? rate.iops : rate.bytes_per_s);
    const points = known?.points ?? [];
    // One gap is enough for any pause.
    const isPause = value === null && points.at(-1)?.[1] === null;
    return [{ op, unit, rate, points: isPause ? points : [...points, [to_ns, value]] }];
  });
  return { ...course, progress, io, from_ns: course.from_ns ?? to_ns, to_ns, before_ns, last_ns: drive_time_ns };
}

/** The end of an axis for values up to `most`: 1, 2 or 5 times a power of ten. */
export function axisEnd(most: number): number {
  if (!(most > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(most));
  return power * (([1, 2, 5].find((step) => step * power >= most) ?? 10));
}

/** Lines through the speeds between the pauses, in a box of this size, as the points of SVG polylines. */
export function polylines(
  points: IoCourse["points"],
  [from, to]: [number, number],
  most: number,
  [width, height]: [number, number],
): string[] {
  const span = to - from || 1;
  const lines: string[][] = [[]];
  for (const [at, speed] of points) {
    if (speed === null) lines.push([]);
    else {
      const [x, y] = [((at - from) / span) * width, height - (speed / most) * height];
      lines.at(-1)?.push(`${x.toFixed(1)},${y.toFixed(1)}`);
    }
  }
  // A single value is a short line, so that it can be seen.
  return lines.filter((line) => line.length > 0).map((line) => (line.length === 1 ? [...line, ...line] : line).join(" "));
}
