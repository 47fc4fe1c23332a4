/** A series as the options of an ECharts chart. */

import { number as numbers } from "echarts/core";
import type { EChartsCoreOption } from "echarts/core";

import type { Axis, Line, Mark, Series } from "./Document";
import { legendOf, rowsOf } from "./labels";
import type { Item, Legend } from "./labels";
import { countOf, endsOf, heightsIn, isReduced, pointAt, POINTS_MAX } from "./reduce";
import type { Frame } from "./reduce";
import { canBeDashed } from "./shown";
import type { ShownLine, ShownSeries } from "./shown";
import { brokenInto, FAMILY, fitted, fontOf, LINE, SIZE, textOf, widthOf } from "./text";
import { logTicks } from "./ticks";
import { axisUnit, DATE, powersAround, rangeOf, spell, spellRound } from "./units";
import { othersWords, usualWords, WORDS } from "./wording";

export interface Palette {
  ink: string;
  faint: string;
  rule: string;
  card: string;
  /** After Okabe and Ito, told apart without color vision, darkened or lightened to 3:1 against the card. */
  lines: string[];
  /** Bars that clearly fell, and those whose change is unclear. */
  fall: string;
  unclear: string;
  /** Cells of a heat map from the lowest to the highest. */
  amounts: string[];
  /** Cells of a map of ratios from much less through equal to much more. */
  ratios: string[];
}

export const LIGHT: Palette = {
  ink: "#1c2126",
  faint: "#5d6670",
  rule: "#e1e4e8",
  card: "#ffffff",
  lines: ["#0072b2", "#d55e00", "#00805c", "#a8487f", "#8a6d00", "#3a4149"],
  fall: "#b3261e",
  unclear: "#8b939b",
  amounts: ["#e6f0fa", "#7fb2e5", "#0b4f9e"],
  ratios: ["#b4540a", "#f0a868", "#f3f3f1", "#82b6e8", "#0b62c4"],
};

export const DARK: Palette = {
  ink: "#e4e7ea",
  faint: "#9aa4ae",
  rule: "#30363d",
  card: "#1b1f23",
  lines: ["#56b4e9", "#e69f00", "#2fc39b", "#e6a0c4", "#f0e442", "#c3cad1"],
  fall: "#ff9187",
  unclear: "#737d87",
  amounts: ["#1f3145", "#3d7ab8", "#b4d9ff"],
  ratios: ["#ff9a5c", "#8a5636", "#2a3036", "#35618f", "#6cb0ff"],
};

export interface Look {
  palette: Palette;
  /** Whether values are drawn, or shaded, on a logarithmic scale. */
  logarithmic: boolean;
  /** Pixels from the left to the right of the chart. */
  width: number;
}

/** More marks than this are drawn as strokes along the x axis, which the pointer and the arrow keys read out. */
const MARKS_NAMED = 6;
/** As many of those in one place are read out. */
const MARKS_READ = 3;
/** Lines with more points have no dots. */
const DOTS_MAX = 60;
/** Lines with more points have a strip below that shows all of them and chooses a part. */
const STRIP_MIN = 60;
/** More points than this are drawn small and transparent, so that crowds are darker. */
const CROWD = 500;
/** More points than this are drawn as one shape. So are fewer of a reduced scatter, which are drawn in each frame. */
const LARGE = 2000;
/** A cell that stands for this many points is part of a crowd. */
const MANY = 8;
const DASHES = ["solid", "dashed", "dotted"];
/** A piece of each of these lines, a dot, a stroke and an area, as keys. */
const DASH_KEYS = [
  "path://M0,0h24v2h-24z",
  "path://M0,0h6v2h-6zM9,0h6v2h-6zM18,0h6v2h-6z",
  "path://M0,0h2v2h-2zM4,0h2v2h-2zM8,0h2v2h-2zM12,0h2v2h-2zM16,0h2v2h-2zM20,0h2v2h-2z",
];
const STROKE_KEY = "path://M0,0h2v10h-2z";
/** Pixels of a stroke. */
const STROKE = { width: 1.5, height: 9 };
/** A zoomed chart shows at least this share of the highest value from bottom to top: less would make noise look like a change. */
const FITTED_MIN = 0.2;
/** Pixels of the drawing from top to bottom, and around it: the same for all charts with short numbers, so that they align. */
export const HEIGHT = 236;
const LEFT = 78;
const RIGHT = 24;
const TOP = 34;
const BOTTOM = 46;
export const STRIP = 40;
/** Pixels between an axis and its numbers. Those below the x axis begin where the lowest one beside the y axis ends. */
const BESIDE = 8;
const UNDER = LINE / 2 + 2;
/** Pixels from the x axis to its name, and from the y axis to its own, which stands above the names of marks. */
export const NAME_UNDER = UNDER + LINE + 2;
const NAME_GAP = 15;
/** The most rows of names of marks. */
const MARK_ROWS = 4;

