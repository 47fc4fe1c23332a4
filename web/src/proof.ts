/**
 * The series of a document as they are drawn: with those that its tables hold, and with what the tables say about a
 * point beside it. Nothing is calculated but shares of what stands in the document.
 */

import { MADE, procedureOf, REFERENCES } from "./declared";
import type { Additions, Changes, Details, Differences, Interval, Levels, Reference, Rows, ShareLine, Shares, Values } from "./declared";
import type { Document, Row, Value } from "./Document";
import type { ShownLine, ShownSeries, Tone } from "./shown";
import { isNumber } from "./Table";
import { heading, spell, wordsOf } from "./units";
import { besideWords, shareWords, UNCLEAR, WORDS } from "./wording";

/** All series by their keys, with those that are made of tables. */
export function seriesOf(document: Document): Record<string, ShownSeries> {
  const { first = [], last, charts = {} } = procedureOf(document);
  const made = (key: string): [string, ShownSeries][] => {
    const { shares, values } = MADE[key] ?? {};
    const series = (shares && sharesOf(document, shares)) ?? (values && valuesOf(document, values));
    return series ? [[key, series]] : [];
  };
  const own = Object.entries(document.series).map(([key, series]): [string, ShownSeries] => {
    const additions = { ...charts["*"], ...charts[key] };
    return [key, { ...withAdditions(key, series, additions, document), ...(series.x.ends ? { link: series.x.label } : {}) }];
  });
  return Object.fromEntries([...first.flatMap(made).slice(0, 1), ...own, ...(last === undefined ? [] : made(last))]);
}

function withAdditions(key: string, series: ShownSeries, additions: Additions, document: Document): ShownSeries {
  const { intervals, usual, changes, differences, levels, details, pairs } = additions;
  if (intervals) return withIntervals(usual ? withUsual(series, usual, document) : series, intervals, document);
  if (changes) return withChanges(series, changes, document);
  if (differences) return withDifferences(series, differences, document);
  if (levels) return withLevels(key, series, levels, document);
  if (details && series.shape === "heat") return { ...series, details: detailsOf(key, details, document) };
  return pairs ? withPairs(series, pairs) : series;
}

/** The rows that are of a chart, a line and a category, as far as those are given. */
function rowsOf({ tables }: Document, rows: Rows, of: { chart?: string; line?: string; category?: string }): Row[] {
  const isOf = (row: Row) =>
    (["chart", "line", "category"] as const).every((place) => {
      const column = rows[place];
      return column === undefined || of[place] === undefined || row[column] === of[place];
    });
  return (tables[rows.table] ?? []).filter(isOf);
}

function numberOf(row: Row | undefined, key: string): number | null {
  const value: Value | undefined = row?.[key];
  return isNumber(value) ? value : null;
}

function textOf(row: Row | undefined, key: string): string {
  const value = row?.[key];
  return typeof value === "string" ? value : "";
}

/** A number in the unit of its row. */
function spelled(row: Row | undefined, key: string): string {
  return spell(numberOf(row, key) ?? 0, textOf(row, "unit"));
}

const intervalOf = (row: Row | undefined, key: string) =>
  [key, `${key}_low`, `${key}_high`].map((column) => numberOf(row, column)) as [number | null, number | null, number | null];

/** Whether the interval of a ratio is on one side of 1. */
function isClear(row: Row | undefined, key: string): boolean {
  const [, low, high] = intervalOf(row, key);
  return (low ?? 1) > 1 || (high ?? 1) < 1;
}

/** Whether it is known, and not clear. */
export function isUnclear(row: Row, key: string): boolean {
  const [, low, high] = intervalOf(row, key);
  return low !== null && high !== null && !isClear(row, key);
}

/** A change is clear where its interval is on one side of none. */
function toneOf(low: number, high: number): Tone {
  if (high < 1) return "fall";
  return low > 1 || high - low < 0.2 ? "plain" : "unclear";
}

