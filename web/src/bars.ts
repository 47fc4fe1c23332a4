/** Bars from left to right as the options of an ECharts chart: each with its interval, its number and its marks. */

import type { EChartsCoreOption } from "echarts/core";

import { legendOf } from "./labels";
import type { Item, Legend } from "./labels";
import { axis, basis, colorOf, logHeights, marked, NAME_UNDER, numberOf, scaleOf, ticksAlong, tooltip, tooltipOf, usualOf } from "./picture";
import type { Api, Look, Palette, Place } from "./picture";
import type { ShownLine, ShownSeries, Tone } from "./shown";
import { brokenInto, fontOf, LINE, SIZE, textOf, widthOf } from "./text";
import { firstFitting, linearTicks } from "./ticks";
import { spell, spellRound } from "./units";
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
function labelOf(series: ShownSeries, line: ShownLine, at: number, width: number): string[] {
  const [x, value] = line.points[at] ?? [0, 0];
  const text = [line.labels?.[at] ?? spell(value, series.y.unit), ...usualOf(series, line, x)].join(" · ");
  return width < NARROW ? text.split(" · ") : [text];
}

/** Its lines in this room, which ECharts would break within words. */
function labelLines(texts: string[], room: number, font: string): string[] {
  return texts.flatMap((text) => brokenInto(text, room, font));
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
  const { categories = [], lines, whole } = series;
  const isNarrow = width < NARROW;
  const font = fontOf(isNarrow ? SIZE - 1 : SIZE);
  const bars = barred(series);
  const labels = bars.flatMap((line) => line.points.map((_, at) => labelOf(series, line, at, width)));
  const left = Math.min(widthOf(categories) + 16, width * (isNarrow ? 0.3 : 0.32));
  const most = Math.min(widthOf(labels.flat(), font) + 16, width * (isNarrow ? 0.42 : 0.4));
  const right = Math.max(most, whole ? widthOf(whole.label) / 2 + 4 : 0);
  const tallest = (counts: number[]) => LINE * Math.max(1, ...counts);
  const thick = Math.max(BAR, tallest(labels.map((texts) => labelLines(texts, right - 12, font).length)));
  const names = tallest(categories.map((name) => brokenInto(name, left - 12).length));
  const keys = [...lines.map((_, index) => keyOf(lines, index, look)), ...extraKeys(lines, look)];
  const legend = legendOf(keys, width, palette.ink);
  const above = ABOVE + legend.height + (whole ? LINE : 0);
  return { left, right, above, thick, row: Math.max(bars.length * thick, names) + GAP, legend, font };
}

/** Height of the chart: what its bars need. */
export function barsHeight(series: ShownSeries, look: Look): number {
  const { above, row } = layoutOf(series, look);
  return above + BELOW + (series.categories ?? []).length * row;
}

/** Further lines of one color are lighter than the first, and a change that is not clear than one that is. */
const LIGHTER = [1, 0.6, 0.3];
const UNCLEAR = 0.45;

function opacityOf(lines: ShownLine[], index: number): number {
  const hue = lines[index]?.hue;
  const before = lines.slice(0, index).filter((line) => hue !== undefined && line.hue === hue && !isReference(line));
  return LIGHTER[before.length] ?? LIGHTER.at(-1) ?? 1;
}

function isReference({ tones }: ShownLine): boolean {
  return tones?.every((tone) => tone === "reference") ?? false;
}

/** Marks in the legend, as they stand at bars. */
const DIAMOND = "path://M0,9L5,0L10,9L5,18Z";
const USUAL = "path://M0,4H10L15,0L20,4H30V6H20L15,10L10,6H0Z";

/** The symbol of a line in the legend. */
function keyOf(lines: ShownLine[], index: number, look: Look): Item {
  const line = lines[index] as ShownLine;
  const { name, isMark } = line;
  const color = isMark ? look.palette.ink : isReference(line) ? look.palette.faint : colorOf(lines, index, look);
  const opacity = isMark ? 1 : opacityOf(lines, index);
  return { name, icon: isMark ? DIAMOND : "rect", itemStyle: { color, opacity } };
}

