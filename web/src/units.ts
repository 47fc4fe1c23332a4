/**
 * Numbers and keys as people write them: 10⁶ bytes a second, binary sizes, scaled times.
 * `schema/spelling.json` has examples that the terminal and this file must agree on.
 */

import declared from "../../schema/columns.json" with { type: "json" };

/** `value` with its unit: `251 MB/s`, `74.5 GiB`, `82.1 µs`. */
export function spell(value: number, unit: string): string {
  if (value < 0) return `-${spell(-value, unit)}`;
  switch (unit) {
    case "bytes/s":
      return `${digits(value / 1e6)} MB/s`;
    case "bytes":
      return amount(value);
    case "ns":
      return span(value);
    case "%":
      return share(value / 100);
    case "share":
      return share(value);
    case "×":
      return `${digits(value)}×`;
    case "1/s":
      return `${digits(value)} IOPS`;
    case "/s":
      return `${digits(value)}/s`;
    case "°C":
      return `${plain(value)} °C`;
    case DATE:
      return new Date(value).toISOString().slice(0, 16).replace("T", " ");
    case "":
    case "1":
      return plain(value);
    default:
      return `${plain(value)} ${unit}`;
  }
}

/** The unit of a time since 1970 in milliseconds, which is spelled as date and minute in UTC. */
export const DATE = "date";

/** `value` for a column whose heading already says MB/s or IOPS. */
export function spellBelowHeading(value: number, unit: string): string {
  const sign = value < 0 ? "-" : "";
  if (unit === "bytes/s") return sign + digits(Math.abs(value) / 1e6);
  if (unit === "1/s" || unit === "/s") return sign + digits(Math.abs(value));
  return spell(value, unit);
}

/** The powers around positive values, at least one apart. */
export function powersAround(low: number, high: number, base: 2 | 10 = 10): [number, number] {
  const powerOf = base === 2 ? Math.log2 : Math.log10;
  const from = Math.floor(powerOf(low));
  return [base ** from, base ** Math.max(Math.ceil(powerOf(high)), from + 1)];
}

/** The step in which a value that is known to `error` is written, with at most so many digits. */
function stepOf(value: number, error: number, digits: number): number {
  const known = error > 0 ? Math.ceil(Math.log10(error) - 1e-9) : -Infinity;
  return 10 ** Math.max(known, Math.floor(Math.log10(value)) + 1 - digits, 0);
}

/** A time in whole steps of what is known of it. */
export function roundWithin(ns: number, error: number, digits: number): number {
  if (ns <= 0) return 0;
  const step = stepOf(ns, error, digits);
  return Math.round(ns / step) * step;
}

/** A time with the digits that are known of it, and no more than so many: `81 µs`, `12.4 ms`, `3.20411 s`. */
export function spellWithin(ns: number, error: number, digits = 3): string {
  const rounded = roundWithin(ns, error, digits);
  const { size, name } = TIMES.slice(0, 4).findLast((unit) => unit.size <= rounded) ?? { size: 1, name: " ns" };
  if (rounded === 0) return `0${name}`;
  const decimals = Math.max(Math.round(Math.log10(size / stepOf(ns, error, digits))), 0);
  const text = (rounded / size).toFixed(decimals);
  return (decimals > 0 ? text : grouped(text)) + name;
}

/** `1.50 s` as `1.5 s`: the round values of an axis need no trailing zeros. */
export function spellRound(value: number, unit: string): string {
  const [number = "", ...rest] = spell(value, unit).split(/(?<=[\d.])(?=[^\d.])/);
  const short = number.includes(".") ? number.replace(/\.?0+$/, "") : number;
  return [short, ...rest].join("");
}

/** Name and unit of a column, from its key: the unit is one of its words. */
export function heading(key: string): { text: string; unit: string } {
  const words = key.split("_").map((word) => word.replace(/^p99(9+)$/, "p99.$1"));
  for (const { words: unitWords, unit, shown, alone } of declared.units) {
    const at = lastIndexOf(words, unitWords);
    if (at < 0) continue;
    const parts = [...words.slice(0, at), ...(shown ? [shown] : []), ...words.slice(at + unitWords.length)];
    return { text: parts.join(" ").replaceAll(" /s", "/s") || alone, unit };
  }
  return { text: words.join(" "), unit: "" };
}

