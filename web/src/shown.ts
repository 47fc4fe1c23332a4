/** Series as they are drawn: those of documents, with what stands beside their points. */

import type { Line, Series } from "./Document";
import type { Table } from "./Table";

/** The points of a line as arrays of their coordinates. */
export interface Coordinates {
  x: Float64Array;
  y: Float64Array;
}

/**
 * What a bar means: the reference itself, a clear fall, a change that is not clear, or nothing more than its length. Where
 * there is nothing to compare with, there is only a text.
 */
export type Tone = "reference" | "fall" | "unclear" | "plain" | "absent";

/** A line with what is drawn beside its points. */
export interface ShownLine extends Line {
  /** All points, where pairs would be too many; `points` is then empty until a frame chooses those that it draws. */
  coordinates?: Coordinates;
  /** The text at each bar, or what is said about each point beside its value. */
  labels?: string[];
  tones?: Tone[];
  /** `[x, low, middle, high]`: the normal range of drives of the same class, beside some of the bars. */
  usual?: [number, number, number, number][];
  /** Marks on the bars of the other lines, such as the rated speed. */
  isMark?: boolean;
  /** Levels on which the line stays for a while. */
  levels?: Level[];
  /** The document that it is of, if several are compared. */
  member?: number;
  /** The place of its color, and of its dashes. */
  hue?: number;
  dash?: number;
  /** How many points stand for each that is drawn. */
  weights?: number[];
  /** Which points of the document are drawn, if not all are. */
  indices?: number[];
}

/** Dashes of longer lines would look like noise. */
const DASHED_MAX = 150;

/** Whether lines of one color can be told apart by their dashes. */
export function canBeDashed({ lines, isSmooth = false }: ShownSeries): boolean {
  return isSmooth || lines.every(({ points, coordinates }) => (coordinates?.x ?? points).length <= DASHED_MAX);
}

export interface Level {
  from: number;
  to: number;
  value: number;
}

export interface ShownSeries extends Series {
  lines: ShownLine[];
  /** The value of a full bar, and its meaning. */
  whole?: { value: number; label: string };
  /** Intervals of the positions of marks. */
  spans?: [number, number][];
  /** The ends of the x axis, where the points do not decide them. */
  ends?: [number, number];
  /** Charts with the same word zoom together. */
  link?: string;
  /** The lowest and highest value that the y axis shows, so that charts side by side have equal ones. */
  heights?: [number, number];
  /** How values are written that are known less exactly, or more exactly, than to three digits. */
  spelled?: { x?: (value: number) => string; y?: (value: number) => string };
  /** Whether its lines have no noise, so that dashes can be told from it. */
  isSmooth?: boolean;
  /** Whether it stands below the charts that are side by side. */
  isWide?: boolean;
  /** What the chart shows, where its points do not say it well. */
  alt?: string;
  /** What a reader must know to read the chart. */
  remark?: string;
  /** The table of the chart, and what is in it, where a row for each point would be too many. */
  table?: { words: string; rows: () => Table };
  /** What is known of all points at a position. */
  notes?: Map<number, string>;
  /** What is known of each cell of a heat map beyond its number. */
  details?: (column: string, row: string) => [string, string][];
}

/** A series with its display options. */
export interface Picture {
  /** The key of the series in its documents. */
  key: string;
  series: ShownSeries;
  /** The lowest and highest value of all heat maps side by side, so that equal shades mean equal values. */
  range: [number, number] | null;
}
