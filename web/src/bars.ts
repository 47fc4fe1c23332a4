/** Bars from left to right as the options of an ECharts chart: each with its interval, its number and its marks. */

import type { EChartsCoreOption } from "echarts/core";

import { legendOf } from "./labels";
import type { Item, Legend } from "./labels";
import { axis, basis, colorOf, marked, NAME_UNDER, scaleOf, tooltip, tooltipOf } from "./picture";
import type { Look, Palette } from "./picture";
import type { ShownLine, ShownSeries, Tone } from "./shown";
import { fontOf, LINE, linesOf, SIZE, textOf, widthOf } from "./text";
import { spell } from "./units";
import { WORDS } from "./wording";

/** Pixels of a bar, between two rows, above all bars and below them. */
const BAR = 20;
const GAP = 14;
const ABOVE = 6;
const BELOW = NAME_UNDER + LINE;
/** Longer bars, in full bars, are cut and end in an arrow. */
const WHOLES_MAX = 2.5;
/** Narrower pictures break names and numbers into lines. */
const NARROW = 560;

/** The lines that are bars; the others mark them. */
function barred({ lines }: ShownSeries): ShownLine[] {
  return lines.filter(({ isMark }) => !isMark);
}

/** The text at a bar, in a narrow picture in two lines. */
function labelOf({ labels, points }: ShownLine, at: number, unit: string, width: number): string {
  const text = labels?.[at] ?? spell(points[at]?.[1] ?? 0, unit);
  return width < NARROW ? text.replaceAll(" · ", "\n") : text;
}

/** The room for names, bars and numbers. */
interface Layout {
  left: number;
  right: number;
  above: number;
  /** Pixels of a bar, and of all bars of a category with the gap to the next one. */
  thick: number;
  row: number;
  legend: Legend;
  /** The font of the numbers. */
  font: string;
}

function layoutOf(series: ShownSeries, look: Look): Layout {
  const { width, palette } = look;
  const { categories = [], lines, whole, y } = series;
  const isNarrow = width < NARROW;
  const font = fontOf(isNarrow ? SIZE - 1 : SIZE);
  const bars = barred(series);
  const texts = bars.flatMap((line) => line.points.map((_, at) => labelOf(line, at, y.unit, width)));
  const left = Math.min(widthOf(categories) + 16, width * (isNarrow ? 0.3 : 0.32));
  const most = Math.min(widthOf(texts, font) + 16, width * (isNarrow ? 0.42 : 0.4));
  const right = Math.max(most, whole ? widthOf(whole.label) / 2 + 4 : 0);
  const tallest = (counts: number[]) => LINE * Math.max(1, ...counts);
  const thick = Math.max(BAR, tallest(texts.map((text) => linesOf(text, right - 12, font))));
  const names = tallest(categories.map((name) => linesOf(name, left - 12)));
  const keys = [...lines.map((_, index) => keyOf(lines, index, look)), ...toneKeys(lines, look)];
  const legend = legendOf(keys, width, palette.ink);
  const above = ABOVE + legend.height + (whole ? LINE : 0);
  return { left, right, above, thick, row: Math.max(bars.length * thick, names) + GAP, legend, font };
}

/** Height of the chart: what its bars need. */
export function barsHeight(series: ShownSeries, look: Look): number {
  const { above, row } = layoutOf(series, look);
  return above + BELOW + (series.categories ?? []).length * row;
}

/** The second line of one color is lighter than the first. */
const LIGHTER = 0.55;

function opacityOf(lines: ShownLine[], index: number): number {
  const hue = lines[index]?.hue;
  const isSecond = hue !== undefined && lines.slice(0, index).some((line) => line.hue === hue && !isReference(line));
  return isSecond ? LIGHTER : 1;
}

function isReference({ tones }: ShownLine): boolean {
  return tones?.every((tone) => tone === "reference") ?? false;
}

