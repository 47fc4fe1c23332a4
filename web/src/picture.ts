/** A series as the options of an ECharts chart. */

import type { EChartsCoreOption } from "echarts/core";

import type { Axis, Line, Mark, Series } from "./Document";
import { axisUnit, rangeOf, spell, spellRound } from "./units";

export interface Palette {
  ink: string;
  faint: string;
  rule: string;
  card: string;
  lines: string[];
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
  lines: ["#0b62c4", "#c2410c", "#2f7d32", "#8e3aa8", "#8a6d00", "#00767a"],
  amounts: ["#e6f0fa", "#7fb2e5", "#0b4f9e"],
  ratios: ["#b4540a", "#f0a868", "#f3f3f1", "#82b6e8", "#0b62c4"],
};

export const DARK: Palette = {
  ink: "#e4e7ea",
  faint: "#9aa4ae",
  rule: "#30363d",
  card: "#1b1f23",
  lines: ["#6cb0ff", "#ff9a5c", "#78cf7d", "#d79bea", "#e0c04c", "#55cdd1"],
  amounts: ["#1f3145", "#3d7ab8", "#b4d9ff"],
  ratios: ["#ff9a5c", "#8a5636", "#2a3036", "#35618f", "#6cb0ff"],
};

export interface Look {
  palette: Palette;
  /** Whether values are drawn, or shaded, on a logarithmic scale. */
  logarithmic: boolean;
}

/** More marks than this are drawn without text, which the pointer then shows. */
const MARKS_NAMED = 6;
/** Lines with more points have no dots. */
const DOTS_MAX = 60;
/** More points than this are drawn small and transparent, so that crowds are darker. */
const CROWD = 500;
const DASHES = ["solid", "dashed", "dotted"];

/** Whether the values fit a logarithmic scale. */
export function canBeLogarithmic({ lines }: Series): boolean {
  return allAbove0(lines, 1) && lines.every(({ band }) => (band ?? []).every(([, low]) => low > 0));
}

function allAbove0(lines: Line[], along: 0 | 1): boolean {
  return lines.every(({ points }) => points.every((point) => point[along] > 0));
}

/** A wheel without a key and a finger still scroll the page. */
const ZOOM = { type: "inside", zoomOnMouseWheel: "ctrl", preventDefaultMouseMove: false, filterMode: "none" };

/** How one axis is labeled: on a linear one values are drawn in the one unit that suits all of them. */
interface Scaled {
  size: number;
  name: string;
  /** The base of the ticks of a logarithmic axis. */
  base: number | null;
}

export function pictureOf(series: Series, look: Look): EChartsCoreOption {
  const { palette } = look;
  const alongX = series.x.scale === "log" && isNumeric(series) && allAbove0(series.lines, 0);
  const [x, y] = [scaleOf(series, 0, alongX), scaleOf(series, 1, look.logarithmic)];
  const several = series.lines.length > 1;
  const how = { x, y, look };
  return {
    animation: false,
    color: palette.lines,
    textStyle: { fontFamily: "system-ui, sans-serif", color: palette.ink },
    grid: { left: 8, right: 28, top: several ? 62 : 34, bottom: 30, containLabel: true },
    legend: { show: several, top: 0, left: 0, type: "scroll", textStyle: { color: palette.ink } },
    tooltip: {
      ...tooltip(palette),
      trigger: series.shape === "scatter" ? "item" : "axis",
      axisPointer: { type: series.shape === "bars" ? "shadow" : "line" },
      formatter: (hovered: unknown) => tooltipOf(series, hovered),
    },
    dataZoom: isNumeric(series) ? [ZOOM] : [],
    xAxis: xAxis(series, x, palette),
    yAxis: {
      ...axis(series.y, y, palette),
      splitLine: { lineStyle: { color: palette.rule } },
      nameTextStyle: { align: "left", color: palette.faint },
    },
    series: [
      ...series.lines.map((line, index) => drawn(series, line, index, how)),
      ...series.lines.flatMap((line, index) => (line.band ? [bandOf(series, line, index, how)] : [])),
    ],
  };
}

/** The tooltip under the pointer. */
export function tooltip(palette: Palette): object {
  const { card, rule, ink } = palette;
  return { confine: true, backgroundColor: card, borderColor: rule, textStyle: { color: ink } };
}

function isNumeric({ categories }: Series): boolean {
  return (categories ?? []).length === 0;
}

/** The largest value on an axis decides its unit; a logarithmic axis has one at each tick. */
function scaleOf({ lines, x, y }: Series, along: 0 | 1, logarithmic: boolean): Scaled {
  const { unit } = along === 0 ? x : y;
  const values = lines.flatMap(({ points }) => points.map((point) => Math.abs(point[along])));
  const most = values.reduce((most, value) => Math.max(most, value), 0);
  if (!logarithmic) return { ...axisUnit(unit, most), base: null };
  const least = values.reduce((least, value) => Math.min(least, value), most);
  const binary = unit === "bytes" || (along === 0 && values.every((value) => Number.isInteger(Math.log2(value))));
  return { size: 1, name: "", base: binary ? binaryBase(most / least) : 10 };
}

/** ECharts puts a tick at each power of a base as long as there are fewer than ten of them. */
function binaryBase(times: number): number {
  const powers = Math.log2(times);
  return powers <= 7 ? 2 : powers <= 14 ? 4 : powers <= 28 ? 16 : 1024;
}

function xAxis(series: Series, scale: Scaled, palette: Palette): object {
  const shared = { ...axis(series.x, scale, palette), nameLocation: "middle", nameGap: 28, splitLine: { show: false } };
  if (!isNumeric(series)) {
    const axisLabel = { color: palette.faint, interval: 0, hideOverlap: true };
    return { ...shared, type: "category", data: series.categories, axisLabel };
  }
  if (scale.base !== null) return { ...shared, min: "dataMin", max: "dataMax" };
  return { ...shared, ...(series.shape === "bars" ? {} : { min: startOf, max: "dataMax" }) };
}

