/**
 * Series of several documents as charts that can be compared: in one chart, or side by side.
 * The only number calculated here is the ratio of two cells of heat maps.
 */

import { quotientOf } from "./compare";
import type { Labeled, Line, Series } from "./Document";

/** A series with its display options. */
export interface Picture {
  /** The key of the series in its documents. */
  key: string;
  series: Series;
  /** The lowest and highest value of all heat maps side by side, so that equal shades mean equal values. */
  range: [number, number] | null;
}

interface Named {
  label: string;
  series: Series;
}

/** All charts, in the order of the documents: in one chart if their axes agree, otherwise separate. */
export function picturesOf(members: Labeled[]): Picture[] {
  const names = new Set(members.flatMap(({ document }) => Object.keys(document.series)));
  return [...names].flatMap((name) => {
    const all = members.flatMap(({ label, document }) => {
      const series = document.series[name];
      return series ? [{ label, series }] : [];
    });
    return members.length === 1 ? all.map(({ series }) => ({ key: name, series, range: null })) : together(name, all);
  });
}

/** The pictures that prove the answer, then all others. */
export function split(members: Labeled[], pictures: Picture[]): { lead: Picture[]; more: Picture[] } {
  const chosen = leadOf(members);
  const keys = pictures.some(({ key }) => chosen.includes(key)) ? chosen : pictures.slice(0, 1).map(({ key }) => key);
  return {
    lead: pictures.filter(({ key }) => keys.includes(key)),
    more: pictures.filter(({ key }) => !keys.includes(key)),
  };
}

/** The series of a procedure that answer its question, where the document does not name one. */
const LEADS: Record<string, string[]> = {
  surface: ["curve", "access_by_offset"],
  age: ["used_vs_new"],
  trim: ["worth"],
};

function leadOf([first]: Labeled[]): string[] {
  if (!first) return [];
  const { procedure, overview } = first.document;
  return LEADS[procedure] ?? (overview.series === undefined ? [] : [overview.series]);
}

function together(key: string, all: Named[]): Picture[] {
  const [first] = all;
  const agreed = first !== undefined && all.length > 1 && all.every(({ series }) => agree(series, first.series));
  if (agreed && first.series.shape === "heat") return heatMaps(key, all, first);
  if (agreed) return [{ key, series: overlay(all, first), range: null }];
  return all.map((one) => ({ key, series: titled(one, one.label), range: null }));
}

function agree(one: Series, other: Series): boolean {
  return (
    one.shape === other.shape &&
    one.x.unit === other.x.unit &&
    one.y.unit === other.y.unit &&
    (one.categories ?? []).length > 0 === (other.categories ?? []).length > 0
  );
}

function titled({ series }: Named, of: string): Series {
  return { ...series, title: `${series.title} · ${of}` };
}

/** One series with the lines of all, each named after its document. Categories are merged by name. */
function overlay(all: Named[], first: Named): Series {
  const categories = [...new Set(all.flatMap(({ series }) => series.categories ?? []))];
  const lines: Line[] = [];
  const marks = [];
  for (const { label, series } of all) {
    const place = (x: number) => {
      const category = series.categories?.[x];
      return category === undefined ? x : categories.indexOf(category);
    };
    for (const { name, points, band } of series.lines) {
      lines.push({
        name: series.lines.length === 1 ? label : `${label} ${name}`,
        points: points.map(([x, y]) => [place(x), y]),
        ...(band ? { band: band.map(([x, low, high]) => [place(x), low, high]) } : {}),
      });
    }
    for (const mark of series.marks ?? []) marks.push({ x: place(mark.x), label: `${label}: ${mark.label}` });
  }
  return { ...first.series, categories, lines, marks };
}

/** Each heat map under its name, all with the same shades, then the ratio of each later one to the first. */
function heatMaps(key: string, all: Named[], first: Named): Picture[] {
  const range = all.flatMap(({ series }) => series.lines).reduce<[number, number] | null>(
    (range, { points }) => points.reduce(widened, range),
    null,
  );
  const maps = all.map((one) => ({ key, series: titled(one, one.label), range }));
  const ratios = all.slice(1).flatMap((other, index) => {
    const series = ratio(first, other, quotientOf(other.label, index + 2, first.label));
    return series ? [{ key, series, range: null }] : [];
  });
  return [...maps, ...ratios];
}

function widened(range: [number, number] | null, [, value]: [number, number]): [number, number] {
  return range ? [Math.min(range[0], value), Math.max(range[1], value)] : [value, value];
}

/** The second map over the first, cell by cell; undefined if they have no cell in common. */
function ratio(first: Named, other: Named, quotient: string): Series | null {
  const cellOf = (series: Series, row: string, x: number) => JSON.stringify([row, series.categories?.[x] ?? x]);
  const cells = first.series.lines.flatMap(({ name, points }) =>
    points.map(([x, value]): [string, number] => [cellOf(first.series, name, x), value]),
  );
  const below = new Map(cells);
  const lines = other.series.lines.map(({ name, points }) => ({
    name,
    points: points.flatMap(([x, above]): [number, number][] => {
      const least = below.get(cellOf(other.series, name, x)) ?? 0;
      const value = above / least;
      return least > 0 && value > 0 && Number.isFinite(value) ? [[x, value]] : [];
    }),
  }));
  if (lines.every(({ points }) => points.length === 0)) return null;
  return { ...titled(other, quotient), y: { label: quotient, unit: "×", scale: "log" }, lines, marks: [] };
}
