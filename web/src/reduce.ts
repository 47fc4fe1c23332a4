/**
 * Fewer points for a picture that looks as if all were drawn: in each column of pixels a line keeps its first, lowest,
 * highest and last point, and a scatter keeps a point of each small cell, so that no outlier is ever left out.
 */

import type { Coordinates, ShownLine, ShownSeries } from "./shown";

/** More points of one line than this are reduced. */
export const POINTS_MAX = 4000;
const BESIDE = 0.1;
/** Pixels of a cell in which a scatter keeps one point. */
const CELL = 3;
const CELL_MOVING = 7;

/** What is drawn of a series: its window on the x axis, and the pixels for it. */
export interface Frame {
  /** None for all of it. */
  window: [number, number] | null;
  width: number;
  height: number;
  logarithmic: { x: boolean; y: boolean };
  /** While it moves, a scatter has larger cells, so that it follows the pointer. */
  isMoving?: boolean;
}

interface Columns extends Coordinates {
  /** From left to right, as a line needs it. */
  isSorted: boolean;
  ends: { x: [number, number]; y: [number, number] };
  /** The lowest and the highest point. */
  extremes: [number, number];
}

type Points = [number, number][];

const known = new WeakMap<Points | Coordinates, Columns>();

function coordinatesOf(points: Points): Coordinates {
  const [x, y] = [new Float64Array(points.length), new Float64Array(points.length)];
  for (let at = 0; at < points.length; at++) [x[at], y[at]] = points[at] as [number, number];
  return { x, y };
}

function columnsOf({ points, coordinates }: ShownLine): Columns {
  const key = coordinates ?? points;
  const before = known.get(key);
  if (before) return before;
  const { x, y } = coordinates ?? coordinatesOf(points);
  const ends: Columns["ends"] = { x: [Infinity, -Infinity], y: [Infinity, -Infinity] };
  const extremes: [number, number] = [0, 0];
  let isSorted = true;
  for (let at = 0; at < x.length; at++) {
    const [px, py] = [x[at] as number, y[at] as number];
    if (at > 0 && px < (x[at - 1] as number)) isSorted = false;
    if (px < ends.x[0]) ends.x[0] = px;
    if (px > ends.x[1]) ends.x[1] = px;
    if (py < ends.y[0]) [ends.y[0], extremes[0]] = [py, at];
    if (py > ends.y[1]) [ends.y[1], extremes[1]] = [py, at];
  }
  const columns = { x, y, isSorted, ends, extremes };
  known.set(key, columns);
  return columns;
}

/** Points as a line holds them: as pairs if all of them are drawn. */
export function pointsOf(coordinates: Coordinates): Pick<ShownLine, "points" | "coordinates"> {
  const { x, y } = coordinates;
  if (x.length > POINTS_MAX) return { points: [], coordinates };
  return { points: Array.from(x, (at, index) => [at, y[index] as number]) };
}

/** How many points a line has, drawn or not. */
export function countOf({ points, coordinates }: ShownLine): number {
  return coordinates?.x.length ?? points.length;
}

/** A point of a line by its place among all of them. */
export function pointAt({ points, coordinates }: ShownLine, at: number): [number, number] | null {
  if (!coordinates) return points[at] ?? null;
  const [x, y] = [coordinates.x[at], coordinates.y[at]];
  return x === undefined || y === undefined ? null : [x, y];
}

/** The ends of all lines of a series along one axis; none of a series without points. */
export function endsOf({ lines }: ShownSeries, along: "x" | "y"): [number, number] | null {
  const ends = lines.filter((line) => countOf(line) > 0).map((line) => columnsOf(line).ends[along]);
  if (ends.length === 0) return null;
  return [Math.min(...ends.map(([low]) => low)), Math.max(...ends.map(([, high]) => high))];
}

/** The lowest and the highest value in a window, with the points beside it that lines come from and go to. */
export function heightsIn({ lines }: ShownSeries, [from, to]: [number, number]): [number, number] | null {
  let [low, high] = [Infinity, -Infinity];
  for (const line of lines) {
    const { x, y, isSorted } = columnsOf(line);
    const start = isSorted ? Math.max(firstAt(x, from) - 1, 0) : 0;
    const end = isSorted ? Math.min(firstAt(x, to, true) + 1, x.length) : x.length;
    for (let at = start; at < end; at++) {
      if (!isSorted && ((x[at] as number) < from || (x[at] as number) > to)) continue;
      const value = y[at] as number;
      if (value < low) low = value;
      if (value > high) high = value;
    }
  }
  return low <= high ? [low, high] : null;
}