/** Whether the values fit a logarithmic scale. */
export function canBeLogarithmic(series: Series): boolean {
  const [low] = endsOf(series, "y") ?? [1];
  return low > 0 && series.lines.every(({ band }) => (band ?? []).every(([, low]) => low > 0));
}

/** A wheel without a key and a finger still scroll the page. Every frame follows the pointer. */
const ZOOM = {
  type: "inside",
  zoomOnMouseWheel: "ctrl",
  preventDefaultMouseMove: false,
  filterMode: "none",
  throttle: 16,
};

/** How one axis is labeled: on a linear one values are drawn in the one unit that suits all of them. */
interface Scaled {
  size: number;
  name: string;
  /** The base of a logarithmic axis, whose numbers are powers of it. */
  base: 2 | 10 | null;
}

/** The part of a chart in which its points are drawn, and the size of its values. */
export interface Drawing {
  left: number;
  right: number;
  top: number;
  bottom: number;
  x: Scaled;
  y: Scaled;
  alongX: boolean;
  legend: Legend;
  /** Pixels of the rows of names of marks. */
  marks: number;
  names: Names;
}

/** The names of categories below the x axis, each in the room of its own. */
interface Names {
  lines: string[][];
  size: number;
  /** Pixels of all lines but the first. */
  below: number;
}

/** The layout of a chart, from all of its points. */
export function drawingOf(series: ShownSeries, look: Look): Drawing {
  const alongX = series.x.scale === "log" && isNumeric(series) && (endsOf(series, "x") ?? [0, 0])[0] > 0;
  const [x, y] = [scaleOf(series, 0, alongX), scaleOf(series, 1, look.logarithmic)];
  const marks = series.marks ?? [];
  const rows = marks.length > 0 && marks.length <= MARKS_NAMED ? Math.min(marks.length, MARK_ROWS) : 0;
  const above = rows * LINE;
  const legend = legendOf(keysOf(series, look), look.width, look.palette.ink);
  const left = Math.max(LEFT, widthOf(heightLabels(series, y)) + BESIDE + 6);
  // Nothing stands below the end of an axis of categories.
  const right = isNumeric(series) ? Math.max(RIGHT, beyondOf(series, x, look) + 4) : BESIDE;
  const names = namesOf(series, look.width - left - right);
  return {
    left,
    right,
    top: TOP + legend.height + above,
    bottom: BOTTOM + names.below + (hasStrip(series) ? STRIP : 0),
    names,
    x,
    y,
    alongX,
    legend,
    marks: above,
  };
}

/** In smaller letters where words would be broken otherwise. */
function namesOf({ categories = [] }: ShownSeries, width: number): Names {
  const room = width / Math.max(categories.length, 1) - 2;
  const words = categories.flatMap((name) => name.split(" "));
  const size = widthOf(words) <= room ? SIZE : SIZE - 2;
  const lines = categories.map((name) => brokenInto(name, room, fontOf(size)));
  return { lines, size, below: (Math.max(1, ...lines.map(({ length }) => length)) - 1) * LINE };
}

/** The ends of all intervals. */
function intervalEnds({ lines }: ShownSeries): number[] {
  return lines.flatMap(({ band = [] }) => band.flatMap(([, low, high]) => [low, high]));
}

/** A range with these values in it, of which there may be too many for arguments. */
function widened([low, high]: [number, number], values: number[]): [number, number] {
  return [values.reduce((low, value) => Math.min(low, value), low), values.reduce((high, value) => Math.max(high, value), high)];
}

/** The numbers that ECharts writes beside the y axis. */
function heightLabels(series: ShownSeries, scale: Scaled): string[] {
  const { base, size, name } = scale;
  const [least, most] = series.heights ?? endsOf(series, "y") ?? [0, 0];
  if (base !== null) return ticksUpwards(logHeights(series, base), base).map((tick) => spellRound(tick, series.y.unit));
  const [low, high] = widened([Math.min(least, 0), Math.max(most, 0)], intervalEnds(series));
  const step = numbers.nice((high - low) / size / 5, true) || 1;
  return wholesBetween(low / size / step, high / size / step).map((times) => number(times * step) + name);
}

