/** Reads the documents from the data block of the page. */

import type { Labeled } from "./Document";

export function embeddedDocuments(): Labeled[] {
  const block = window.document.getElementById("likenew-documents");
  return JSON.parse(block?.textContent ?? "[]") as Labeled[];
}

/** Whether the page comes from `likenew serve`, which is asked for what it shows. */
export function isServed(): boolean {
  return window.document.getElementById("likenew-server") !== null;
}
