/** Pages as likenew writes them: the built bundle with documents in its block of data. */

import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

import type { Labeled } from "../src/Document";

const BUNDLE = new URL("../dist/index.html", import.meta.url);
const PLACE = new URL("../../crates/likenew-report/src/html/documents.place", import.meta.url);

/** Writes the page and returns its address. */
export function pageWith(documents: Labeled[], path: string): string {
  const bundle = readFileSync(BUNDLE, "utf8");
  const place = readFileSync(PLACE, "utf8").trim();
  if (bundle.split(place).length !== 2) throw new Error("the bundle has no single place for documents");
  const data = JSON.stringify(documents).replaceAll("<", "\\u003c");
  writeFileSync(path, bundle.replace(place, () => place.replace("[]", () => data)));
  return pathToFileURL(path).href;
}