/** The ticks of a logarithmic axis from the bottom to the top, and from left to right. */
const ticksUpwards = (ends: [number, number], base: 2 | 10): number[] => logTicks(ends, base, HEIGHT, () => LINE + 2);
export const ticksAlong = (ends: [number, number], base: 2 | 10, length: number, unit: string): number[] =>
  logTicks(ends, base, length, (tick) => widthOf(spellRound(tick, unit)) + 10);

/** The powers around the values of a window, or around all of them and their intervals. */
export function logHeights(series: ShownSeries, base: 2 | 10, window: [number, number] | null = null): [number, number] {
  const ends = series.heights ?? (window && heightsIn(series, window)) ?? endsOf(series, "y") ?? [1, base];
  return powersAround(...widened(ends, window ? [] : intervalEnds(series)), base);
}

/** The whole numbers from at most `low` to at least `high`. */
function wholesBetween(low: number, high: number): number[] {
  const first = Math.floor(low);
  return Array.from({ length: Math.ceil(high) - first + 1 }, (_, at) => first + at);
}

/** Pixels by which a text below the x axis can reach beyond its right end. */
function beyondOf(series: ShownSeries, scale: Scaled, { width }: Look): number {
  const { base, size, name } = scale;
  const { x } = series;
  if (x.unit === DATE) return widthOf("2026-12") / 2;
  const [low, high] = endsAlong(series, scale);
  if (base !== null) {
    // The last number may stand at the very end.
    const last = ticksAlong([low, high], base, width - LEFT - RIGHT, x.unit).at(-1);
    return last === undefined ? 0 : widthOf(spellRound(last, x.unit)) / 2;
  }
  // Numbers are longer when a reader has zoomed in.
  return widthOf((isReduced(series) ? EXACT.format((high / size) * (1 - 1e-7)) : number(high / size)) + name) / 2;
}

/** The names above a chart, each with a symbol that looks like what it names. */
function keysOf(series: ShownSeries, look: Look): Item[] {
  const { lines, shape, spans = [], marks = [], mark_name = WORDS.marks } = series;
  const keys = lines.map(({ name }, index): Item => {
    const icon = shape === "scatter" ? "circle" : (DASH_KEYS[DASHES.indexOf(dashOf(series, index))] ?? "rect");
    return { name, icon, itemStyle: { color: colorOf(lines, index, look), opacity: 1 } };
  });
  const { ink, faint } = look.palette;
  if (marks.length > MARKS_NAMED) keys.push({ name: mark_name, icon: STROKE_KEY, itemStyle: { color: ink } });
  if (spans.length > 0) keys.push({ name: WORDS.spans, icon: "rect", itemStyle: { color: faint, opacity: SPAN_OPACITY } });
  return keys;
}

export function hasStrip(series: ShownSeries): boolean {
  return isNumeric(series) && series.lines.some((line) => countOf(line) > STRIP_MIN);
}

/** Height of the chart. */
export function pictureHeight(series: ShownSeries, look: Look): number {
  const { top, bottom } = drawingOf(series, look);
  return HEIGHT + top + bottom;
}

/** All options of a chart; `shown` has the points of its window. */
export function pictureOf(
  series: ShownSeries,
  shown: ShownSeries,
  look: Look,
  drawing: Drawing,
  frame: Frame,
): EChartsCoreOption {
  const { palette } = look;
  const { left, right, top, bottom } = drawing;
  const scatter = series.shape === "scatter";
  return {
    ...basis(palette, { left, right, top, bottom }),
    color: palette.lines,
    legend: drawing.legend.option,
    tooltip: {
      ...tooltip(palette),
      trigger: scatter ? "item" : "axis",
      axisPointer: { type: "line" },
      formatter: (hovered: unknown) => tooltipOf(series, hovered),
    },
    dataZoom: isNumeric(series) ? [ZOOM, ...(hasStrip(series) ? [strip(drawing, palette)] : [])] : [],
    ...frameOf(series, shown, look, drawing, frame),
  };
}

