/** Places texts at positions on a line in rows, so that none covers another. */

/** Pixels of a character of the texts, and around each of them. */
const CHARACTER = 6.4;
const GAP = 10;

export interface Placed {
  /** The row, from 0 nearest to the picture; none if there is no room. */
  row: number | null;
  align: "left" | "center" | "right";
}

/** The row and alignment of each text; the first ones have the first choice. */
export function rowsOf(texts: { at: number; text: string }[], width: number, rows: number): Placed[] {
  const taken: [number, number][][] = Array.from({ length: rows }, () => []);
  return texts.map(({ at, text }) => {
    const wide = text.length * CHARACTER;
    const align = at < wide / 2 ? "left" : at > width - wide / 2 ? "right" : "center";
    const from = align === "left" ? at : align === "right" ? at - wide : at - wide / 2;
    const isFree = (row: [number, number][]) =>
      row.every(([start, end]) => from > end + GAP || from + wide < start - GAP);
    const fits = at >= 0 && at <= width && wide <= width;
    const row = fits ? taken.findIndex(isFree) : -1;
    taken[row]?.push([from, from + wide]);
    return { row: row < 0 ? null : row, align };
  });
}