/** An axis that begins just above 0 begins at 0. */
function startOf({ min, max }: { min: number; max: number }): number {
  return min > 0 && min < 0.05 * max ? 0 : min;
}

function axis({ label, unit }: Axis, { name, base }: Scaled, palette: Palette): object {
  const number = new Intl.NumberFormat("en", { maximumSignificantDigits: 3, useGrouping: "min2" });
  // The ends of a logarithmic axis are not powers, so they have no labels.
  const isRound = (value: number) => {
    const power = base === null ? 0 : Math.log(value) / Math.log(base);
    return Math.abs(power - Math.round(power)) < 1e-6;
  };
  const formatter = (value: number) => (base === null ? number.format(value) + name : spellRound(value, unit));
  return {
    type: base === null ? "value" : "log",
    ...(base === null ? {} : { logBase: base }),
    name: label,
    nameTextStyle: { color: palette.faint },
    axisLabel: {
      color: palette.faint,
      hideOverlap: true,
      formatter: (value: number) => (isRound(value) ? formatter(value) : ""),
    },
    axisLine: { lineStyle: { color: palette.faint } },
  };
}

/** Options that all lines of a chart share. */
interface How {
  x: Scaled;
  y: Scaled;
  look: Look;
}

function drawn(series: Series, { name, points }: Line, index: number, { x, y, look }: How): object {
  const width = isNumeric(series) ? x.size : 1;
  const shape = { line: "line", bars: "bar", scatter: "scatter", heat: "heatmap" }[series.shape];
  const crowded = points.length > CROWD;
  return {
    name,
    type: shape,
    data: points.map(([at, value]) => [at / width, value / y.size]),
    itemStyle: { color: colorOf(index, look), ...(shape === "scatter" && crowded ? { opacity: 0.45 } : {}) },
    ...(shape === "line" ? { showSymbol: points.length <= DOTS_MAX, sampling: "minmax" } : {}),
    ...(shape === "line" ? { lineStyle: { width: 1.6, type: DASHES[index % DASHES.length] } } : {}),
    ...(shape === "scatter" ? { symbolSize: crowded ? 3 : 5, large: points.length > 5000 } : {}),
    ...(shape === "bar" ? { barMaxWidth: 34 } : {}),
    ...(index === 0 ? { markLine: marksOf(series.marks ?? [], width, look.palette) } : {}),
  };
}

function colorOf(index: number, { palette }: Look): string {
  return palette.lines[index % palette.lines.length] ?? palette.ink;
}

/** Arguments of a custom shape in ECharts. */
interface Drawing {
  coord: (at: [number, number]) => [number, number];
}

/** The interval around a line as one area, with the line's name, so that the legend hides both. */
function bandOf(series: Series, { name, band = [] }: Line, index: number, { x, y, look }: How): object {
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
    itemStyle: { color: colorOf(index, look) },
    renderItem: ({ dataIndexInside }: { dataIndexInside: number }, { coord }: Drawing) => {
      // The whole area is drawn with its first point.
      if (dataIndexInside > 0) return null;
      const above = data.map(([at, , high]) => coord([at, high]));
      const below = data.toReversed().map(([at, low]) => coord([at, low]));
      return { type: "polygon", shape: { points: [...above, ...below] }, style: { fill: colorOf(index, look), opacity: 0.16 } };
    },
  };
}

function marksOf(marks: Mark[], width: number, palette: Palette): object {
  const named = marks.length <= MARKS_NAMED;
  return {
    symbol: ["none", "triangle"],
    symbolSize: 7,
    symbolRotate: 180,
    lineStyle: { color: palette.faint, type: "dotted", width: 1, opacity: named ? 1 : 0.5 },
    label: { show: named, formatter: "{b}", color: palette.ink, position: "end" },
    emphasis: { label: { show: true } },
    data: [...together(marks)].map(([x, labels]) => ({ xAxis: x / width, name: labels.join(", ") })),
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
  dataIndex: number;
  name: string;
  marker: string;
}

/** The numbers under the pointer, each in its best unit. */
function tooltipOf(series: Series, hovered: unknown): string {
  const all = (Array.isArray(hovered) ? hovered : [hovered]) as Hovered[];
  const marked = all.find(({ componentType }) => componentType === "markLine");
  if (marked) return escaped(marked.name);
  const [first] = all.map(pointOf);
  if (!first) return "";
  const category = series.categories?.[first[0]];
  const title = category ?? `${series.x.label} ${spell(first[0], series.x.unit)}`;
  const lines = all.flatMap((one) => {
    const line = series.lines[one.seriesIndex];
    const point = pointOf(one);
    if (!line || !point) return [];
    const said = [spell(point[1], series.y.unit), ...intervalOf(series, line, point[0])].join(" ");
    return [`${one.marker} ${escaped(line.name)} <b>${escaped(said)}</b>`];
  });
  const here = (series.marks ?? []).filter(({ x }) => x === first[0]).map(({ label }) => `▼ ${escaped(label)}`);
  return [escaped(title), ...lines, ...here].join("<br>");

  function pointOf({ seriesIndex, dataIndex }: Hovered): [number, number] | undefined {
    return series.lines[seriesIndex]?.points[dataIndex];
  }
}

/** The interval of a line at a position, in parentheses. */
export function intervalOf({ y }: Series, { band = [] }: Line, x: number): string[] {
  return band.filter(([at]) => at === x).map(([, low, high]) => `(${rangeOf(spell(low, y.unit), spell(high, y.unit))})`);
}

/** Text of a document never becomes markup. */
export function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