/** What changes with the frame: the axes, which fit what is shown, and the layers. */
export function frameOf(
  series: ShownSeries,
  shown: ShownSeries,
  look: Look,
  drawing: Drawing,
  frame: Frame,
): { xAxis: object; yAxis: object; series: object[] } {
  const { palette, width } = look;
  const heights = heightsOf(series, drawing.y, frame);
  return {
    xAxis: xAxis(series, drawing, palette, frame),
    yAxis: {
      ...axis({ ...series.y, label: fitted(series.y.label, width - drawing.left) }, drawing.y, palette, heights.ticks),
      splitLine: { lineStyle: { color: palette.rule } },
      nameTextStyle: { ...textOf(palette.faint), align: "left" },
      nameGap: NAME_GAP + drawing.marks,
      ...heights,
    },
    series: layersOf(series, shown, look, drawing, frame),
  };
}

interface Heights {
  min: number | null;
  max: number | null;
  ticks?: number[];
}

/** Round ends of the y axis around what a window shows; of all of it, ECharts finds those of a linear one. */
function heightsOf(series: ShownSeries, { base, size }: Scaled, { window }: Frame): Heights {
  if (base !== null) {
    const [min, max] = logHeights(series, base, window);
    return { min, max, ticks: ticksUpwards([min, max], base) };
  }
  if (series.heights) {
    const most = series.heights[1] / size;
    const step = 10 ** Math.floor(Math.log10(most));
    return { min: 0, max: Math.ceil(most / step) * step };
  }
  const [low, high] = (window && heightsIn(series, window)) ?? [0, 0];
  if (!(low < high || low > 0)) return { min: null, max: null };
  const [middle, around] = [(low + high) / 2, Math.max(high - low, FITTED_MIN * high) * 0.55];
  const step = numbers.nice((2 * around) / 5 / size, true);
  const from = middle - around < 0.3 * high ? 0 : middle - around;
  return { min: Math.floor(from / size / step) * step, max: Math.ceil((middle + around) / size / step) * step };
}

/** What all charts have. The pixels around the drawing are measured, and ECharts does not change them. */
export function basis(palette: Palette, around: { left: number; right: number; top: number; bottom: number }): object {
  return {
    animation: false,
    useUTC: true,
    textStyle: { fontFamily: FAMILY, fontSize: SIZE, color: palette.ink },
    grid: { ...around, outerBoundsMode: "none" },
  };
}

/** The strip below a chart, without a curve, which would make noise as high as a change: its handles and a drag across it choose what is shown. */
function strip({ left, right }: Drawing, palette: Palette): object {
  return {
    type: "slider",
    left,
    right,
    bottom: 8,
    height: 24,
    throttle: 16,
    filterMode: "none",
    showDetail: false,
    showDataShadow: false,
    brushSelect: true,
    borderColor: palette.rule,
    fillerColor: `${palette.faint}30`,
    handleStyle: { color: palette.card, borderColor: palette.faint },
    moveHandleSize: 5,
    moveHandleStyle: { color: palette.faint, opacity: 0.5 },
    emphasis: { moveHandleStyle: { color: palette.faint, opacity: 0.9 } },
  };
}

/** The layers of a chart for one frame: lines, intervals, levels and marks, always as many and in this order. */
export function layersOf(
  series: ShownSeries,
  shown: ShownSeries,
  look: Look,
  drawing: Drawing,
  frame: Frame,
): object[] {
  const how = { x: drawing.x, y: drawing.y, look, lines: series.lines };
  return [
    ...shown.lines.map((line, index) => drawn(series, line, index, how, marksIn(series, drawing, frame))),
    ...shown.lines.flatMap((line, index) => (line.band ? [bandOf(series, line, index, how)] : [])),
    ...shown.lines.flatMap((line, index) => (line.levels ? [levelsOf(line, index, how)] : [])),
    ...shown.lines.flatMap((line, index) => (line.weights ? [crowdOf(line, index, how)] : [])),
    ...(isMarkedByStrokes(series) ? [strokes(series, how)] : []),
    ...((series.spans ?? []).length > 0 ? [spansOf(series, drawing.x.size, look.palette)] : []),
  ];
}

/** The tooltip under the pointer. */
export function tooltip(palette: Palette): object {
  const { card, rule, ink } = palette;
  // On a narrow page the text breaks into lines; it would be wider than its chart otherwise.
  const extraCssText = "white-space: normal; overflow-wrap: anywhere;";
  return { confine: true, backgroundColor: card, borderColor: rule, textStyle: { color: ink }, extraCssText };
}

function isNumeric({ categories }: Series): boolean {
  return (categories ?? []).length === 0;
}