/** What the colors and marks at bars mean that are not those of their lines. */
function extraKeys(lines: ShownLine[], { palette }: Look): Item[] {
  const keys: [Tone, Item][] = [
    ["fall", { name: WORDS.slower, icon: "rect", itemStyle: { color: palette.fall } }],
    ["unclear", { name: WORDS.unclear, icon: "rect", itemStyle: { color: palette.unclear } }],
  ];
  const isShown = (tone: Tone) => lines.some(({ tones = [], member }) => member === undefined && tones.includes(tone));
  const usual = lines.some(({ usual = [] }) => usual.length > 0)
    ? [{ name: WORDS.usual, icon: USUAL, itemStyle: { color: palette.ink } }]
    : [];
  return [...keys.filter(([tone]) => isShown(tone)).map(([, key]) => key), ...usual];
}

/** The axis along the bars. */
interface Ruler {
  /** The options of the axis. */
  axis: object;
  /** Where a value stands, in the numbers of the axis. */
  at: (value: number) => number;
  /** Where bars begin, and the ends of the axis, as values. */
  start: number;
  ends: [number, number];
}

/** The most powers of ten that are labeled one by one. */
const DECADES_MAX = 4;
/** Ratios that are labeled on both sides of 1, up to the largest that an axis shows; where all have no room, fewer of them. */
const FACTORS: [number, number[][]][] = [
  [1.65, [[1.2, 1.4, 1.6], [1.2], [1.5]]],
  [4.5, [[1.25, 1.5, 2, 3, 4], [1.5, 2, 4], [2, 4], [2], [1.5], [4]]],
  [34, [[2, 4, 8, 16, 32], [4, 16], [2], [4], [16]]],
];
/** An axis of ratios shows at least so much on both sides of 1, and a little more than its longest bar. */
const RATIO_LEAST = 1.25;
const BEYOND = 1.06;
/** Intervals may make the axis this many times as long, in powers; longer ones end in an arrow. */
const LONGER_MAX = 1.5;

/** Half as fast is as far to the left as twice as fast is to the right. */
function ratioRuler(series: ShownSeries, whole: number, look: Look, length: number): Ruler {
  const values = barred(series).flatMap(({ points }) => points.map(([, value]) => value / whole));
  const bands = barred(series).flatMap(({ band = [] }) => band.map(([, low, high]) => [low / whole, high / whole]));
  const longest = Math.max(...values.flatMap((value) => [value, 1 / value]), RATIO_LEAST) ** LONGER_MAX;
  const endOf = (sign: 1 | -1): number => {
    const farthest = Math.max(RATIO_LEAST, ...values.map((value) => value ** sign));
    const ends = bands.flatMap((ends) => ends.map((end = 1) => end ** sign));
    return Math.max(farthest, ...ends.filter((end) => end <= longest)) ** BEYOND * 1.02;
  };
  const ends: [number, number] = [1 / endOf(-1), endOf(1)];
  const most = Math.max(1 / ends[0], ends[1]);
  const decades = Math.ceil(Math.log10(most));
  const step = Math.ceil(decades / DECADES_MAX);
  const powers = Array.from({ length: DECADES_MAX + 1 }, (_, power) => 10 ** ((power + 1) * step));
  const choices = (FACTORS.find(([least]) => most <= least)?.[1] ?? [powers, powers.slice(1, 2), powers.slice(0, 1)]).map((factors) =>
    [...factors.map((factor) => 1 / factor).reverse(), 1, ...factors].filter((tick) => tick >= ends[0] && tick <= ends[1]),
  );
  const at = (value: number) => Math.log10(value / whole);
  // Both sides count from 1: the name of the axis says which one is slower.
  const formatter = (power: number) => spellRound(10 ** Math.abs(power), "×");
  const sizeOf = (tick: number) => widthOf(formatter(Math.log10(tick))) + 8;
  const customValues = (firstFitting(choices, ends, length, sizeOf) ?? [1]).map(Math.log10);
  const { palette } = look;
  return {
    at,
    start: whole,
    ends: [ends[0] * whole, ends[1] * whole],
    axis: {
      type: "value",
      name: WORDS.slowerFaster,
      nameTextStyle: textOf(palette.faint),
      min: Math.log10(ends[0]),
      max: Math.log10(ends[1]),
      axisTick: { show: true, customValues },
      axisLabel: { ...textOf(palette.faint), customValues, formatter, hideOverlap: true },
      splitLine: { lineStyle: { color: palette.rule } },
    },
  };
}

