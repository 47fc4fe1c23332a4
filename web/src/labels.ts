/** Places texts beside each other in rows, so that none covers another. */

import { fitted, LINE, textOf, widthOf } from "./text";

/** Pixels around each text of a row. */
const GAP = 10;

export interface Placed {
  /** The row, from 0 nearest to the picture; none if there is no room. */
  row: number | null;
  align: "left" | "center" | "right";
}

/** The row and alignment of each text at its position on a line; the first ones have the first choice. */
export function rowsOf(texts: { at: number; text: string }[], width: number, rows: number): Placed[] {
  const taken: [number, number][][] = Array.from({ length: rows }, () => []);
  return texts.map(({ at, text }) => {
    const wide = widthOf(text);
    const places = [
      { align: "center", from: at - wide / 2 },
      { align: "left", from: at },
      { align: "right", from: at - wide },
    ] as const;
    const inside = places.find(({ from }) => at >= 0 && at <= width && from >= 0 && from + wide <= width);
    if (!inside) return { row: null, align: "center" };
    const { align, from } = inside;
    const row = taken.findIndex((row) =>
      row.every(([start, end]) => from > end + GAP || from + wide < start - GAP),
    );
    taken[row]?.push([from, from + wide]);
    return { row: row < 0 ? null : row, align };
  });
}

/** Pixels of the symbol before a name of a legend with its outline, between two names, and around all of them. */
const SYMBOL = 34;
const BETWEEN = 8;
const AROUND = 5;

/** A name, and how it stands in the legend. */
export interface Item {
  name: string;
  [option: string]: unknown;
}

export interface Legend {
  option: object;
  /** Pixels of its rows. */
  height: number;
}

/** The names of lines above a chart, in as many rows as they need; one name needs none. */
export function legendOf(items: Item[], width: number, color: string): Legend {
  if (items.length < 2) return { option: { show: false }, height: 0 };
  const most = width - 2 * AROUND;
  const formatter = (name: string) => fitted(name, most - SYMBOL);
  let [rows, used] = [1, 0];
  const data = items.flatMap((item): Item[] => {
    const wide = SYMBOL + widthOf(formatter(item.name));
    const isFirst = used > 0 && used + wide > most;
    if (isFirst) rows += 1;
    used = (isFirst ? 0 : used) + wide + BETWEEN;
    // An item without a name begins a row.
    return isFirst ? [{ name: "" }, item] : [item];
  });
  const option = { top: 0, left: 0, padding: AROUND, itemGap: BETWEEN, formatter, textStyle: textOf(color), data };
  return { option, height: rows * (LINE + BETWEEN) + 4 };
}