/** The largest value on an axis decides its unit; a logarithmic axis has one at each tick. */
export function scaleOf(series: ShownSeries, along: 0 | 1, logarithmic: boolean): Scaled {
  const { unit } = along === 0 ? series.x : series.y;
  const [least, most] = endsOf(series, along === 0 ? "x" : "y") ?? [0, 0];
  if (!logarithmic) return { ...axisUnit(unit, Math.max(Math.abs(least), Math.abs(most))), base: null };
  const isPower = (value: number) => Number.isInteger(Math.log2(value));
  const powers = () => along === 0 && series.lines.every(({ points }) => points.every(([x]) => isPower(x)));
  return { size: 1, name: "", base: unit === "bytes" || powers() ? 2 : 10 };
}

/** Pixels of a number below the x axis with what is around it. */
const TICK = 72;

/** The ends of the x axis, from all points, so that a window of them keeps its place. */
function endsAlong(series: ShownSeries, { base }: Scaled): [number, number] {
  const [low, high] = series.ends ?? series.x.ends ?? endsOf(series, "x") ?? [0, 1];
  const isNearZero = base === null && series.x.unit !== DATE && low > 0 && low < 0.05 * high;
  return [isNearZero ? 0 : low, high];
}

function xAxis(series: ShownSeries, { x: scale, names }: Drawing, palette: Palette, { window, width }: Frame): object {
  const { base } = scale;
  const [start, high] = isNumeric(series) ? endsAlong(series, scale) : [0, 1];
  const [from, to] = window ?? [start, high];
  const ticks = base === null ? undefined : ticksAlong([from, to], base, width, series.x.unit);
  const { axisLabel: label, ...rest } = axis(series.x, scale, palette, ticks);
  const below = { ...label, margin: UNDER };
  const shared = { ...rest, axisLabel: below, nameLocation: "middle", nameGap: NAME_UNDER, splitLine: { show: false } };
  if (!isNumeric(series)) {
    const formatter = (_: string, at: number) => names.lines[at]?.join("\n") ?? "";
    const axisLabel = { ...below, interval: 0, hideOverlap: false, fontSize: names.size, verticalAlign: "top", margin: UNDER - LINE / 2, formatter };
    return { ...shared, nameGap: NAME_UNDER + names.below, type: "category", data: series.categories, axisLabel };
  }
  if (series.x.unit === DATE) {
    const axisLabel = { ...below, formatter: DATES };
    return { ...shared, type: "time", axisLabel, min: start, max: high };
  }
  // Passes and files are counted: there is none between two.
  const steps = series.x.unit === "" && base === null ? { minInterval: 1 } : {};
  // As many numbers as have room, so that none of them is left out between others.
  const splitNumber = Math.min(Math.max(Math.floor(width / TICK), 2), 5);
  const step = numbers.nice((to - from) / scale.size / splitNumber, true) || 1;
  // Where a reader has zoomed in far, three digits do not tell the ticks apart. The ends of the axis are no ticks.
  const formatter = (value: number) => (isMultiple(value, step) ? EXACT.format(roundTo(value, step)) + scale.name : "");
  const labels = base === null ? { axisLabel: { ...below, formatter }, splitNumber } : {};
  return { ...shared, ...steps, ...labels, min: start / scale.size, max: high / scale.size };
}

function isMultiple(value: number, step: number): boolean {
  return Math.abs(value / step - Math.round(value / step)) < 1e-6;
}

function roundTo(value: number, step: number): number {
  return Math.round(value / step) * step;
}

/** The labels of an axis of dates, each as short as the one before it allows. */
const DATES = {
  year: "{yyyy}",
  month: "{yyyy}-{MM}",
  day: "{MM}-{dd}",
  hour: "{HH}:{mm}",
  minute: "{HH}:{mm}",
  second: "{HH}:{mm}:{ss}",
  millisecond: "{HH}:{mm}:{ss}",
};

const NUMBER = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });

const EXACT = new Intl.NumberFormat("en", { maximumSignificantDigits: 9 });

function number(value: number): string {
  return NUMBER.format(value);
}

/** What stands at a tick. */
export function numberOf({ name, base }: Scaled, unit: string): (tick: number) => string {
  return (tick) => (base === null ? number(tick) + name : spellRound(tick, unit));
}

/** An axis with these numbers; ECharts chooses those of a linear one where none are given. */
export function axis(
  { label, unit }: Axis,
  scale: Scaled,
  palette: Palette,
  customValues?: number[],
): { axisLabel: object; [key: string]: unknown } {
  const { base } = scale;
  return {
    type: base === null ? "value" : "log",
    ...(base === null ? {} : { logBase: base }),
    name: label,
    nameTextStyle: textOf(palette.faint),
    nameMoveOverlap: false,
    axisLabel: {
      ...textOf(palette.faint),
      margin: BESIDE,
      hideOverlap: true,
      customValues,
      formatter: numberOf(scale, unit),
    },
    axisTick: { customValues },
    axisLine: { lineStyle: { color: palette.faint } },
  };
}