/** Keys of texts that are identifiers, such as `slow_once`, with the words for some of them. */
const IDENTIFIERS: Record<string, Record<string, string>> = declared.identifiers;

/** The words for the text of a column, if it is an identifier; any other text stays as it is. */
export function wordsOf(text: string, key: string): string {
  const known = IDENTIFIERS[key];
  return known === undefined ? text : (known[text] ?? heading(text).text);
}

interface Sized {
  size: number;
  name: string;
}

/** Units that axes of any length have in one size. */
const AXIS_UNITS: Record<string, Sized> = {
  "bytes/s": { size: 1e6, name: " MB/s" },
  "%": { size: 1, name: "%" },
  share: { size: 0.01, name: "%" },
  "×": { size: 1, name: "×" },
  "1/s": { size: 1, name: " IOPS" },
  "/s": { size: 1, name: "/s" },
  [DATE]: { size: 1, name: "" },
  "": { size: 1, name: "" },
  "1": { size: 1, name: "" },
};

/** The scale and name of the unit that fits values up to `most`, for axes. */
export function axisUnit(unit: string, most: number): Sized {
  if (unit === "bytes") return largest(BINARY, most);
  if (unit === "ns") return largest(TIMES, most);
  return AXIS_UNITS[unit] ?? { size: 1, name: ` ${unit}` };
}

const BINARY: Sized[] = [" B", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB"].map((name, power) => ({
  size: 1024 ** power,
  name,
}));

const TIMES: Sized[] = [
  { size: 1, name: " ns" },
  { size: 1e3, name: " µs" },
  { size: 1e6, name: " ms" },
  { size: 1e9, name: " s" },
  { size: 60e9, name: " min" },
  { size: 3600e9, name: " h" },
];

function largest(sizes: Sized[], most: number): Sized {
  const fitting = sizes.filter(({ size }) => size * 2 <= most || size === 1);
  return fitting[fitting.length - 1] ?? { size: 1, name: "" };
}

function lastIndexOf(words: string[], sought: string[]): number {
  for (let at = words.length - sought.length; at >= 0; at--) {
    if (sought.every((word, index) => words[at + index] === word)) return at;
  }
  return -1;
}

/** Three significant digits, with commas between thousands; below 0.001 and from 10¹⁵ on in powers of ten. */
function digits(value: number): string {
  if (value === 0) return "0";
  if (value < 1e-4 || value >= 1e15) return scientific(value);
  const below = Math.floor(Math.log10(value));
  // 9.996 is rounded up to 10.0.
  const exponent = below + (Math.round(value / 10 ** (below - 2)) >= 1000 ? 1 : 0);
  if (exponent < 2) return fixed(value, 2 - exponent);
  const step = 10 ** (exponent - 2);
  return grouped((Math.round(value / step) * step).toFixed(0));
}

/** Whole percents from 10% on, a decimal below, and just below 100% one, too, so that 99.8% is not shown as all. */
function share(of: number): string {
  const percent = of * 100;
  const nearlyAll = percent > 99 && percent < 100;
  if (percent >= 9.95 && percent < 999.5 && !nearlyAll) return `${fixed(percent, 0)}%`;
  const text = shortPercent(percent);
  return `${text.includes(".") ? text.replace(/\.?0+$/, "") : text}%`;
}

/** A decimal, and one significant digit of what is less, so that little is not shown as nothing. */
function shortPercent(percent: number): string {
  if (percent >= 999.5 || percent < 1e-3) return digits(percent);
  return fixed(percent, percent >= 0.095 ? 1 : -Math.floor(Math.log10(percent)));
}

function plain(value: number): string {
  return Number.isInteger(value) && value < 1e15 ? grouped(value.toFixed(0)) : digits(value);
}

function threeDigits(value: number): string {
  return fixed(value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0);
}

