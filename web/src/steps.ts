/** Steps through the points of a chart by keyboard. */

import type { Series } from "./Document";
import { wordsOf } from "./heat";
import { placeWords, pointWords } from "./picture";
import type { ShownSeries } from "./shown";

/** A point of a line. */
export interface Place {
  line: number;
  point: number;
}

/** The point that an arrow key leads to; none for any other key, and at the ends. */
export function stepped({ shape, lines }: Series, from: Place | null, key: string): Place | null {
  const along = { ArrowLeft: -1, ArrowRight: 1 }[key] ?? 0;
  const across = { ArrowUp: -1, ArrowDown: 1 }[key] ?? 0;
  if (along === 0 && across === 0) return null;
  const first = lines.findIndex(({ points }) => points.length > 0);
  if (first < 0) return null;
  if (!from) return { line: first, point: 0 };
  const x = lines[from.line]?.points[from.point]?.[0];
  const line = from.line + across;
  const points = lines[line]?.points ?? [];
  if (across !== 0) {
    // The point of the other line at the same position, or the nearest one.
    const same = points.findIndex(([at]) => at === x);
    const point = same >= 0 || shape === "heat" ? same : Math.min(from.point, points.length - 1);
    return point < 0 ? null : { line, point };
  }
  const point = from.point + along;
  return point in points ? { line, point } : null;
}

/** The indices of a point in ECharts, where a heat map is one series. */
export function placeOf({ shape, lines }: Series, { line, point }: Place): { seriesIndex: number; dataIndex: number } {
  if (shape !== "heat") return { seriesIndex: line, dataIndex: point };
  const before = lines.slice(0, line).reduce((count, { points }) => count + points.length, 0);
  return { seriesIndex: 0, dataIndex: before + point };
}

/** A point in words. */
export function wordsAt(series: ShownSeries, place: Place): string {
  if (series.shape === "heat") return wordsOf(series, placeOf(series, place).dataIndex);
  const line = series.lines[place.line];
  const point = line?.points[place.point];
  if (!line || !point) return "";
  const { value, remark } = pointWords(series, line, point);
  return `${[line.name, ...placeWords(series, point[0])].join(", ")}: ${value}${remark}`;
}
