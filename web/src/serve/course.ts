/** The course of a running job: what its events add up to. */

import type { JobEnd, JobEvent, Progress } from "./api";

export interface Course {
  step: string;
  progress: Progress | null;
  /** Time on the drive's clock in nanoseconds over the whole run, and bytes a second. */
  speeds: [number, number][];
  messages: string[];
  end: JobEnd | null;
  /** Where the drive's clock stood when the current workload began it again. */
  before_ns: number;
  /** The last time on the drive's clock. */
  last_ns: number;
}

export const begin = (): Course => ({ step: "", progress: null, speeds: [], messages: [], end: null, before_ns: 0, last_ns: 0 });

export function add(course: Course, event: JobEvent): Course {
  if (event.run) return { ...begin(), messages: course.messages };
  if (event.step) return { ...course, step: event.step.name };
  if (event.message !== undefined) return { ...course, messages: [...course.messages, event.message] };
  if (event.end) return { ...course, end: event.end };
  const { progress } = event;
  if (!progress) return course;
  const { drive_time_ns, bytes_per_s } = progress;
  // Each workload may begin the clock again; the course goes on.
  const before_ns = drive_time_ns < course.last_ns ? course.before_ns + course.last_ns : course.before_ns;
  const speeds: Course["speeds"] = bytes_per_s === null ? course.speeds : [...course.speeds, [before_ns + drive_time_ns, bytes_per_s]];
  return { ...course, step: progress.step, progress, speeds, before_ns, last_ns: drive_time_ns };
}

/** A line through the speeds in a box of this size, as the points of an SVG polyline. */
export function polyline(speeds: [number, number][], width: number, height: number): string {
  const first = speeds[0]?.[0] ?? 0;
  const last = speeds[speeds.length - 1]?.[0] ?? 0;
  const most = speeds.reduce((most, [, speed]) => Math.max(most, speed), 0) || 1;
  const span = last - first || 1;
  const x = (at: number): string => (((at - first) / span) * width).toFixed(1);
  const y = (speed: number): string => (height - (speed / most) * height).toFixed(1);
  return speeds.map(([at, speed]) => `${x(at)},${y(speed)}`).join(" ");
}
