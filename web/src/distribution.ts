/** How the latencies of recorded I/Os are distributed. Where some were left out, those beside them count for more. */

import { CODES } from "./samples";
import type { Recorded, Recording } from "./samples";

/** The I/Os of one operation by their latencies. */
export interface Distribution {
  op: string;
  /** How many are recorded, and how many those stand for. */
  kept: number;
  all: number;
  /** Latencies that occur, in ascending order, and how many I/Os are that slow or slower. */
  latencies: number[];
  atLeast: number[];
  slowest: { latency: number; start: number };
}

/** The distribution of each operation that has I/Os. */
export function distributionsOf({ lines, step, keptOf }: Recording): Distribution[] {
  return lines.filter(({ codes }) => codes.length > 0).map((line) => distributionOf(line, step, keptOf));
}

function countsOf(codes: Uint16Array): Uint32Array {
  const counts = new Uint32Array(CODES);
  for (const code of codes) counts[code] = (counts[code] as number) + 1;
  return counts;
}

function distributionOf(line: Recorded, step: number, keptOf: number): Distribution {
  const counts = countsOf(line.codes);
  const [latencies, atLeast]: [number[], number[]] = [[], []];
  let all = 0;
  let highest = 0;
  for (let code = CODES - 1; code >= 0; code--) {
    const count = counts[code] as number;
    if (count === 0) continue;
    if (latencies.length === 0) highest = code;
    all += code < line.slowFrom ? count * keptOf : count;
    latencies.push(step ** code);
    atLeast.push(all);
  }
  const slowest = line.codes.indexOf(highest);
  return {
    op: line.op,
    kept: line.codes.length,
    all,
    latencies: latencies.reverse(),
    atLeast: atLeast.reverse(),
    slowest: { latency: step ** highest, start: line.starts[slowest] as number },
  };
}

/** The latency that a share of the I/Os does not exceed; none if there are too few to tell it from the slowest one. */
export function quantileOf({ latencies, atLeast, all }: Distribution, share: number): number | null {
  const slower = all * (1 - share);
  if (slower < 1 - 1e-9 && share > 0.5) return null;
  // The first latency beyond which there are no more than that.
  let [low, high] = [0, latencies.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((atLeast[middle + 1] as number) <= slower * (1 + 1e-9)) high = middle;
    else low = middle + 1;
  }
  return latencies[low] ?? null;
}

export interface Slow {
  op: string;
  start: number;
  latency: number;
}

/** The slowest I/Os of all operations, from the slowest on; of equal ones the earliest. */
export function slowestOf({ lines }: Recording, most: number): Slow[] {
  const counts = new Float64Array(CODES);
  for (const { codes } of lines) for (const code of codes) counts[code] = (counts[code] as number) + 1;
  let [least, found] = [CODES, 0];
  while (least > 0 && found < most) {
    least -= 1;
    found += counts[least] as number;
  }
  const slow: Slow[] = [];
  for (const { op, codes, starts, latencies } of lines) {
    let own = 0;
    for (let at = 0; at < codes.length; at++) {
      // Of many equally slow ones, no more than are asked for.
      if ((codes[at] as number) < least || ((codes[at] as number) === least && own >= most)) continue;
      if (codes[at] === least) own += 1;
      slow.push({ op, start: starts[at] as number, latency: latencies[at] as number });
    }
  }
  return slow.sort((one, other) => other.latency - one.latency || one.start - other.start).slice(0, most);
}
