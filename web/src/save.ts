/** Saves and copies from the page. */

import { slugOf } from "./address";
import { escaped, LIGHT } from "./picture";
import { brokenInto, FAMILY, fitted, fontOf, LINE, SIZE } from "./text";
import { WORDS } from "./wording";

/** Offers a file of this name for download. */
export function saveFile(name: string, url: string): void {
  const link = window.document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
}

/** Offers text for download. */
export function saveText(name: string, text: string, type: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  saveFile(name, url);
  // The browser reads the file after this returns.
  window.setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** A drawing as the text of an SVG element, with its size in pixels. */
export interface Drawn {
  svg: string;
  width: number;
  height: number;
}

/** Pixels around the caption of a saved drawing, and of its title. */
const AROUND = 12;
const TITLE = { size: SIZE + 3, weight: 600, line: 20 };

/** A drawing below its title and what it is of, so that it can be read without its page. */
function captioned({ svg, width, height }: Drawn, title: string, about: string[]): Drawn {
  const inner = width - 2 * AROUND;
  const rows = (texts: string[], size: number, weight: number, line: number, color: string) =>
    texts
      .flatMap((text) => brokenInto(text, inner, fontOf(size, weight)))
      .map((text) => ({ text: fitted(text, inner, fontOf(size, weight)), size, weight, line, color }));
  const texts = [
    ...rows([title], TITLE.size, TITLE.weight, TITLE.line, LIGHT.ink),
    ...rows(about, SIZE, 400, LINE, LIGHT.faint),
  ];
  let y = AROUND;
  const lines = texts.map(({ text, size, weight, line, color }) => {
    y += line;
    const style = `font-family="${FAMILY}" font-size="${size}" font-weight="${weight}" fill="${color}"`;
    return `<text x="${AROUND}" y="${y - 4}" ${style}>${escaped(text)}</text>`;
  });
  const above = y + AROUND;
  const size = `width="${width}" height="${above + height}"`;
  const head = `<svg xmlns="http://www.w3.org/2000/svg" ${size} viewBox="0 0 ${width} ${above + height}">`;
  const paper = `<rect ${size} fill="${LIGHT.card}"/>`;
  const text = `${head}${paper}${lines.join("")}<g transform="translate(0 ${above})">${svg}</g></svg>`;
  return { svg: text, width, height: above + height };
}

/** Offers a drawing for download, with its title and what it is of. */
export function saveDrawing(drawn: Drawn, title: string, about: string[], format: "png" | "svg"): void {
  const { svg, width, height } = captioned(drawn, title, about);
  if (format === "svg") return saveText(fileName(title, "svg"), svg, "image/svg+xml");
  const picture = new Image();
  picture.onload = () => {
    const canvas = window.document.createElement("canvas");
    [canvas.width, canvas.height] = [width * 2, height * 2];
    const context = canvas.getContext("2d");
    context?.scale(2, 2);
    context?.drawImage(picture, 0, 0, width, height);
    saveFile(fileName(title, "png"), canvas.toDataURL("image/png"));
  };
  picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
}

/** Copies text to the clipboard, or saves it as a file if that is not allowed. Returns a message. */
export async function copyOrSave(text: string, name: string, type = "text/csv"): Promise<string> {
  if (await copied(text)) return WORDS.copied;
  saveText(name, text, type);
  return WORDS.saved;
}

/** Copies text to the clipboard, if the browser lets a page do that in one way or another. */
export async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copiedFromField(text);
  }
}

/** The way of pages without a secure origin, which have no `navigator.clipboard`. */
function copiedFromField(text: string): boolean {
  const focused = window.document.activeElement;
  const field = window.document.createElement("textarea");
  field.value = text;
  field.style.position = "fixed";
  field.style.opacity = "0";
  window.document.body.append(field);
  field.select();
  const isCopied = window.document.execCommand("copy");
  field.remove();
  if (focused instanceof HTMLElement) focused.focus({ preventScroll: true });
  return isCopied;
}

/** `Speed of each file` as `speed-of-each-file.png`. */
export function fileName(title: string, extension: string): string {
  return `${slugOf(title) || "likenew"}.${extension}`;
}
