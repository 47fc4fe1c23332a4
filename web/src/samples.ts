/** Unpacks every I/O of a run. Whatever does not fit exactly is refused: half of a run would look like a whole one. */

import type { PackedSamples } from "./Document";
import { DAMAGE } from "./wording";

/** The I/Os of one operation, in order of their starts. */
export interface Recorded {
  op: string;
  /** From this code on, none is left out. */
  slowFrom: number;
  /** Nanoseconds from the beginning of the run. */
  starts: Float64Array;
  codes: Uint16Array;
  /** Nanoseconds, exact to half a step of the codes. */
  latencies: Float64Array;
}

export interface Recording {
  lines: Recorded[];
  timeUnit: number;
  step: number;
  keptOf: number;
}

/** Why the I/Os of a run cannot be shown. */
export class DamagedSamples extends Error {}

/** More I/Os than this would take the browser over 200 MB of memory. */
const COUNT_MAX = 5_000_000;
const LINES_MAX = 16;
/** A varint of more bytes would be beyond 2⁵³, up to which numbers are exact. */
const VARINT_MAX = 8;
/** Start and latency are 64-bit numbers where they are measured. */
const NS_MAX = 2 ** 64;
export const CODES = 2 ** 16;

export async function recordingOf(packed: PackedSamples): Promise<Recording> {
  const { lines, time_unit_ns: timeUnit, latency_step: step, kept_of: keptOf, data } = checked(packed);
  const count = lines.reduce((sum, line) => sum + line.count, 0);
  const bytes = await inflated(bytesOf(data), count * (VARINT_MAX + 2));
  const latencyOf = Float64Array.from({ length: CODES }, (_, code) => step ** code);
  const codeMax = Math.floor(Math.log(NS_MAX) / Math.log(step));
  let place = 0;
  const recorded = lines.map((line): Recorded => {
    const starts = new Float64Array(line.count);
    place = readStarts(bytes, place, starts, timeUnit);
    const end = place + 2 * line.count;
    if (end > bytes.length) throw new DamagedSamples(DAMAGE.short);
    const codes = new Uint16Array(line.count);
    const latencies = new Float64Array(line.count);
    for (let at = 0; at < line.count; at++) {
      const code = (bytes[place + at] as number) | ((bytes[place + line.count + at] as number) << 8);
      if (code > codeMax) throw new DamagedSamples(DAMAGE.range);
      codes[at] = code;
      latencies[at] = latencyOf[code] as number;
    }
    place = end;
    return { op: line.op, slowFrom: line.slow_from, starts, codes, latencies };
  });
  if (place !== bytes.length) throw new DamagedSamples(DAMAGE.long);
  return { lines: recorded, timeUnit, step, keptOf };
}

/** The block itself, of which only the type is known, not what stands in it. */
function checked(packed: PackedSamples): PackedSamples {
  const isCount = (value: unknown): boolean => Number.isInteger(value) && (value as number) >= 0;
  const { lines, time_unit_ns, latency_step, kept_of, data } = (packed ?? {}) as PackedSamples;
  const isWhole =
    Array.isArray(lines) &&
    lines.length <= LINES_MAX &&
    lines.every((line) => typeof line?.op === "string" && line.op !== "" && isCount(line.count) && isCount(line.slow_from)) &&
    new Set(lines.map(({ op }) => op)).size === lines.length &&
    Number.isFinite(time_unit_ns) &&
    time_unit_ns > 0 &&
    Number.isFinite(latency_step) &&
    latency_step > 1 &&
    isCount(kept_of) &&
    kept_of >= 1 &&
    typeof data === "string";
  if (!isWhole) throw new DamagedSamples(DAMAGE.header);
  if (lines.reduce((sum, { count }) => sum + count, 0) > COUNT_MAX) throw new DamagedSamples(DAMAGE.many);
  return packed;
}

function bytesOf(data: string): Uint8Array<ArrayBuffer> {
  let text: string;
  try {
    text = atob(data);
  } catch {
    throw new DamagedSamples(DAMAGE.packing);
  }
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
}

/** The bytes of a deflate stream, which is not followed beyond `most`. */
async function inflated(packed: Uint8Array<ArrayBuffer>, most: number): Promise<Uint8Array> {
  if (typeof DecompressionStream === "undefined") throw new DamagedSamples(DAMAGE.browser);
  const reader = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader();
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read().catch(() => {
      throw new DamagedSamples(DAMAGE.packing);
    });
    if (done) break;
    length += value.length;
    if (length > most) {
      await reader.cancel();
      throw new DamagedSamples(DAMAGE.long);
    }
    chunks.push(value);
  }
  const bytes = new Uint8Array(length);
  let place = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, place);
    place += chunk.length;
  }
  return bytes;
}

/** Fills in the starts, which are written as varints of their differences, and returns where the next bytes are. */
function readStarts(bytes: Uint8Array, from: number, starts: Float64Array, timeUnit: number): number {
  let place = from;
  let units = 0;
  for (let at = 0; at < starts.length; at++) {
    let scale = 1;
    const first = place;
    for (;;) {
      const byte = bytes[place];
      if (byte === undefined) throw new DamagedSamples(DAMAGE.short);
      if (place - first >= VARINT_MAX) throw new DamagedSamples(DAMAGE.range);
      place += 1;
      units += (byte & 127) * scale;
      if (byte < 128) break;
      scale *= 128;
    }
    if (units > Number.MAX_SAFE_INTEGER || units * timeUnit > NS_MAX) throw new DamagedSamples(DAMAGE.range);
    starts[at] = units * timeUnit;
  }
  return place;
}