/** Options that all lines of a chart share. */
interface How {
  x: Scaled;
  y: Scaled;
  look: Look;
  lines: ShownLine[];
}

function drawn(
  series: ShownSeries,
  { name, points, weights, indices }: ShownLine,
  index: number,
  { x, y, look, lines }: How,
  marks: NamedMark[],
): object {
  const width = isNumeric(series) ? x.size : 1;
  const scatter = series.shape === "scatter";
  const crowded = weights !== undefined || points.length > CROWD;
  const color = colorOf(lines, index, look);
  const data = indices
    ? packed(points, indices, width, y.size)
    : points.map(([at, value]) => [at / width, value / y.size]);
  return {
    name,
    type: scatter ? "scatter" : "line",
    data,
    dimensions: indices ? ["x", "y", "index"] : ["x", "y"],
    encode: { x: 0, y: 1 },
    itemStyle: { color, ...(scatter && crowded ? { opacity: weights ? 0.55 : 0.45 } : {}) },
    ...(scatter
      ? {}
      : {
          showSymbol: points.length <= DOTS_MAX,
          symbolSize: 5,
          lineStyle: { width: indices ? 1 : 1.6, type: dashOf(series, index) },
        }),
    ...(scatter ? { symbolSize: crowded ? 3 : 5, large: weights !== undefined || points.length > LARGE, largeThreshold: 0 } : {}),
    ...(index === 0 && marks.length > 0 ? { markLine: marked(marks, look.palette) } : {}),
  };
}

/** The points of a reduced line and which ones of their document they are, in the form that is drawn fastest. */
function packed(points: [number, number][], indices: number[], width: number, height: number): Float64Array {
  const data = new Float64Array(points.length * 3);
  points.forEach(([x, y], at) => {
    data[at * 3] = x / width;
    data[at * 3 + 1] = y / height;
    data[at * 3 + 2] = indices[at] ?? at;
  });
  return data;
}

/** Cells that stand for many points of a scatter are darker. */
function crowdOf({ name, points, weights = [] }: ShownLine, index: number, { x, y, look, lines }: How): object {
  const many = points.filter((_, at) => (weights[at] ?? 0) >= MANY);
  const data = packed(many, [], x.size, y.size);
  const itemStyle = { color: colorOf(lines, index, look) };
  return {
    name,
    type: "scatter",
    data,
    dimensions: ["x", "y", "index"],
    encode: { x: 0, y: 1 },
    symbolSize: 3,
    // ECharts cannot draw no points as one shape.
    large: data.length > 0,
    largeThreshold: 0,
    silent: true,
    itemStyle,
    tooltip: { show: false },
    z: 3,
  };
}

export function colorOf(lines: ShownLine[], index: number, { palette }: Look): string {
  return palette.lines[(lines[index]?.hue ?? index) % palette.lines.length] ?? palette.ink;
}

function dashOf(series: ShownSeries, index: number): string {
  return (canBeDashed(series) && DASHES[(series.lines[index]?.dash ?? index) % DASHES.length]) || "solid";
}

const SPAN_OPACITY = 0.25;

/** The intervals in which knees are, as areas with a name. */
function spansOf({ spans = [] }: ShownSeries, width: number, palette: Palette): object {
  const markArea = {
    silent: true,
    itemStyle: { color: palette.faint, opacity: SPAN_OPACITY },
    data: spans.map(([from, to]) => [{ xAxis: from / width }, { xAxis: to / width }]),
  };
  return { name: WORDS.spans, type: "line", data: [], markArea };
}

/** Arguments of a custom shape in ECharts. */
export interface Api {
  coord: (at: [number, number]) => [number, number];
}
export interface Place {
  dataIndex: number;
  dataIndexInside: number;
  coordSys: { x: number; y: number; width: number; height: number };
}