/** Whether a frame of the series has fewer points than the series. */
export function isReduced({ lines }: ShownSeries): boolean {
  return lines.some((line) => countOf(line) > POINTS_MAX);
}

/** The series with the points that its frame shows. */
export function reduced(series: ShownSeries, frame: Frame): ShownSeries {
  if (!isReduced(series)) return series;
  const y = endsOf(series, "y") ?? [0, 1];
  return { ...series, lines: series.lines.map((line) => reducedLine(series.shape === "scatter", line, frame, y)) };
}

function reducedLine(isScatter: boolean, line: ShownLine, frame: Frame, y: [number, number]): ShownLine {
  const { points: _points, coordinates: _coordinates, band, ...rest } = line;
  const count = countOf(line);
  if (count <= POINTS_MAX) return line;
  const columns = columnsOf(line);
  const { chosen, weights } =
    isScatter || !columns.isSorted ? cells(columns, frame, y) : columnsOfPixels(columns, frame);
  const ends = band?.length === count ? { band: chosen.map((at) => band[at] as [number, number, number]) } : {};
  return {
    ...rest,
    indices: chosen,
    points: chosen.map((at) => pointAt(line, at) as [number, number]),
    ...ends,
    ...(weights ? { weights } : {}),
  };
}

/** The window, and a share of it on both sides for a picture that moves. */
function spanOf({ ends }: Columns, { window }: Frame): [number, number] {
  if (!window) return ends.x;
  const beside = (window[1] - window[0]) * BESIDE;
  return [Math.max(window[0] - beside, ends.x[0]), Math.min(window[1] + beside, ends.x[1])];
}

function columnsOfPixels(columns: Columns, frame: Frame): { chosen: number[]; weights: null } {
  const { x, y, extremes } = columns;
  const [from, to] = spanOf(columns, frame);
  const [first, end] = [firstAt(x, from), firstAt(x, to, true)];
  const place = placeIn(
    [from, to],
    Math.max(Math.round(frame.width * (frame.window ? 1 + 2 * BESIDE : 1)), 100),
    frame.logarithmic.x,
  );
  // The ends and the extremes of the line keep the scales of the axes.
  const chosen = [...new Set([0, ...extremes, x.length - 1])].filter((at) => at < first || at >= end);
  let at = first;
  while (at < end) {
    const column = place(x[at] as number);
    const start = at;
    let [low, high] = [at, at];
    while (at < end && place(x[at] as number) === column) {
      if ((y[at] as number) < (y[low] as number)) low = at;
      if ((y[at] as number) > (y[high] as number)) high = at;
      at += 1;
    }
    chosen.push(...new Set([start, low, high, at - 1]));
  }
  return { chosen: chosen.sort((one, other) => one - other), weights: null };
}

