/** What a chart shows, in words and as a table. */

import { columnsOf, wordsOf } from "./heat";
import { pointWords, usualOf } from "./picture";
import type { ShownLine, ShownSeries } from "./shown";
import { endsOf } from "./reduce";
import { MISSING, plainHeading } from "./Table";
import type { Cell, Table } from "./Table";
import { DATE, rangeOf, spell } from "./units";
import { atWords, barsWords, cellsWords, lineWords, marksWords, onWords, othersWords, pointsWords } from "./wording";

/** As many lines, categories and marks are put into words. */
const LINES = 4;
const CATEGORIES = 8;
const MARKS = 4;

/** The main numbers of a chart as sentences. */
export function altOf(series: ShownSeries): string {
  if (series.alt !== undefined) return series.alt;
  if (series.shape === "heat") return heatAlt(series);
  const parts = series.shape === "bars" ? categoriesAlt(series) : linesAlt(series);
  const marks = series.marks ?? [];
  const named = marks.slice(0, MARKS).map(({ x, label }) => placed(series, label, x));
  return [...parts, ...(marks.length > 0 ? [marksWords(named, marks.length - named.length)] : [])].join(" ");
}

function placeOf({ categories, x }: ShownSeries, at: number): string {
  return categories?.[at] ?? spell(at, x.unit);
}

/** A text and its position. */
function placed(series: ShownSeries, text: string, at: number): string {
  const place = placeOf(series, at);
  return series.x.unit === DATE ? onWords(text, place) : atWords(text, series.x.label, place);
}

function linesAlt(series: ShownSeries): string[] {
  const lines = series.lines.filter(({ points }) => points.length > 0);
  const { label, unit } = series.y;
  const words = lines.slice(0, LINES).map((line) => {
    const [low, high] = endsOf({ ...series, lines: [line] }, "y") ?? [0, 0];
    const range = `${unit === "" ? `${label}: ` : ""}${rangeOf(spell(low, unit), spell(high, unit))}`;
    const [first, last] = [line.points[0], line.points.at(-1)];
    if (series.shape === "scatter" || !first || !last)
      return pointsWords(line.name, spell(line.points.length, ""), range);
    const at = ([x, y]: [number, number]) => placed(series, spell(y, unit), x);
    return lineWords(line.name, range, at(first), at(last));
  });
  return lines.length > LINES ? [...words, othersWords(lines.length - LINES)] : words;
}

function categoriesAlt(series: ShownSeries): string[] {
  const { categories = [], lines, y } = series;
  const words = categories.slice(0, CATEGORIES).map((category, at) => {
    const bars = lines.flatMap((line) => {
      const index = line.points.findIndex(([x]) => x === at);
      return index < 0 ? [] : [[`${line.name} ${line.labels?.[index] ?? spell(line.points[index]?.[1] ?? 0, y.unit)}`, ...usualOf(series, line, at)].join(", ")];
    });
    return barsWords(category, bars);
  });
  return categories.length > CATEGORIES ? [...words, othersWords(categories.length - CATEGORIES)] : words;
}

function heatAlt(series: ShownSeries): string {
  const values = series.lines.flatMap(({ points }) => points.map(([, value]) => value));
  if (values.length === 0) return "";
  const indexOf = (best: (one: number, other: number) => boolean) =>
    values.reduce((found, value, index) => (best(value, values[found] ?? value) ? index : found), 0);
  const [highest, lowest] = [indexOf((one, other) => one > other), indexOf((one, other) => one < other)];
  return cellsWords(wordsOf(series, highest), wordsOf(series, lowest));
}

/** The numbers of a chart as a table: a row for each position, a column for each line. */
export function seriesTable(series: ShownSeries): Table {
  if (series.table) return series.table.rows();
  if (series.shape === "heat") return heatTable(series);
  const positions = [...new Set(series.lines.flatMap(({ points }) => points.map(([x]) => x)))].sort(
    (one, other) => one - other,
  );
  // Several points may have the same position: a scatter has a row for each of them.
  const isCrowded = series.lines.some(({ points }) => new Set(points.map(([x]) => x)).size < points.length);
  const headings = [
    plainHeading(series.x.label || "position", "x", { number: !series.categories }),
    ...series.lines.map(({ name }, at) => plainHeading(name, name, { number: true, group: at + 1 })),
  ];
  if (isCrowded) {
    const rows = series.lines.flatMap((line, place) =>
      line.points.map((point) => [
        positionCell(series, point[0]),
        ...series.lines.map((_, at) => (at === place ? valueCell(series, line, point) : MISSING)),
      ]),
    );
    return { title: series.title, headings, rows };
  }
  const lines = series.lines.map((line) => ({ line, at: new Map(line.points.map((point) => [point[0], point])) }));
  const rows = positions.map((x) => [
    positionCell(series, x),
    ...lines.map(({ line, at }) => {
      const point = at.get(x);
      return point ? valueCell(series, line, point) : MISSING;
    }),
  ]);
  return { title: series.title, headings, rows };
}

function positionCell(series: ShownSeries, x: number): Cell {
  return { text: placeOf(series, x), value: series.categories?.[x] ?? x };
}

function valueCell(series: ShownSeries, line: ShownLine, point: [number, number]): Cell {
  if (line.points.length > 5000) return { text: spell(point[1], series.y.unit), value: point[1] };
  const { value, remark } = pointWords(series, line, point);
  return { text: value + remark, value: point[1] };
}

function heatTable(series: ShownSeries): Table {
  const columns = columnsOf(series);
  const headings = [
    plainHeading(series.rows ?? "", "row"),
    ...columns.map(({ name }, at) => plainHeading(name, name, { number: true, group: at + 1 })),
  ];
  const rows = series.lines.map(({ name, points }) => [
    { text: name, value: name },
    ...columns.map(({ place }) => {
      const point = points.find(([x]) => x === place);
      return point ? { text: spell(point[1], series.y.unit), value: point[1] } : MISSING;
    }),
  ]);
  return { title: series.title, headings, rows };
}
