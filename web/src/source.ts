/** Reads the documents from the data block of the page. */

import type { Labeled } from "./Document";
import type { SavedHistory } from "./serve/api";

export function embeddedDocuments(): Labeled[] {
  const block = window.document.getElementById("likenew-documents");
  return JSON.parse(block?.textContent ?? "[]") as Labeled[];
}

/** Whether the page comes from `likenew serve`, which is asked for what it shows. */
export function isServed(): boolean {
  return window.document.getElementById("likenew-server") !== null;
}

/** The drives of a page that was saved with their history. */
export function savedHistory(): SavedHistory | null {
  const block = window.document.getElementById("likenew-history");
  return block && (JSON.parse(block.textContent ?? "") as SavedHistory);
}
