/** Reads the documents from the data block of the page. */

import type { Labelled } from "./Document";

export function embeddedDocuments(): Labelled[] {
  const block = window.document.getElementById("likenew-documents");
  return JSON.parse(block?.textContent ?? "[]") as Labelled[];
}