/** What a row is compared with, by its name or in words. */
function referenceOf(words: string): Reference {
  return REFERENCES[words] ?? { heading: words, of: words };
}

interface Bar {
  name: string;
  row: Row | undefined;
  /** Its value, as the overview says it. */
  words?: string | undefined;
}

/** The bars of a table: one for each row of the overview, or for each of its own. */
function barsOf({ tables, overview }: Document, { table, name, part_of: part = "", is_overview: isOverview }: Shares): Bar[] {
  const rows = tables[table] ?? [];
  if (isOverview)
    return (overview.table?.rows ?? []).map(({ cells: [known = "", words] }) => {
      return { name: known, row: rows.find((row) => wordsOf(textOf(row, name), name) === known), words };
    });
  const hasParts = new Set(rows.map((row) => row[part])).size > 1;
  return rows.map((row) => ({ name: `${hasParts ? `${textOf(row, part)}: ` : ""}${textOf(row, name)}`, row }));
}

/** A bar with what it is a share of; without that there is no length to draw. */
interface Share extends Bar {
  whole: number | null;
  reference: Reference;
}

/** Each bar as a share of its reference, with its interval and its mark. */
function sharesOf(document: Document, declared: Shares): ShownSeries | null {
  const { title, name, reference, reference_words: words, marks, several } = declared;
  const lines = Object.entries(declared.lines);
  const isWhole = (row: Row | undefined) =>
    (numberOf(row, reference) ?? 0) > 0 && lines.every(([, { value }]) => numberOf(row, value) !== null);
  const bars = barsOf(document, declared).map((bar): Share => {
    const whole = isWhole(bar.row) ? numberOf(bar.row, reference) : null;
    return { ...bar, whole, reference: referenceOf(textOf(bar.row, words)) };
  });
  const compared = bars.filter(({ whole }) => whole !== null);
  const [first] = compared;
  if (!first) return null;
  const isSeveral = compared.some((bar) => bar.reference.of !== first.reference.of);
  const all = isSeveral ? several : first.reference;
  const marked = bars.flatMap(({ row, whole }, at): [number, number][] => {
    const mark = (document.tables[marks?.table ?? ""] ?? []).find((mark) => mark[name] === row?.[name]);
    const value = numberOf(mark, marks?.value ?? "");
    return value === null || whole === null ? [] : [[at, value / whole]];
  });
  const drawn = lines.map(([name, line]) => shareLine(name, line, bars, isSeveral));
  return {
    title: title.replace("{of}", all.of),
    shape: "bars",
    x: { label: name, unit: "" },
    y: { label: `share of ${all.of}`, unit: "share" },
    categories: bars.map(({ name }) => name),
    lines: marks && marked.length > 0 ? [...drawn, { name: marks.name, points: marked, isMark: true }] : drawn,
    whole: { value: 1, label: all.heading },
    ...(compared.length < bars.length ? { remark: WORDS.noReference } : {}),
  };
}

function shareLine(name: string, line: ShareLine, bars: Share[], isSeveral: boolean): ShownLine {
  const { value, interval = [], gain = "", share_of: ofNumber, is_reference: isReference } = line;
  const [low = value, high = value] = interval;
  const shareOf = ({ row, whole }: Share, key: string) =>
    whole === null ? 0 : (numberOf(row, key) ?? numberOf(row, value) ?? 0) / whole;
  const toneAt = (bar: Share): Tone => {
    if (bar.whole === null) return "absent";
    if (isReference) return "reference";
    return line.interval && !bar.reference.is_limit ? toneOf(shareOf(bar, low), shareOf(bar, high)) : "plain";
  };
  const shareAt = (bar: Share): string => {
    if (bar.whole === null || isReference) return "";
    const share = spell(shareOf(bar, value), "share");
    const { heading } = bar.reference;
    if (ofNumber === undefined) return isSeveral ? shareWords(share, heading) : "";
    return shareWords(share, spelled(bar.row, ofNumber), isSeveral ? heading : undefined);
  };
  const labelAt = (bar: Share): string => {
    const { row, whole, words } = bar;
    const gained = isClear(row, gain) ? spell(numberOf(row, gain) ?? 1, "×") : "";
    return besideWords((whole === null ? words : undefined) ?? spelled(row, value), gained, shareAt(bar));
  };
  const bandAt = (bar: Share, at: number): [number, number, number][] =>
    bar.whole === null ? [] : [[at, shareOf(bar, low), shareOf(bar, high)]];
  return {
    name,
    points: bars.map((bar, at) => [at, shareOf(bar, value)]),
    ...(line.interval ? { band: bars.flatMap(bandAt) } : {}),
    labels: bars.map(labelAt),
    tones: bars.map(toneAt),
  };
}

