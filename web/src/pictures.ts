/**
 * Series of several documents as charts that can be compared: in one chart, or side by side.
 * The only number calculated here is the ratio of two cells of heat maps.
 */

import { quotientOf } from "./compare";
import { procedureOf } from "./declared";
import type { Document, Labeled, Series } from "./Document";
import { isUnclear, seriesOf } from "./proof";
import { endsOf } from "./reduce";
import { canBeDashed } from "./shown";
import type { Picture, ShownLine, ShownSeries } from "./shown";

export interface Named {
  label: string;
  series: ShownSeries;
}

/** All charts, in the order of the documents: in one chart if their axes agree, otherwise separate. */
export function picturesOf(members: Labeled[]): Picture[] {
  return withoutTwins(gathered(members)).map((picture) => ({ ...picture, series: colored(picture.series) }));
}

/** Without those that show an earlier one on another scale, which a reader can choose there. */
function withoutTwins(pictures: Picture[]): Picture[] {
  const known = new Set<string>();
  return pictures.filter(({ series: { title, shape, lines } }) => {
    const shown = JSON.stringify([title, shape, lines.map(({ name, points }) => [name, points.length])]);
    return !known.has(shown) && known.add(shown);
  });
}

/** As many lines of one color as there are dashes to tell them apart. */
const ALIKE_MAX = 3;

/**
 * Colors that mean one thing: with several documents, the document; where reads stand beside writes, reads have the
 * first color and writes the second. Lines of one color differ by their dashes.
 */
export function colored(series: ShownSeries): ShownSeries {
  const { lines, shape } = series;
  const meanings = lines.map(({ name }) => (/\bread/i.test(name) ? 0 : /\bwrit/i.test(name) ? 1 : null));
  const count = (meaning: number | null) => meanings.filter((other) => other === meaning).length;
  const most = shape === "line" && canBeDashed(series) ? ALIKE_MAX : 1;
  const isClear =
    !meanings.includes(null) &&
    [0, 1].every((meaning) => count(meaning) <= most) &&
    (lines.length === 1 || (count(0) > 0 && count(1) > 0));
  // Gray references use up no color.
  const isReference = ({ tones }: ShownLine) => tones?.every((tone) => tone === "reference") ?? false;
  const placeOf = (index: number) => index - lines.slice(0, index).filter(isReference).length;
  const ofMembers = new Set(lines.map(({ member }) => member));
  const isByMember = !ofMembers.has(undefined) && (canBeDashed(series) || ofMembers.size === lines.length);
  const hueOf = (index: number) => (isClear ? (meanings[index] ?? index) : placeOf(index));
  const hues = lines.map(({ member }, index) => (isByMember ? member : undefined) ?? hueOf(index));
  const dashOf = (index: number) =>
    isClear || isByMember
      ? hues.slice(0, index).filter((hue) => hue === hues[index]).length
      : index;
  return {
    ...series,
    lines: lines.map((line, index) => ({ ...line, hue: hues[index] ?? index, dash: dashOf(index) })),
  };
}

function gathered(members: Labeled[]): Picture[] {
  const drawn = members.map(({ label, document }) => ({ label, series: seriesOf(document) }));
  const names = new Set(drawn.flatMap(({ series }) => Object.keys(series)));
  return [...names].flatMap((name) => {
    const all = drawn.flatMap(({ label, series: every }) => {
      const series = every[name];
      return series ? [{ label, series }] : [];
    });
    return members.length === 1 ? all.map(({ series }) => ({ key: name, series, range: null })) : together(name, all);
  });
}

/** The pictures that prove the answer, then all others. */
export function split(members: Labeled[], pictures: Picture[]): { lead: Picture[]; more: Picture[] } {
  const { keys, isFinal } = members[0] ? leadOf(members[0].document) : { keys: [], isFinal: false };
  const isThere = isFinal || pictures.some(({ key }) => keys.includes(key));
  const lead = isThere ? pictures.filter(({ key }) => keys.includes(key)) : pictures.filter(({ key }) => key === pictures[0]?.key);
  return { lead, more: pictures.filter((picture) => !lead.includes(picture)) };
}

/** The series that answer the question of a document; the first one takes their place if none of them is there, unless they are final. */
function leadOf(document: Document): { keys: string[]; isFinal: boolean } {
  const { overview, series, summary, tables } = document;
  const { lead } = procedureOf(document);
  const shown = overview.series === undefined ? [] : [overview.series];
  if (lead) {
    const { charts, unless_unclear: open, with_overview: withOverview = false, or_none: isFinal = false } = lead;
    if (open && tables[open.table]?.some((row) => isUnclear(row, open.value))) return { keys: [], isFinal: true };
    return { keys: [...charts, ...(withOverview ? shown : [])], isFinal };
  }
  // Several maps belong together, such as one for each kind of I/O.
  const maps = Object.keys(series).filter((key) => series[key]?.shape === "heat");
  const named = Object.keys(series).filter((key) => summary.includes(key)).slice(0, 1);
  const keys = shown.length === 0 ? named : shown.some((key) => maps.includes(key)) ? maps : shown;
  return { keys, isFinal: false };
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

function titled({ series }: Named, of: string): ShownSeries {
  return { ...series, title: `${series.title} · ${of}` };
}

/** One series with the lines of all, each named after its document. Categories are merged by name. */
export function overlay(all: Named[], first: Named): ShownSeries {
  const categories = [...new Set(all.flatMap(({ series }) => series.categories ?? []))];
  const lines: ShownLine[] = [];
  const marks = [];
  const spans: [number, number][] = [];
  for (const [member, { label, series }] of all.entries()) {
    const place = (x: number) => {
      const category = series.categories?.[x];
      return category === undefined ? x : categories.indexOf(category);
    };
    const measured = series.lines.filter(({ isMark }) => !isMark);
    for (const { name, points, band, ...rest } of series.lines) {
      lines.push({
        ...rest,
        member,
        name: measured.length === 1 && !rest.isMark ? label : `${label} ${name}`,
        points: points.map(([x, y]) => [place(x), y]),
        ...(band ? { band: band.map(([x, low, high]) => [place(x), low, high]) } : {}),
      });
    }
    for (const mark of series.marks ?? []) marks.push({ x: place(mark.x), label: `${label}: ${mark.label}` });
    spans.push(...(series.spans ?? []));
  }
  return { ...first.series, categories, lines, marks, spans };
}

/** Each heat map under its name, all with the same shades, then the ratio of each later one to the first. */
function heatMaps(key: string, all: Named[], first: Named): Picture[] {
  const range = endsOf({ ...first.series, lines: all.flatMap(({ series }) => series.lines) }, "y");
  const maps = all.map((one) => ({ key, series: titled(one, one.label), range }));
  const ratios = all.slice(1).flatMap((other, index) => {
    const series = ratio(first, other, quotientOf(other.label, index + 2, first.label));
    return series ? [{ key, series, range: null }] : [];
  });
  return [...maps, ...ratios];
}

/** The second map over the first, cell by cell; undefined if they have no cell in common. */
function ratio(first: Named, other: Named, quotient: string): ShownSeries | null {
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
  return { ...titled(other, quotient), y: { label: quotient, unit: "×", scale: "log" }, lines, marks: [], isWide: true };
}
