/** Where the documents come from: the block of data in the page itself. */

import type { Labelled } from "./Document";

export function embeddedDocuments(): Labelled[] {
  const block = window.document.getElementById("likenew-documents");
  return JSON.parse(block?.textContent ?? "[]") as Labelled[];
}