/** The rows of a table as bars, without those that have no number. */
function valuesOf({ tables }: Document, { title, table, names, x, y, lines }: Values): ShownSeries | null {
  const columns = Object.entries(lines);
  const rows = (tables[table] ?? []).filter((row) => columns.some(([, key]) => (numberOf(row, key) ?? 0) > 0));
  const drawn = columns.map(([name, key]): ShownLine => {
    const valueAt = (row: Row, at: number): [number, number][] => {
      const value = numberOf(row, key);
      return value === null ? [] : [[at, value]];
    };
    return { name, points: rows.flatMap(valueAt) };
  });
  if (rows.length === 0) return null;
  return {
    title,
    shape: "bars",
    x: { label: x, unit: "" },
    y,
    categories: rows.map((row) => names.map((name) => textOf(row, name)).filter(Boolean).join(" ")),
    lines: drawn.filter(({ points }) => points.length > 0),
  };
}

/** Each ratio with its difference in words and the value, in the color of its run. */
function withDifferences(series: ShownSeries, declared: Differences, document: Document): ShownSeries {
  const { first, value, difference, words } = declared;
  const lines = series.lines.map((line, index): ShownLine => {
    const rows = line.points.map(([at]) => rowsOf(document, declared, { line: line.name, category: series.categories?.[at] ?? "" })[0]);
    return {
      ...line,
      // The first run is the one that they are compared with.
      member: index + 1,
      tones: rows.map((row) => (textOf(row, difference) === "unclear" ? "unclear" : "plain")),
      labels: rows.map((row) => besideWords(textOf(row, words), spelled(row, value))),
    };
  });
  return { ...series, lines, whole: { value: 1, label: textOf(document.tables[declared.table]?.[0], first) } };
}

/** The change at each bar, in the words of the overview. */
function withChanges(series: ShownSeries, declared: Changes, document: Document): ShownSeries {
  const { before, after, fall, y, whole } = declared;
  const lines = series.lines.map((line): ShownLine => {
    if (line.name !== before && line.name !== after) return line;
    const bars = line.points.map(([at, share]) => {
      const [row] = rowsOf(document, declared, { category: series.categories?.[at] ?? "" });
      const said = (key: string) => (numberOf(row, key) === null ? null : spelled(row, key));
      const isIt = ({ cells }: { cells: string[] }) => cells[1] === said(before) && cells[2] === said(after);
      return { row, value: said(line.name) ?? spell(share, "share"), change: document.overview.table?.rows.find(isIt)?.cells[3] ?? "" };
    });
    if (line.name === before)
      return { ...line, labels: bars.map(({ value }) => value), tones: bars.map(() => "reference") };
    return {
      ...line,
      labels: bars.map(({ value, change }) => besideWords(value, change)),
      tones: bars.map(({ row, change }) =>
        change === UNCLEAR ? "unclear" : (numberOf(row, fall) ?? 0) > 0 ? "fall" : "plain",
      ),
    };
  });
  return { ...series, y, lines, whole: { value: 1, label: whole } };
}

