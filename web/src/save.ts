/** Saves and copies from the page. */

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

/** Copies text to the clipboard, or saves it as a file if that is not allowed. Returns a message. */
export async function copyOrSave(text: string, name: string, type = "text/csv"): Promise<string> {
  try {
    await navigator.clipboard.writeText(text);
    return WORDS.copied;
  } catch {
    saveText(name, text, type);
    return WORDS.saved;
  }
}

/** `Speed of each file` as `speed-of-each-file.png`. */
export function fileName(title: string, extension: string): string {
  const words = title
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "");
  return `${words || "likenew"}.${extension}`;
}
