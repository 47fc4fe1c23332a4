/** Packs I/Os as likenew does, and makes up some that look like those of a drive. */

import { deflateRawSync } from "node:zlib";

import type { PackedSamples } from "../src/Document";

export interface Io {
  /** Nanoseconds. */
  start: number;
  latency: number;
}

const TIME_UNIT_NS = 2384;
const STEP = 1.01;

function varint(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return [...bytes, rest];
}

export const codeOf = (latency: number, step = STEP) => Math.round(Math.log(latency) / Math.log(step));

/** The bytes before they are deflated. */
export function bytesOf(lines: Io[][], { unit = TIME_UNIT_NS, step = STEP } = {}): number[] {
  return lines.flatMap((ios) => {
    const units = ios.map(({ start }) => Math.round(start / unit));
    const codes = ios.map(({ latency }) => codeOf(latency, step));
    return [
      units.map((at, index) => varint(at - (units[index - 1] ?? 0))).flat(),
      codes.map((code) => code & 255),
      codes.map((code) => code >> 8),
    ].flat();
  });
}

export const deflated = (bytes: number[]) => deflateRawSync(Uint8Array.from(bytes), { level: 9 }).toString("base64");

/** From `slow` nanoseconds on, no I/O is left out. */
export function packed(lines: Record<string, Io[]>, keptOf = 1, slow = 1): PackedSamples {
  return {
    lines: Object.entries(lines).map(([op, ios]) => ({ op, count: ios.length, slow_from: codeOf(slow) })),
    time_unit_ns: TIME_UNIT_NS,
    latency_step: STEP,
    kept_of: keptOf,
    data: deflated(bytesOf(Object.values(lines))),
  };
}

/** Equal numbers for equal seeds, evenly between 0 and 1. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Reads and writes at a queue depth of 8: most latencies are lognormal, one in 200 is of a heavy tail up to 50 ms. */
export function queue(count: number): { read: Io[]; write: Io[] } {
  const random = randomOf(7);
  const free = Array.from({ length: 8 }, () => 0);
  const lines: { read: Io[]; write: Io[] } = { read: [], write: [] };
  for (let io = 0; io < count; io++) {
    const slot = free.indexOf(Math.min(...free));
    const start = free[slot] as number;
    const op = random() < 0.6 ? "read" : "write";
    const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
    const body = (op === "read" ? 81_000 : 24_000) * Math.exp(0.3 * normal);
    const latency = Math.round(Math.min(random() < 0.005 ? body * 4 * (1 - random()) ** (-1 / 1.2) : body, 50e6));
    lines[op].push({ start, latency });
    free[slot] = start + latency + 1500;
  }
  return lines;
}