/** The interval around a line as one area, with the line's name, so that the legend hides both. */
function bandOf(
  series: ShownSeries,
  { name, band = [] }: ShownLine,
  index: number,
  { x, y, look, lines }: How,
): object {
  const width = isNumeric(series) ? x.size : 1;
  const data = band.map(([at, low, high]): [number, number, number] => [at / width, low / y.size, high / y.size]);
  return {
    name,
    type: "custom",
    data,
    encode: { x: 0, y: [1, 2] },
    clip: true,
    silent: true,
    tooltip: { show: false },
    z: 1,
    itemStyle: { color: colorOf(lines, index, look) },
    renderItem: ({ dataIndexInside }: Place, { coord }: Api) => {
      // The whole area is drawn with its first point.
      if (dataIndexInside > 0) return null;
      const above = data.map(([at, , high]) => coord([at, high]));
      const below = data.toReversed().map(([at, low]) => coord([at, low]));
      return {
        type: "polygon",
        shape: { points: [...above, ...below] },
        style: { fill: colorOf(lines, index, look), opacity: 0.16 },
      };
    },
  };
}

/** The levels between knees, as thick lines behind the line itself. */
function levelsOf({ name, levels = [] }: ShownLine, index: number, { x, y, look, lines }: How): object {
  const data = levels.flatMap(({ from, to, value }) => [
    [from / x.size, value / y.size],
    [to / x.size, value / y.size],
    [null, null],
  ]);
  const lineStyle = { width: 7, opacity: 0.3, color: colorOf(lines, index, look), cap: "round" };
  return {
    name,
    type: "line",
    data,
    symbol: "none",
    silent: true,
    connectNulls: false,
    lineStyle,
    itemStyle: { color: lineStyle.color },
    tooltip: { show: false },
    z: 1,
  };
}

/** A mark with its name in a row above the drawing; without a row it has no name. */
export interface NamedMark {
  x: number;
  label: string;
  row: number | null;
  align: "left" | "center" | "right";
}

function isMarkedByStrokes({ marks = [] }: ShownSeries): boolean {
  return marks.length > MARKS_NAMED;
}

/** The marks in the frame, named as far as their names do not cover each other. */
export function marksIn(series: ShownSeries, { x, alongX }: Drawing, { window, width }: Frame): NamedMark[] {
  if (isMarkedByStrokes(series)) return [];
  const size = isNumeric(series) ? x.size : 1;
  const [from, to] =
    window ?? (isNumeric(series) ? endsAlong(series, x) : [0, Math.max((series.categories ?? []).length - 1, 1)]);
  const place = (at: number) =>
    (alongX ? Math.log(at / from) / Math.log(to / from) : (at - from) / (to - from)) * width;
  const texts = [...together(series.marks ?? [])].map(([at, labels]) => ({
    mark: at,
    at: place(at),
    text: labels.join(", "),
  }));
  const rows = rowsOf(texts, width, MARK_ROWS);
  return texts.map(({ mark, text }, index) => ({
    x: mark / size,
    label: text,
    row: rows[index]?.row ?? null,
    align: rows[index]?.align ?? "center",
  }));
}

/** Marks as lines; a vertical axis that begins at the top has its start there. */
export function marked(marks: NamedMark[], palette: Palette, position: "start" | "end" = "end"): object {
  return {
    symbol: position === "end" ? ["none", "triangle"] : "none",
    symbolSize: 7,
    animation: false,
    symbolRotate: 180,
    lineStyle: { color: palette.faint, type: "dotted", width: 1 },
    label: { ...textOf(palette.ink), position, formatter: "{b}" },
    data: marks.map(({ x, label, row, align }) => ({
      xAxis: x,
      name: label,
      label: { show: row !== null, distance: 6 + (row ?? 0) * LINE, align },
    })),
  };
}

/** Many marks: a stroke for each, upright on the x axis, so that none hides a line. */
function strokes({ marks = [], mark_name = WORDS.marks }: ShownSeries, { x, look }: How): object {
  const { width, height } = STROKE;
  return {
    name: mark_name,
    type: "custom",
    data: marks.map((mark) => [mark.x / x.size, 0]),
    // The y axis does not follow them.
    encode: { x: 0, y: [] },
    silent: true,
    tooltip: { show: false },
    z: 5,
    itemStyle: { color: look.palette.ink },
    renderItem: ({ dataIndex, coordSys }: Place, { coord }: Api) => {
      const [at] = coord([(marks[dataIndex]?.x ?? 0) / x.size, 0]);
      const shape = { x: at - width / 2, y: coordSys.y + coordSys.height - height, width, height };
      return { type: "rect", shape, style: { fill: look.palette.ink, opacity: 0.6 } };
    },
  };
}

