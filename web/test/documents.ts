/** Documents for tests: made up, so that what they hold is known; and the published examples, as the program writes them. */

import { readdirSync, readFileSync } from "node:fs";

import type { Document, Labeled } from "../src/Document";

const PUBLISHED = new URL("../../schema/examples/", import.meta.url);

export function example(name: string): Document {
  const path = new URL(`documents/${name}.json`, import.meta.url);
  return JSON.parse(readFileSync(path, "utf8")) as Document;
}

export function labeled(label: string, name: string): Labeled {
  return { label, document: example(name) };
}

/** All published examples, labeled with their names. */
export function published(): Labeled[] {
  const names = readdirSync(PUBLISHED).filter((name) => name.endsWith(".json")).sort();
  return names.map((name) => ({
    label: name.replace(".json", ""),
    document: JSON.parse(readFileSync(new URL(name, PUBLISHED), "utf8")) as Document,
  }));
}
