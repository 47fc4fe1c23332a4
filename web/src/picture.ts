/** A series as the options of an ECharts picture. */

import type { EChartsCoreOption } from "echarts/core";

import type { Axis, Line, Mark, Series } from "./Document";
import { axisUnit, spell } from "./units";

export interface Palette {
  ink: string;
  faint: string;
  rule: string;
  card: string;
  lines: string[];
}

export const LIGHT: Palette = {
  ink: "#1c2126",
  faint: "#5d6670",
  rule: "#e1e4e8",
  card: "#ffffff",
  lines: ["#0b62c4", "#c2410c", "#2f7d32", "#8e3aa8", "#8a6d00", "#00767a"],
};

export const DARK: Palette = {
  ink: "#e4e7ea",
  faint: "#9aa4ae",
  rule: "#30363d",
  card: "#1b1f23",
  lines: ["#6cb0ff", "#ff9a5c", "#78cf7d", "#d79bea", "#e0c04c", "#55cdd1"],
};

export interface Look {
  palette: Palette;
  logarithmic: boolean;
}

/** More marks than this are pointed at without their words, which the pointer then shows. */
const MARKS_NAMED = 6;
/** Lines with more points are drawn without a dot at each. */
const DOTS_MAX = 60;
const DASHES = ["solid", "dashed", "dotted"];

/** Whether a logarithmic y axis makes sense. */
export function canBeLogarithmic({ lines }: Series): boolean {
  return lines.every(({ points }) => points.every(([, y]) => y > 0));
}

/** A plain wheel and a finger keep scrolling the page. */
const ZOOM = { type: "inside", zoomOnMouseWheel: "ctrl", preventDefaultMouseMove: false, filterMode: "none" };

/** How one axis is labelled: values are drawn in the one unit that suits all of them. */
interface Scaled {
  size: number;
  name: string;
}

export function pictureOf(series: Series, look: Look): EChartsCoreOption {
  const { palette } = look;
  const [x, y] = [scaleOf(series, 0), scaleOf(series, 1)];
  const several = series.lines.length > 1;
  return {
    animation: false,
    color: palette.lines,
    textStyle: { fontFamily: "system-ui, sans-serif", color: palette.ink },
    grid: { left: 8, right: 28, top: several ? 62 : 34, bottom: 30, containLabel: true },
    legend: { show: several, top: 0, left: 0, type: "scroll", textStyle: { color: palette.ink } },
    tooltip: {
      trigger: series.shape === "scatter" ? "item" : "axis",
      axisPointer: { type: series.shape === "bars" ? "shadow" : "line" },
      confine: true,
      backgroundColor: palette.card,
      borderColor: palette.rule,
      textStyle: { color: palette.ink },
      formatter: (hovered: unknown) => tooltipOf(series, hovered),
    },
    dataZoom: isNumeric(series) ? [ZOOM] : [],
    xAxis: xAxis(series, x, palette),
    yAxis: {
      ...axis(series.y, y, palette),
      type: look.logarithmic ? "log" : "value",
      splitLine: { lineStyle: { color: palette.rule } },
      nameTextStyle: { align: "left", color: palette.faint },
    },
    series: series.lines.map((line, index) => drawn(series, line, index, { x, y, look })),
  };
}

function isNumeric({ categories }: Series): boolean {
  return (categories ?? []).length === 0;
}

/** The largest size of a value along an axis decides its unit. */
function scaleOf({ lines, x, y }: Series, along: 0 | 1): Scaled {
  const most = lines.reduce((most, { points }) => points.reduce((m, p) => Math.max(m, Math.abs(p[along])), most), 0);
  return axisUnit(along === 0 ? x.unit : y.unit, most);
}

function xAxis(series: Series, scale: Scaled, palette: Palette): object {
  const shared = { ...axis(series.x, scale, palette), nameLocation: "middle", nameGap: 28 };
  if (!isNumeric(series)) {
    const axisLabel = { color: palette.faint, interval: 0, hideOverlap: true };
    return { ...shared, type: "category", data: series.categories, axisLabel };
  }
  const ends = series.shape === "bars" ? {} : { min: startOf, max: "dataMax" };
  return { ...shared, ...ends, type: "value", splitLine: { show: false } };
}

/** An axis that begins just after nothing begins at nothing. */
function startOf({ min, max }: { min: number; max: number }): number {
  return min > 0 && min < 0.05 * max ? 0 : min;
}

function axis({ label }: Axis, { name }: Scaled, palette: Palette): object {
  const number = new Intl.NumberFormat("en", { maximumSignificantDigits: 3, useGrouping: "min2" });
  return {
    name: label,
    nameTextStyle: { color: palette.faint },
    axisLabel: { color: palette.faint, hideOverlap: true, formatter: (value: number) => number.format(value) + name },
    axisLine: { lineStyle: { color: palette.faint } },
  };
}

function drawn(series: Series, { name, points }: Line, index: number, how: { x: Scaled; y: Scaled; look: Look }): object {
  const { x, y, look } = how;
  const width = isNumeric(series) ? x.size : 1;
  const shape = { line: "line", bars: "bar", scatter: "scatter" }[series.shape];
  return {
    name,
    type: shape,
    data: points.map(([at, value]) => [at / width, value / y.size]),
    ...(shape === "line" ? { showSymbol: points.length <= DOTS_MAX, sampling: "minmax" } : {}),
    ...(shape === "line" ? { lineStyle: { width: 1.6, type: DASHES[index % DASHES.length] } } : {}),
    ...(shape === "scatter" ? { symbolSize: 5, large: points.length > 5000 } : {}),
    ...(shape === "bar" ? { barMaxWidth: 34 } : {}),
    ...(index === 0 ? { markLine: marksOf(series.marks ?? [], width, look.palette) } : {}),
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
    data: marks.map(({ x, label }) => ({ xAxis: x / width, name: label })),
  };
}

interface Hovered {
  componentType: string;
  seriesIndex: number;
  dataIndex: number;
  name: string;
  marker: string;
}

/** The numbers under the pointer, each in its own best unit. */
function tooltipOf(series: Series, hovered: unknown): string {
  const all = (Array.isArray(hovered) ? hovered : [hovered]) as Hovered[];
  const marked = all.find(({ componentType }) => componentType === "markLine");
  if (marked) return escaped(marked.name);
  const [first] = all.map(pointOf);
  if (!first) return "";
  const category = series.categories?.[first[0]];
  const title = category ?? `${series.x.label} ${spell(first[0], series.x.unit)}`;
  const lines = all.flatMap((one) => {
    const point = pointOf(one);
    const name = series.lines[one.seriesIndex]?.name ?? "";
    return point ? [`${one.marker} ${escaped(name)} <b>${escaped(spell(point[1], series.y.unit))}</b>`] : [];
  });
  const here = (series.marks ?? []).filter(({ x }) => x === first[0]).map(({ label }) => `▼ ${escaped(label)}`);
  return [escaped(title), ...lines, ...here].join("<br>");

  function pointOf({ seriesIndex, dataIndex }: Hovered): [number, number] | undefined {
    return series.lines[seriesIndex]?.points[dataIndex];
  }
}

/** Text of a document never becomes markup. */
function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
