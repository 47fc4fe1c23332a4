/**
 * What `schema/charts.json` declares of procedures, their tables and columns: the page names none of them itself. Columns are
 * given by their keys.
 */

import declared from "../../schema/charts.json" with { type: "json" };
import type { Axis } from "./Document";

/** The rows of a table that are of a chart: which columns name it by its key, the line, and the category of a point. */
export interface Rows {
  table: string;
  chart?: string;
  line?: string;
  category?: string;
}

/** A number with its interval, in columns that end with `_low` and `_high`. */
export interface Interval extends Rows {
  value: string;
}

/** What was measured before and after something, at bars that are shares of what was before. */
export interface Changes extends Rows {
  /** Lines, and columns of the same names. */
  before: string;
  after: string;
  /** A change for the worse is clear where this is above 0. */
  fall: string;
  y: Axis;
  whole: string;
}

/** How runs differ from the first one, at bars that are ratios to it. */
export interface Differences extends Rows {
  first: string;
  value: string;
  /** `unclear` where there may be none. */
  difference: string;
  words: string;
}

/** Where a line changes its level, and the level at its end. */
export interface Levels {
  knees: Rows & { at: string; before: string; after: string };
  steady: Rows & { from: string; value: string };
}

/** What is known of each cell of a heat map: names and columns. */
export interface Details {
  table: string;
  /** Columns of words that the key of the map has where they differ. */
  in_chart: string[];
  column: string;
  row: string;
  values: Record<string, string>;
}

/** What tables say at the points of a chart. */
export interface Additions {
  intervals?: Interval;
  usual?: Interval;
  changes?: Changes;
  differences?: Differences;
  levels?: Levels;
  details?: Details;
  /** Ends of the names of lines that have one color. */
  pairs?: string[];
}

/** Bars of a table, each of them a share of a reference. */
export interface Shares {
  /** `{of}` stands for the words of the reference. */
  title: string;
  table: string;
  name: string;
  /** The column that tells parts of the table apart, if there are several. */
  part_of?: string;
  /** Whether there is a bar for each row of the overview, instead of one for each of the table. */
  is_overview?: boolean;
  reference: string;
  /** The column that says what the reference is: the name of one of `references`, or words. */
  reference_words: string;
  /** Words for several references. */
  several: Reference;
  lines: Record<string, ShareLine>;
  marks?: { name: string; table: string; value: string };
}

export interface ShareLine {
  value: string;
  /** The columns of its ends. */
  interval?: string[];
  is_reference?: boolean;
  /** The column of a ratio that is said where its interval is on one side of 1. */
  gain?: string;
  /** The column of the number of which a bar is said to be a share. */
  share_of?: string;
}

/** Bars of a table as they are, a line for each of some columns. */
export interface Values {
  title: string;
  table: string;
  names: string[];
  x: string;
  y: Axis;
  lines: Record<string, string>;
}

/** A chart that is made of a table. */
export interface Made {
  shares?: Shares;
  values?: Values;
}

/** Which charts prove the answer, if not those of the overview. */
export interface Lead {
  charts: string[];
  /** Whether the chart of the overview is one of them, too. */
  with_overview?: boolean;
  /** Whether no other chart takes their place. */
  or_none?: boolean;
  /** Where one of these ratios may be 1, charts prove nothing. */
  unless_unclear?: { table: string; value: string };
}

/** The properties of a drive, which are drawn as its inside. */
export interface Inside {
  table: string;
  name: string;
  state: string;
  word: string;
  value: string;
  confidence: string;
  /** Words that are shown otherwise than in the table. */
  words: Record<string, string>;
  dies: string;
  spare: string;
  controller: string[];
  flash: string[];
}

export interface Procedure {
  /** The first of these charts that can be made stands before all others, and another one behind them. */
  first?: string[];
  last?: string;
  lead?: Lead;
  /** The chart that shows all that the overview does. */
  overview_chart?: string;
  /** The option of its plan that names the procedure whose runs it compares. */
  compares?: string;
  /** By their keys; `*` is all of them. */
  charts?: Record<string, Additions>;
  inside?: Inside;
}

/** What a metric was compared with: as the heading of a column, and after "share of". */
export interface Reference {
  heading: string;
  of: string;
  /** Whether many drives, or all, fall short of it. */
  is_limit?: boolean;
}

export const REFERENCES: Record<string, Reference> = declared.references;
export const MADE = declared.made as Record<string, Made>;
const PROCEDURES: Record<string, Procedure> = declared.procedures;

export const procedureOf = ({ procedure }: { procedure: string }): Procedure => PROCEDURES[procedure] ?? {};