/** The text at each position: several documents may mark the same one. */
function together(marks: Mark[]): Map<number, string[]> {
  const places = new Map<number, string[]>();
  for (const { x, label } of marks) places.set(x, [...(places.get(x) ?? []), label]);
  return places;
}

interface Hovered {
  componentType: string;
  seriesIndex: number;
  seriesName: string;
  seriesType: string;
  dataIndex: number;
  name: string;
  color: string;
  value?: unknown;
}

/** The numbers under the pointer, each in its best unit. */
export function tooltipOf(series: ShownSeries, hovered: unknown): string {
  const all = (Array.isArray(hovered) ? hovered : [hovered]) as Hovered[];
  const mark = all.find(({ componentType }) => componentType === "markLine");
  if (mark) return escaped(mark.name);
  const shown = all.flatMap((one) => {
    const line = series.lines[one.seriesIndex];
    const point = line ? pointOf(line, one) : null;
    return line && point ? [{ line, point, color: one.color }] : [];
  });
  const [first] = shown;
  if (!first) return escaped(all[0]?.name ?? "");
  const lines = shown.map(({ line, point, color }) => {
    const { value, remark } = pointWords(series, line, point);
    return `${dot(color)} ${escaped(line.name)} <b>${escaped(value)}</b>${escaped(remark)}`;
  });
  const here = marksAt(series, first.line, first.point).map(escaped);
  return [...placeWords(series, first.point[0]).map(escaped), ...lines, ...here].join("<br>");
}

/** The marks of a point: those at its position, or, where they are many, those since the point before. */
export function marksAt(series: ShownSeries, { points }: ShownLine, point: [number, number]): string[] {
  const { marks = [] } = series;
  const before = points[points.indexOf(point) - 1]?.[0] ?? -Infinity;
  const isSince = (x: number) => x > before && x <= point[0];
  const here = marks.filter(({ x }) => (isMarkedByStrokes(series) ? isSince(x) : x === point[0]));
  const named = here.slice(0, MARKS_READ).map(({ label }) => `▼ ${label}`);
  return here.length > named.length ? [...named, othersWords(here.length - named.length)] : named;
}

/** Where on the x axis a point is, and what else is known of all points there. */
export function placeWords({ categories, x, notes, spelled }: ShownSeries, at: number): string[] {
  const spelledAt = spelled?.x?.(at) ?? spell(at, x.unit);
  const place = categories?.[at] ?? (x.unit === DATE ? spelledAt : `${x.label} ${spelledAt}`);
  const note = notes?.get(at);
  return note === undefined ? [place] : [place, note];
}

/** The value of a point with its interval, and what its line says about it beside that; the text at a bar is its value. */
export function pointWords(
  series: ShownSeries,
  line: ShownLine,
  point: [number, number],
): { value: string; remark: string } {
  const label = line.labels?.[line.points.indexOf(point)];
  const isBar = series.shape === "bars";
  const value = isBar && label !== undefined ? label : (series.spelled?.y?.(point[1]) ?? spell(point[1], series.y.unit));
  const others = isBar ? usualOf(series, line, point[0]) : label === undefined ? [] : [label];
  const remark = others.map((other) => ` · ${other}`).join("");
  return { value: [value, ...intervalOf(series, line, point[0])].join(" "), remark };
}

/** A dot without a style of its own, which the policy of the served page would refuse. */
function dot(color: string): string {
  return `<svg width="10" height="10" aria-hidden="true"><circle cx="5" cy="5" r="5" fill="${escaped(color)}"/></svg>`;
}

/** The point under the pointer; a reduced line says which one of its document it is. */
function pointOf(line: ShownLine, { dataIndex, value }: Hovered): [number, number] | null {
  const isPart = line.coordinates !== undefined || line.points.length > POINTS_MAX;
  return pointAt(line, isPart && typeof value === "object" ? Number((value as number[])[2]) : dataIndex);
}

/** The normal range at a position, if that is known. */
export function usualOf({ y }: Series, { usual = [] }: ShownLine, x: number): string[] {
  return usual.filter(([at]) => at === x).map(([, low, , high]) => usualWords(rangeOf(spell(low, y.unit), spell(high, y.unit))));
}

/** The interval of a line at a position, in parentheses. */
export function intervalOf({ y }: Series, { band = [] }: Line, x: number): string[] {
  return band
    .filter(([at]) => at === x)
    .map(([, low, high]) => `(${rangeOf(spell(low, y.unit), spell(high, y.unit))})`);
}

/** Text of a document never becomes markup. */
export function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