/** The levels between the knees of each line, and the intervals in which the knees are. */
function withLevels(chart: string, series: ShownSeries, { knees, steady }: Levels, document: Document): ShownSeries {
  const atOf = (row: Row) => numberOf(row, knees.at) ?? 0;
  const kneesOf = (line: string) => rowsOf(document, knees, { chart, line }).toSorted((one, other) => atOf(one) - atOf(other));
  const lines = series.lines.map((line): ShownLine => {
    const end = line.points.at(-1)?.[0] ?? 0;
    const own = kneesOf(line.name);
    const levels = own.flatMap((row, index) => {
      const [before, after] = [numberOf(row, knees.before), numberOf(row, knees.after)];
      const next = own[index + 1];
      const first = index === 0 && before !== null ? [{ from: line.points[0]?.[0] ?? 0, to: atOf(row), value: before }] : [];
      return after === null ? first : [...first, { from: atOf(row), to: next ? atOf(next) : end, value: after }];
    });
    const [level] = rowsOf(document, steady, { chart, line: line.name });
    const [value, from] = [numberOf(level, steady.value), numberOf(level, steady.from)];
    if (levels.length === 0 && value !== null && from !== null) levels.push({ from, to: end, value });
    return levels.length > 0 ? { ...line, levels } : line;
  });
  const spans = rowsOf(document, knees, { chart }).flatMap((row): [number, number][] => {
    const [, low, high] = intervalOf(row, knees.at);
    return low === null || high === null || low === high ? [] : [[low, high]];
  });
  return { ...series, lines, spans };
}

/** What the table has of each cell of a heat map. */
function detailsOf(key: string, declared: Details, { tables }: Document): NonNullable<ShownSeries["details"]> {
  const { table, in_chart: inChart, column, row: rowKey, values } = declared;
  const all = tables[table] ?? [];
  const telling = inChart.filter((name) => new Set(all.map((row) => row[name])).size > 1);
  const rows = all.filter((row) => telling.every((name) => key.split("_").includes(textOf(row, name))));
  const inUnit = (row: Row, name: string) => spell(numberOf(row, name) ?? 0, heading(name).unit);
  return (at, name) => {
    const row = rows.find((row) => inUnit(row, column) === at && String(row[rowKey]) === name);
    const present = Object.entries(values).filter(([value]) => numberOf(row, value) !== null);
    return row ? present.map(([value, words]) => [words, inUnit(row, value)]) : [];
  };
}

/** Lines that have names with these ends and are the same otherwise have one color: `random, fitted` and `random, measured`. */
function withPairs(series: ShownSeries, pairs: string[]): ShownSeries {
  const end = new RegExp(`, (${pairs.join("|")})$`);
  const ofWhat = (name: string) => name.replace(end, "");
  const all = [...new Set(series.lines.map(({ name }) => ofWhat(name)))];
  return { ...series, lines: series.lines.map((line) => ({ ...line, member: all.indexOf(ofWhat(line.name)) })) };
}

/** Each bar beside the normal range of its class. */
function withUsual(series: ShownSeries, declared: Interval, document: Document): ShownSeries {
  const lines = series.lines.map((line): ShownLine => {
    const usual = (series.categories ?? []).flatMap((category, at) =>
      rowsOf(document, declared, { line: line.name, category }).flatMap((row): [number, number, number, number][] => {
        const [middle, low, high] = intervalOf(row, declared.value);
        return low === null || middle === null || high === null ? [] : [[at, low, middle, high]];
      }),
    );
    return usual.length > 0 ? { ...line, usual } : line;
  });
  return { ...series, lines };
}

/** The interval of each bar, from the row of a table that has its number. */
function withIntervals(series: ShownSeries, declared: Interval, document: Document): ShownSeries {
  const lines = series.lines.map((line): ShownLine => {
    const band = line.points.flatMap(([x, value]): [number, number, number][] => {
      const [row] = rowsOf(document, declared, { line: line.name, category: series.categories?.[x] ?? "" });
      const [known, low, high] = intervalOf(row, declared.value);
      return low === null || high === null || known !== value ? [] : [[x, low, high]];
    });
    return band.length > 0 ? { ...line, band } : line;
  });
  return { ...series, lines };
}