/** The first index whose value is at least `value`, or above it. */
function firstAt(values: Float64Array, value: number, above = false): number {
  let [low, high] = [0, values.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const here = values[middle] as number;
    if (here < value || (above && here === value)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Which of `count` equal steps between two ends a value is in. */
function placeIn([from, to]: [number, number], count: number, logarithmic: boolean): (value: number) => number {
  const isLog = logarithmic && from > 0;
  const [low, high] = isLog ? [Math.log(from), Math.log(to)] : [from, to];
  const scale = high > low ? count / (high - low) : 0;
  const last = count - 1;
  const inside = (place: number) => (place < 0 ? 0 : place > last ? last : Math.floor(place));
  return isLog ? (value) => inside((Math.log(value) - low) * scale) : (value) => inside((value - low) * scale);
}

/** The points of a scatter in as many strips of the x axis, so that a window need not look at all of them. */
const STRIPS = 4096;

interface Strips {
  /** Where each strip starts in the arrays below; one more than there are strips. */
  starts: Uint32Array;
  order: Uint32Array;
  x: Float64Array;
  y: Float64Array;
}

const strips = new WeakMap<Columns, Strips>();

function stripsOf(columns: Columns): Strips {
  const before = strips.get(columns);
  if (before) return before;
  const { x, ends } = columns;
  const scale = stripScale(columns);
  const starts = new Uint32Array(STRIPS + 1);
  for (let at = 0; at < x.length; at++) {
    const strip = Math.floor(((x[at] as number) - ends.x[0]) * scale) + 1;
    starts[strip] = (starts[strip] as number) + 1;
  }
  for (let strip = 1; strip <= STRIPS; strip++)
    starts[strip] = (starts[strip] as number) + (starts[strip - 1] as number);
  const next = starts.slice();
  const order = new Uint32Array(x.length);
  const [orderedX, orderedY] = [new Float64Array(x.length), new Float64Array(x.length)];
  for (let at = 0; at < x.length; at++) {
    const strip = Math.floor(((x[at] as number) - ends.x[0]) * scale);
    const place = next[strip] as number;
    order[place] = at;
    orderedX[place] = x[at] as number;
    orderedY[place] = columns.y[at] as number;
    next[strip] = place + 1;
  }
  const made = { starts, order, x: orderedX, y: orderedY };
  strips.set(columns, made);
  return made;
}

/** Strips in a unit of the x axis; the last point belongs to the last strip. */
function stripScale({ ends }: Columns): number {
  const wide = ends.x[1] - ends.x[0];
  return wide > 0 ? (STRIPS * (1 - 1e-12)) / wide : 0;
}

const logarithms = new WeakMap<Float64Array, Float64Array>();

/** The logarithms of values, which a frame of a million points has no time to calculate. */
function logarithmsOf(values: Float64Array): Float64Array {
  const before = logarithms.get(values);
  if (before) return before;
  const made = values.map(Math.log);
  logarithms.set(values, made);
  return made;
}

/** The points between two positions, and at most those of a strip beside them; all without a window. */
function pointsBetween(
  columns: Columns,
  from: number,
  to: number,
  isWindow: boolean,
): Omit<Strips, "starts" | "order"> & { order: Uint32Array | null; start: number; end: number } {
  const { x, y, ends } = columns;
  if (!isWindow) return { x, y, order: null, start: 0, end: x.length };
  if (columns.isSorted) return { x, y, order: null, start: firstAt(x, from), end: firstAt(x, to, true) };
  const { starts, ...ordered } = stripsOf(columns);
  const scale = stripScale(columns);
  const stripOf = (at: number) => Math.min(Math.max(Math.floor((at - ends.x[0]) * scale), 0), STRIPS - 1);
  return { ...ordered, start: starts[stripOf(from)] as number, end: starts[stripOf(to) + 1] as number };
}

function cells(columns: Columns, frame: Frame, ends: [number, number]): { chosen: number[]; weights: number[] } {
  const { extremes } = columns;
  const [from, to] = spanOf(columns, frame);
  const size = frame.isMoving ? CELL_MOVING : CELL;
  const across = Math.max(Math.round((frame.width * (frame.window ? 1 + 2 * BESIDE : 1)) / size), 30);
  const up = Math.max(Math.round(frame.height / size), 20);
  const isLog = frame.logarithmic.y && ends[0] > 0;
  const column = placeIn([from, to], across, frame.logarithmic.x);
  const row = placeIn(isLog ? [Math.log(ends[0]), Math.log(ends[1])] : ends, up, false);
  const counts = new Uint32Array(across * up);
  const points = new Uint32Array(across * up);
  const { x, y, order, start, end } = pointsBetween(columns, from, to, frame.window !== null);
  const heights = isLog ? logarithmsOf(y) : y;
  for (let index = start; index < end; index++) {
    const place = x[index] as number;
    if (place < from || place > to) continue;
    const cell = column(place) * up + row(heights[index] as number);
    if (counts[cell] === 0) points[cell] = order ? (order[index] as number) : index;
    counts[cell] = (counts[cell] as number) + 1;
  }
  const [chosen, weights]: [number[], number[]] = [[], []];
  for (let cell = 0; cell < counts.length; cell++) {
    if (counts[cell] === 0) continue;
    chosen.push(points[cell] as number);
    weights.push(counts[cell] as number);
  }
  for (const at of new Set(extremes)) {
    if (chosen.includes(at)) continue;
    chosen.push(at);
    weights.push(1);
  }
  return { chosen, weights };
}