/** The symbol of a line in the legend. */
function keyOf(lines: ShownLine[], index: number, look: Look): Item {
  const line = lines[index] as ShownLine;
  const { name, isMark } = line;
  const color = isMark ? look.palette.ink : isReference(line) ? look.palette.faint : colorOf(lines, index, look);
  const opacity = isMark ? 1 : opacityOf(lines, index);
  return { name, icon: isMark ? "diamond" : "rect", itemStyle: { color, opacity } };
}

/** What the colors of bars mean that are not those of their lines. */
function toneKeys(lines: ShownLine[], { palette }: Look): Item[] {
  const keys: [Tone, Item][] = [
    ["fall", { name: WORDS.slower, icon: "rect", itemStyle: { color: palette.fall } }],
    ["unclear", { name: WORDS.unclear, icon: "rect", itemStyle: { color: palette.unclear } }],
  ];
  return keys.filter(([tone]) => lines.some(({ tones = [] }) => tones.includes(tone))).map(([, key]) => key);
}

/** Arguments of a custom shape in ECharts. */
interface Place {
  dataIndex: number;
  coordSys: { x: number; y: number; width: number; height: number };
}
interface Api {
  coord: (at: [number, number]) => [number, number];
}

export function barsOf(series: ShownSeries, look: Look): EChartsCoreOption {
  const { palette, width } = look;
  const { categories, lines, y, whole } = series;
  const { left, right, above, thick, legend, font } = layoutOf(series, look);
  const bars = barred(series);
  const scale = scaleOf(series, 1, look.logarithmic);
  const longestBar = Math.max(
    whole?.value ?? 0,
    ...lines.flatMap(({ points, band = [] }) => [
      ...points.map(([, value]) => value),
      ...band.map(([, , high]) => high),
    ]),
  );
  // One bar of forty times as much would make all others too short to see.
  const most = whole ? Math.min(longestBar, whole.value * WHOLES_MAX) : longestBar;
  const value = axis({ ...y, label: "" }, scale, palette);
  return {
    ...basis(palette, { left, right, top: above, bottom: BELOW }),
    color: lines.map((_, index) => colorOf(lines, index, look)),
    legend: { ...legend.option, selectedMode: false },
    tooltip: {
      ...tooltip(palette),
      trigger: "axis",
      axisPointer: { type: "shadow" },
      formatter: (hovered: unknown) => tooltipOf(series, hovered),
    },
    xAxis: {
      ...value,
      name: y.label,
      nameLocation: "middle",
      nameGap: NAME_UNDER,
      max: scale.base === null ? (most / scale.size) * 1.02 : undefined,
      splitNumber: width < NARROW ? 2 : 5,
      // The longest bar ends anywhere, and a number there would be no round one.
      axisLabel: { ...value.axisLabel, showMaxLabel: scale.base !== null },
      axisTick: { show: false },
      splitLine: { lineStyle: { color: palette.rule }, showMaxLine: scale.base !== null },
    },
    yAxis: {
      type: "category",
      inverse: true,
      data: categories,
      axisTick: { show: false },
      axisLine: { lineStyle: { color: palette.faint } },
      axisLabel: { ...textOf(palette.ink), interval: 0, width: left - 12, overflow: "break" },
    },
    series: [
      ...lines.map((line, index) => ({
      name: line.name,
      type: "custom",
      data: line.points.map(([at, value]) => [value / scale.size, at]),
      encode: { x: 0, y: 1 },
      z: line.isMark ? 4 : 2,
      renderItem: (place: Place, api: Api) =>
        line.isMark ? markOf(line, place, api) : drawBar(line, bars.indexOf(line), index, place, api),
      ...(index === 0 && whole
        ? {
            markLine: marked(
              [{ x: whole.value / scale.size, label: whole.label, row: 0, align: "center" }],
              palette,
              "start",
            ),
          }
        : {}),
      })),
      // The legend shows no name without a series.
      ...toneKeys(lines, look).map(({ name }) => ({ name, type: "custom", data: [], renderItem: () => null })),
    ],
  };

  function drawBar(
    line: ShownLine,
    place: number,
    index: number,
    { dataIndex, coordSys }: Place,
    api: Api,
  ): object | null {
    const [at, value] = line.points[dataIndex] ?? [0, 0];
    const [, middle] = api.coord([value / scale.size, at]);
    const top = middle + (place - bars.length / 2) * thick;
    const solid = Math.min(thick, BAR) - 3;
    const inside = (x: number) => Math.min(Math.max(x, coordSys.x), coordSys.x + coordSys.width);
    const xOf = (value: number) => inside(api.coord([value / scale.size, at])[0]);
    const start = scale.base === null ? xOf(0) : coordSys.x;
    const end = xOf(value);
    const tone = line.tones?.[dataIndex] ?? "plain";
    const [, low, high] = (line.band ?? []).find(([x]) => x === at) ?? [at, value, value];
    const whisker = low === high ? [] : whiskerOf(xOf(low), xOf(high), top + thick / 2, thick / 5, palette);
    return {
      type: "group",
      children: [
        {
          type: "rect",
          shape: {
            x: Math.min(start, end),
            y: top + (thick - solid) / 2,
            width: Math.max(Math.abs(end - start), 1),
            height: solid,
            r: 2,
          },
          style: { fill: toneColor(tone, index), opacity: tone === "plain" ? opacityOf(lines, index) : 1 },
        },
        ...whisker,
        ...(scale.base === null && value > most * 1.02
          ? [arrowAt(coordSys.x + coordSys.width, top, thick, palette)]
          : []),
        {
          type: "text",
          style: {
            text: labelOf(line, dataIndex, y.unit, width),
            x: coordSys.x + coordSys.width + 8,
            y: top + thick / 2,
            verticalAlign: "middle",
            width: right - 12,
            overflow: "break",
            lineHeight: LINE,
            fill: palette.ink,
            font,
          },
        },
      ],
    };
  }

  /** A clear fall and an unclear change have their own colors, whatever the line. */
  function toneColor(tone: Tone, index: number): string {
    if (tone === "fall") return palette.fall;
    return tone === "plain" ? colorOf(lines, index, look) : tone === "unclear" ? palette.unclear : palette.faint;
  }

  function markOf(line: ShownLine, { dataIndex }: Place, api: Api): object {
    const [at, value] = line.points[dataIndex] ?? [0, 0];
    const [x, middle] = api.coord([value / scale.size, at]);
    const points = [
      [x, middle - 9],
      [x + 5, middle],
      [x, middle + 9],
      [x - 5, middle],
    ];
    return { type: "polygon", shape: { points }, style: { fill: palette.ink, stroke: palette.card, lineWidth: 1.5 } };
  }
}

/** The end of a bar that is longer than the picture. */
function arrowAt(x: number, top: number, thick: number, { card }: Palette): object {
  const middle = top + thick / 2 - 0.5;
  return {
    type: "polyline",
    shape: {
      points: [
        [x - 9, middle - 5],
        [x - 4, middle],
        [x - 9, middle + 5],
      ],
    },
    style: { stroke: card, lineWidth: 2, fill: "none" },
  };
}

/** The interval of a bar: a line with an end on both sides. */
function whiskerOf(low: number, high: number, y: number, half: number, { ink, card }: Palette): object[] {
  const line = (x1: number, y1: number, x2: number, y2: number, stroke: string, lineWidth: number) => ({
    type: "line",
    shape: { x1, y1, x2, y2 },
    style: { stroke, lineWidth },
  });
  const both = (color: string, wide: number) => [
    line(low, y, high, y, color, wide),
    line(low, y - half, low, y + half, color, wide),
    line(high, y - half, high, y + half, color, wide),
  ];
  return [...both(card, 3.5), ...both(ink, 1.3)];
}