/** This many decimals; ties are rounded to even, as in Rust. */
function fixed(value: number, decimals: number): string {
  const text = value.toFixed(decimals);
  // Any tie is a multiple of a small power of two, so that 20 decimals write it exactly.
  const [whole = "", fraction = ""] = value.toFixed(20).split(".");
  if (!/^50*$/.test(fraction.slice(decimals))) return text;
  const kept = decimals > 0 ? `${whole}.${fraction.slice(0, decimals)}` : whole;
  const isEven = "02468".includes(kept.charAt(kept.length - 1));
  return isEven ? kept : text;
}

function scientific(value: number): string {
  return value.toExponential(1).replace("e+", "e");
}

function grouped(text: string): string {
  return text.replace(/\B(?=(\d{3})+$)/g, ",");
}

/** `19.8 MB/s (15.9–24.7)`, or the value alone if the range adds nothing. A common unit is written once. */
export function withRange(value: string, low: string, high: string): string {
  if (low === high) return low === value ? value : `${value} (${low})`;
  const shared = unitOf(low) === unitOf(high) && unitOf(low) === unitOf(value) && !isCompound(value);
  const range = rangeOf(low, high);
  return `${value} (${shared && !isCompound(high) ? range.slice(0, range.length - unitOf(value).length) : range})`;
}

/** `15.9–24.7 MB/s`: a common unit is written once. */
export function rangeOf(low: string, high: string): string {
  if (low === high) return low;
  const unit = unitOf(low);
  const shared = unit === unitOf(high) && !isCompound(low) && !isCompound(high);
  // A dash before a minus sign would be confusing.
  const to = low.startsWith("-") || high.startsWith("-") ? " to " : "–";
  return `${shared ? low.slice(0, low.length - unit.length) : low}${to}${high}`;
}

/** From twice as much on, a change is said as a factor, which is easier to imagine than a percentage. */
const FACTOR_FROM = 2;
/** A smaller change is none to a reader: half of what a share shows in its last digit at 100%. */
const CHANGE_MIN = 0.0005;

/** A speed over an earlier one: `17% slower`, `15% faster`, `3.59× as fast`, `as fast`. */
export function speedChange(ratio: number): string {
  const by = ratio - 1;
  if (Math.abs(by) < CHANGE_MIN) return "as fast";
  if (by < 0) return `${spell(-by, "share")} slower`;
  return ratio >= FACTOR_FROM ? `${spell(ratio, "×")} as fast` : `${spell(by, "share")} faster`;
}

/** The unit after a number. */
function unitOf(text: string): string {
  return text.replace(/^[\d.,e-]+/, "");
}

/** Whether a text has several numbers, such as `3 min 5 s`. */
function isCompound(text: string): boolean {
  return /\d .*\d/.test(text);
}

function amount(bytes: number): string {
  const whole = Math.round(bytes);
  if (whole < 1024) return `${whole} B`;
  let value = whole / 1024;
  let power = 1;
  while (value >= 1023.5 && power + 1 < BINARY.length) {
    value /= 1024;
    power += 1;
  }
  return plain(value).replace(/\.0+$/, "") + (BINARY[power]?.name ?? "");
}

function span(value: number): string {
  if (value < 1e3 && !Number.isInteger(value)) return `${digits(value)} ns`;
  const ns = Math.round(value);
  if (ns < 1e3) return `${ns} ns`;
  if (ns < 1e6) return `${threeDigits(ns / 1e3)} µs`;
  if (ns < 1e9) return `${threeDigits(ns / 1e6)} ms`;
  if (ns < 120e9) return `${threeDigits(ns / 1e9)} s`;
  if (ns < 3600e9) {
    const seconds = Math.floor(ns / 1e9);
    return twoUnits(Math.floor(seconds / 60), "min", seconds % 60, "s");
  }
  const minutes = Math.floor((Math.floor(ns / 1e9) + 30) / 60);
  return twoUnits(Math.floor(minutes / 60), "h", minutes % 60, "min");
}

/** `12 min 3 s`, and `12 min` where nothing of the smaller unit is left. */
function twoUnits(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small > 0 ? `${large} ${largeUnit} ${small} ${smallUnit}` : `${large} ${largeUnit}`;
}

/** The same words, where no line ends between a number and what follows it: `550 MB/s`, `7 others`. */
export function unbroken(words: string): string {
  return words.replace(/(\d) (?=[A-Za-zµ°])/g, "$1\u00a0");
}
