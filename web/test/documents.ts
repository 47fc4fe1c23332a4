/** The published examples in the form that the page receives. */

import { readFileSync } from "node:fs";

import type { Document, Labelled } from "../src/Document";

export function example(name: string): Document {
  const path = new URL(`../../schema/examples/${name}.json`, import.meta.url);
  return JSON.parse(readFileSync(path, "utf8")) as Document;
}

export function labelled(label: string, name: string): Labelled {
  return { label, document: example(name) };
}