/** From 0, or from the lowest power of a logarithmic axis. */
function plainRuler(series: ShownSeries, look: Look, length: number): Ruler {
  const { lines, y, whole } = series;
  const scale = scaleOf(series, 1, look.logarithmic);
  const longestBar = Math.max(
    whole?.value ?? 0,
    ...lines.flatMap(({ points, band = [], usual = [] }) => [
      ...points.map(([, value]) => value),
      ...band.map(([, , high]) => high),
      ...usual.map(([, , , high]) => high),
    ]),
  );
  // One bar of forty times as much would make all others too short to see.
  const most = (whole ? Math.min(longestBar, whole.value * WHOLES_MAX) : longestBar) * 1.02;
  const { base, size } = scale;
  const [least, end] = base === null ? [0, most / size] : logHeights(series, base);
  const ticks =
    base === null
      ? linearTicks(end, length, (tick) => widthOf(numberOf(scale, y.unit)(tick)) + 10)
      : ticksAlong([least, end], base, length, y.unit);
  return {
    at: (value) => value / size,
    start: base === null ? 0 : -Infinity,
    ends: [-Infinity, base === null ? most : Infinity],
    axis: {
      ...axis(y, scale, look.palette, ticks),
      min: least,
      max: end,
      splitLine: { lineStyle: { color: look.palette.rule } },
    },
  };
}

/** Whether bars are ratios to something, which have no zero. */
export function isRatio({ shape, y, whole }: ShownSeries): boolean {
  return shape === "bars" && y.unit === "×" && whole !== undefined;
}

