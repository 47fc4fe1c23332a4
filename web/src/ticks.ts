/** The numbers along an axis: round ones, as many as have room, and none missing between two. */

/** Powers of which one is numbered, where not all have room. */
const STRIDES = [1, 2, 3, 4, 5, 10, 20, 50, 100];
/** With fewer powers of ten than this, 2 and 5 times each of them are numbered as well. */
const POWERS_MIN = 3;
/** The most parts of a linear axis. */
const PARTS_MAX = 6;

/** Ticks of a logarithmic axis of `length` pixels; `sizeOf` is what the number at a tick needs of them. */
export function logTicks(
  [low, high]: [number, number],
  base: 2 | 10,
  length: number,
  sizeOf: (tick: number) => number,
): number[] {
  const powerOf = (value: number) => Math.log(value) / Math.log(base);
  const first = Math.ceil(powerOf(low) - 1e-9);
  const powers = Array.from({ length: Math.floor(powerOf(high) + 1e-9) - first + 1 }, (_, at) => first + at);
  const parts = powers.length < POWERS_MIN && base === 10 ? [first - 1, ...powers].flatMap((power) => [1, 2, 5].map((times) => times * 10 ** power)) : [];
  const choices = [
    parts.filter((tick) => tick >= low && tick <= high),
    ...STRIDES.map((stride) => powers.filter((power) => power % stride === 0).map((power) => base ** power)),
  ];
  return firstFitting(choices, [low, high], length, sizeOf) ?? powers.slice(0, 1).map((power) => base ** power);
}

/** The first of these choices, each of at least two rising values, whose numbers have room on a logarithmic axis. */
export function firstFitting(
  choices: number[][],
  [low, high]: [number, number],
  length: number,
  sizeOf: (tick: number) => number,
): number[] | undefined {
  const fits = (ticks: number[]) =>
    ticks.every((tick, at) => {
      const before = ticks[at - 1] ?? 0;
      const apart = (Math.log(tick / before) / Math.log(high / low)) * length;
      return at === 0 || apart >= (sizeOf(tick) + sizeOf(before)) / 2;
    });
  return choices.find((ticks) => ticks.length > 1 && fits(ticks));
}

/** Ticks of a linear axis from 0, in the same way. */
export function linearTicks(high: number, length: number, sizeOf: (tick: number) => number): number[] {
  if (!(high > 0)) return [0];
  const power = Math.floor(Math.log10(high / PARTS_MAX));
  const steps = [power, power + 1, power + 2].flatMap((power) => [1, 2, 5].map((times) => times * 10 ** power));
  const ticksOf = (step: number) => Array.from({ length: Math.floor(high / step + 1e-9) + 1 }, (_, at) => at * step);
  const fits = (ticks: number[]) =>
    ticks.length - 1 <= PARTS_MAX && ticks.every((tick, at) => at === 0 || ((ticks[1] ?? 0) / high) * length >= (sizeOf(tick) + sizeOf(ticks[at - 1] ?? 0)) / 2);
  return steps.map(ticksOf).find(fits) ?? [0];
}
