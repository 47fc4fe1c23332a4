/** Reads the documents from the data block of the page. */

import type { Labeled } from "./Document";

export function embeddedDocuments(): Labeled[] {
  const block = window.document.getElementById("likenew-documents");
  return JSON.parse(block?.textContent ?? "[]") as Labeled[];
}