export function barsOf(series: ShownSeries, look: Look): EChartsCoreOption {
  const { palette, width } = look;
  const { categories, lines, whole } = series;
  const { left, right, above, thick, legend, font } = layoutOf(series, look);
  const bars = barred(series);
  const length = width - left - right;
  const ruler = isRatio(series) ? ratioRuler(series, whole?.value ?? 1, look, length) : plainRuler(series, look, length);
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
    xAxis: { nameLocation: "middle", nameGap: NAME_UNDER, ...ruler.axis },
    yAxis: {
      type: "category",
      inverse: true,
      data: categories,
      axisTick: { show: false },
      axisLine: { show: !isRatio(series), onZero: false, lineStyle: { color: palette.faint } },
      axisLabel: { ...textOf(palette.ink), interval: 0, formatter: (name: string) => brokenInto(name, left - 12).join("\n") },
    },
    series: [
      ...lines.map((line, index) => ({
      name: line.name,
      type: "custom",
      data: line.points.map(([at, value]) => [ruler.at(value), at]),
      encode: { x: 0, y: 1 },
      z: line.isMark ? 4 : 2,
      renderItem: (place: Place, api: Api) =>
        line.isMark ? markOf(line, place, api) : drawBar(line, bars.indexOf(line), index, place, api),
      ...(index === 0 && whole
        ? {
            markLine: marked(
              [{ x: ruler.at(whole.value), label: whole.label, row: 0, align: "center" }],
              palette,
              "start",
            ),
          }
        : {}),
      })),
      // The legend shows no name without a series.
      ...extraKeys(lines, look).map(({ name }) => ({ name, type: "custom", data: [], renderItem: () => null })),
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
    const [, middle] = api.coord([ruler.at(value), at]);
    const top = middle + (place - bars.length / 2) * thick;
    const solid = Math.min(thick, BAR) - 3;
    const [least, most] = ruler.ends;
    const xOf = (value: number): number => {
      if (value <= least) return coordSys.x;
      return value >= most ? coordSys.x + coordSys.width : Math.max(api.coord([ruler.at(value), at])[0], coordSys.x);
    };
    const [start, end] = [xOf(ruler.start), xOf(value)];
    const tone = line.tones?.[dataIndex] ?? "plain";
    const [, low, high] = (line.band ?? []).find(([x]) => x === at) ?? [at, value, value];
    const whisker = { from: xOf(low), to: xOf(high), isCut: [low < least, high > most] as [boolean, boolean] };
    const isUnclear = tone === "unclear" && line.member !== undefined;
    // A tone has one color for all lines.
    const own = tone === "plain" || line.member !== undefined ? opacityOf(lines, index) : 1;
    const text = {
      type: "text",
      style: {
        text: labelLines(labelOf(series, line, dataIndex, width), right - 12, font).join("\n"),
        x: coordSys.x + coordSys.width + 8,
        y: top + thick / 2,
        verticalAlign: "middle",
        lineHeight: LINE,
        fill: palette.ink,
        font,
      },
    };
    if (tone === "absent") return text;
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
          style: { fill: toneColor(line, tone, index), opacity: own * (isUnclear ? UNCLEAR : 1) },
        },
        ...(low === high ? [] : whiskerOf(whisker, top + thick / 2, thick / 5, palette)),
        ...(line.usual ?? []).filter(([x]) => x === at).flatMap(([, low, usual, high]) => usualAt(xOf(low), xOf(usual), xOf(high), top + thick - 2)),
        ...(value > most ? [arrowAt(coordSys.x + coordSys.width, top, thick, palette)] : []),
        text,
      ],
    };
  }

  /** A clear fall and an unclear change have their own colors, unless the color says of which run they are. */
  function toneColor({ member }: ShownLine, tone: Tone, index: number): string {
    if (member !== undefined && tone !== "reference") return colorOf(lines, index, look);
    if (tone === "fall") return palette.fall;
    return tone === "plain" ? colorOf(lines, index, look) : tone === "unclear" ? palette.unclear : palette.faint;
  }

  function markOf(line: ShownLine, { dataIndex }: Place, api: Api): object {
    const [at, value] = line.points[dataIndex] ?? [0, 0];
    const [x, middle] = api.coord([ruler.at(value), at]);
    return diamondAt(x, middle, 9);
  }

  function diamondAt(x: number, y: number, half: number): object {
    const points = [
      [x, y - half],
      [x + 5, y],
      [x, y + half],
      [x - 5, y],
    ];
    return { type: "polygon", shape: { points }, style: { fill: palette.ink, stroke: palette.card, lineWidth: 1.5 } };
  }

  /** The middle of a class, and what most of it reach, along the lower edge of a bar. */
  function usualAt(low: number, middle: number, high: number, y: number): object[] {
    const line = (stroke: string, lineWidth: number) => ({
      type: "polyline",
      shape: { points: [[low, y], [high, y]] },
      style: { stroke, lineWidth, fill: "none" },
    });
    return [line(palette.card, 5), line(palette.ink, 2), diamondAt(middle, y, 5)];
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

interface Whisker {
  from: number;
  to: number;
  /** Whether the interval goes on beyond the left and the right end of the axis. */
  isCut: [boolean, boolean];
}

/** The interval of a bar: a line with a cap on both sides, or an arrow where it goes on. */
function whiskerOf({ from, to, isCut }: Whisker, y: number, half: number, { ink, card }: Palette): object[] {
  const line = (points: [number, number][], stroke: string, lineWidth: number) => ({
    type: "polyline",
    shape: { points },
    style: { stroke, lineWidth, fill: "none" },
  });
  const endOf = (x: number, inwards: 1 | -1, isCut: boolean): [number, number][] => {
    const back = isCut ? x + inwards * half * 1.5 : x;
    return [[back, y - half], [x, y], [back, y + half]];
  };
  const both = (color: string, wide: number) => [
    line([[from, y], [to, y]], color, wide),
    line(endOf(from, 1, isCut[0]), color, wide),
    line(endOf(to, -1, isCut[1]), color, wide),
  ];
  return [...both(card, 3.5), ...both(ink, 1.3)];
}
