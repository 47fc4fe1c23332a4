/** The font of charts, and the room that texts need in it: one font can be half as wide again as another. */

import { graphic } from "echarts/core";

/** That of the reader's system, as on the rest of the page. */
export const FAMILY = "system-ui, sans-serif";

/** Pixels of a text, and of a line of it, which holds the letters of any font. */
export const SIZE = 12;
export const LINE = 16;

/** The style of a text in ECharts, which would guess its height from a glyph that many fonts do not have. */
export function textOf(color: string): object {
  return { color, fontSize: SIZE, lineHeight: LINE };
}

export function fontOf(size = SIZE, weight = 400): string {
  return `${weight} ${size}px ${FAMILY}`;
}

/** Pixels from the left to the right of the widest of some texts, each of which may have several lines. */
export function widthOf(texts: string | string[], font = fontOf()): number {
  const widths = [...new Set([texts].flat())].map((text) => boxOf({ text, font }).width);
  return widths.reduce((most, width) => Math.max(most, width), 0);
}

/**
 * The lines of a text of which none is wider than this; a word is only broken if it is wider by itself. ECharts would guess the
 * widths of letters where measuring them took it long, and break what has room.
 */
export function brokenInto(text: string, width: number, font = fontOf()): string[] {
  return text.split("\n").flatMap((line) =>
    line.split(" ").reduce<string[]>((lines, word) => {
      const longer = [...lines.slice(-1), word].join(" ");
      return widthOf(longer, font) <= width ? [...lines.slice(0, -1), longer] : [...lines, ...piecesOf(word, width, font)];
    }, []),
  );
}

/** The word in pieces of which none is wider than this, but for single letters. */
function piecesOf(word: string, width: number, font: string): string[] {
  let end = word.length;
  while (end > 1 && widthOf(word.slice(0, end), font) > width) end -= 1;
  return end === word.length ? [word] : [word.slice(0, end), ...piecesOf(word.slice(end), width, font)];
}

/** The text with its end left out as far as it is wider than this. */
export function fitted(text: string, width: number, font = fontOf()): string {
  if (widthOf(text, font) <= width) return text;
  let end = text.length - 1;
  while (end > 0 && widthOf(`${text.slice(0, end)}…`, font) > width) end -= 1;
  return `${text.slice(0, end)}…`;
}

function boxOf(style: object): { width: number; height: number } {
  return new graphic.Text({ style }).getBoundingRect();
}
