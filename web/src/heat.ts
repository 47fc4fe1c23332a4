/** A matrix of cells as the options of an ECharts heat map. */

import type { EChartsCoreOption } from "echarts/core";

import type { Series } from "./Document";
import { basis, escaped, tooltip } from "./picture";
import type { Look, Palette } from "./picture";
import { endsOf } from "./reduce";
import { fitted, fontOf, SIZE, textOf, widthOf } from "./text";
import { spell, spellBelowHeading } from "./units";

export interface HeatLook extends Look {
  /** The range of the shades; that of the cells without it. */
  range: [number, number] | null;
}

/** A cell in ECharts: column, row, shade, and the value itself. */
type Cell = [number, number, number, number];

/** Pixels above and below the cells, between them and their names, and of a row of cells. */
const TOP = 30;
const BOTTOM = 104;
const BESIDE = 8;
const ROW = 32;
/** Pixels of the scale of shades, and around its texts. */
const SCALE = 120;
const AROUND = 40;
/** A ratio this far from 1 has the strongest shade if none is farther. */
const RATIO_LEAST = 1.25;

/** The columns of a heat map: the categories, and every other position with a cell. */
export function columnsOf({ categories = [], lines, x }: Series): { place: number; name: string }[] {
  const places = new Set([...categories.keys(), ...lines.flatMap(({ points }) => points.map(([at]) => at))]);
  return [...places]
    .sort((one, other) => one - other)
    .map((place) => ({ place, name: categories[place] ?? spell(place, x.unit) }));
}

/** Height of the chart: what its rows need. */
export function heightOf({ lines }: Series): number {
  return TOP + BOTTOM + ROW * Math.min(lines.length, 40);
}

export function heatOf(series: Series, look: HeatLook): EChartsCoreOption {
  const { palette, width } = look;
  const columns = columnsOf(series);
  const [low, high] = shadeEnds(series, look);
  const shadeOf = look.logarithmic && low > 0 ? Math.log10 : (value: number) => value;
  const colors = series.y.unit === "×" ? palette.ratios : palette.amounts;
  const cells = series.lines.flatMap(({ points }, row) =>
    points.map(([x, value]): Cell => [columns.findIndex(({ place }) => place === x), row, shadeOf(value), value]),
  );
  const numbers = cells.map(([, , , value]) => spellBelowHeading(value, series.y.unit));
  const left = widthOf(series.lines.map(({ name }) => name)) + 2 * BESIDE;
  const column = (width - left - BESIDE) / columns.length;
  const right = Math.max(BESIDE, (widthOf(columns.at(-1)?.name ?? "") - column) / 2 + BESIDE);
  const font = SIZE - 1;
  const isWide = column >= widthOf(numbers, fontOf(font)) + 4;
  const scale = [high, low].map((value) => spell(value, series.y.unit));
  const [from, to] = [shadeOf(low), shadeOf(high)];
  const line = { axisLine: { show: false }, axisTick: { show: false }, splitArea: { show: false } };
  return {
    ...basis(palette, { left, right, top: TOP, bottom: BOTTOM }),
    tooltip: {
      ...tooltip(palette),
      trigger: "item",
      formatter: ({ dataIndex }: { dataIndex: number }) => escaped(wordsOf(series, dataIndex)),
    },
    xAxis: {
      ...line,
      type: "category",
      name: series.x.label,
      nameLocation: "middle",
      nameGap: 28,
      nameMoveOverlap: false,
      nameTextStyle: textOf(palette.faint),
      data: columns.map(({ name }) => name),
      axisLabel: { ...textOf(palette.faint), hideOverlap: true },
    },
    yAxis: {
      ...line,
      type: "category",
      inverse: true,
      name: fitted(series.rows ?? "", width - left),
      nameLocation: "start",
      nameGap: 12,
      nameMoveOverlap: false,
      nameTextStyle: { ...textOf(palette.faint), align: "left" },
      data: series.lines.map(({ name }) => name),
      axisLabel: { ...textOf(palette.faint), hideOverlap: true },
    },
    visualMap: {
      type: "continuous",
      dimension: 2,
      min: from,
      max: to,
      orient: "horizontal",
      left: "center",
      bottom: 0,
      itemHeight: Math.min(SCALE, width - scale.reduce((sum, text) => sum + widthOf(text), AROUND)),
      itemWidth: 12,
      text: scale,
      textStyle: textOf(palette.faint),
      inRange: { color: colors },
      hoverLink: false,
    },
    series: [
      {
        type: "heatmap",
        data: cells.map((value, index) => ({
          value,
          label: { color: inkOn((value[2] - from) / (to - from || 1), colors, palette), formatter: numbers[index] },
        })),
        label: { show: isWide, fontSize: font },
        itemStyle: { borderColor: palette.card, borderWidth: 1 },
        emphasis: { itemStyle: { borderColor: palette.ink, borderWidth: 2 } },
        progressive: 0,
      },
    ],
  };
}

/** The range of the shades: a map of ratios has 1 in the middle, any other starts at 0 if it can. */
function shadeEnds(series: Series, { range, logarithmic }: HeatLook): [number, number] {
  const [low, high] = range ?? endsOf(series, "y") ?? [0, 0];
  if (series.y.unit === "×") {
    const most = Math.max(high, low > 0 ? 1 / low : 0, RATIO_LEAST);
    return logarithmic ? [1 / most, most] : [0, 2];
  }
  return logarithmic && low > 0 ? [low, high] : [Math.min(low, 0), high];
}

/** The row and column of a cell, and its words: `queue depth 32, block size 4 KiB: 148 MB/s`. */
export function cellAt(series: Series, index: number): { column: string; row: string; words: string } | null {
  let before = 0;
  for (const { name: row, points } of series.lines) {
    const point = points[index - before];
    if (point) {
      const column = series.categories?.[point[0]] ?? spell(point[0], series.x.unit);
      const places = [`${series.rows ?? ""} ${row}`.trim(), `${series.x.label} ${column}`.trim()];
      return { column, row, words: `${places.join(", ")}: ${spell(point[1], series.y.unit)}` };
    }
    before += points.length;
  }
  return null;
}

export function wordsOf(series: Series, index: number): string {
  return cellAt(series, index)?.words ?? "";
}

/** Light or dark, whichever is easier to read on a color at this position. */
function inkOn(share: number, colors: string[], { ink, card }: Palette): string {
  const at = Math.min(Math.max(share, 0), 1) * (colors.length - 1);
  const [one, other] = [colors[Math.floor(at)] ?? ink, colors[Math.ceil(at)] ?? ink];
  const back = lightness(one) + (at % 1) * (lightness(other) - lightness(one));
  return Math.abs(back - lightness(ink)) > Math.abs(back - lightness(card)) ? ink : card;
}

/** Lightness of a color like `#0b62c4`, from 0 to 1, with the weights of Rec. 709. */
function lightness(color: string): number {
  const part = (from: number) => parseInt(color.slice(from, from + 2), 16) / 255;
  return 0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5);
}
