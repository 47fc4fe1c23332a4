/** Documents for tests: the published examples, as the program writes them, and small ones that hold what a test needs. */

import { readdirSync, readFileSync } from "node:fs";

import type { Document, Labeled, Row, Series } from "../src/Document";

const PUBLISHED = new URL("../../schema/examples/", import.meta.url);

/** A published example. */
export function example(name: string): Document {
  return JSON.parse(readFileSync(new URL(`${name}.json`, PUBLISHED), "utf8")) as Document;
}

export function labeled(label: string, name: string): Labeled {
  return { label, document: example(name) };
}

/** All published examples, labeled with their names. */
export function published(): Labeled[] {
  const names = readdirSync(PUBLISHED).flatMap((file) => /^(.*)\.json$/.exec(file)?.[1] ?? []);
  return names.sort().map((name) => labeled(name, name));
}

/** A benchmark with these tables and series, and no others. */
export function small(label: string, tables: Record<string, Row[]>, series: Record<string, Series> = {}): Labeled {
  return { label, document: { ...example("bench-new"), overview: { lead: "summary" }, tables, series } };
}

/** An X-ray that found much of a drive and left some of it open. */
export function xray(): Labeled {
  const row = (property: string, state: string, value: number | null, unit: string, word: string | null = null): Row => ({
    property,
    state,
    word,
    value,
    value_low: value === null ? null : value * 0.9,
    value_high: value === null ? null : value * 1.1,
    unit,
    confidence_percent: state === "found" ? 95 : null,
  });
  const one = small("one", {
    properties: [
      row("medium", "found", null, "", "flash"),
      row("parallelism", "found", 16, "1"),
      row("mapping", "found", null, "", "page"),
      row("write_buffer_bytes", "found", 262144, "bytes"),
      row("erase_unit_bytes", "found", 8 * 2 ** 20, "bytes"),
      row("over_provisioning_percent", "found", 12.5, "%"),
      row("idle_collection_ns", "found", 2.5e9, "ns"),
      row("slc_cache_bytes", "absent", null, "bytes"),
      row("token_bucket_ios", "undecided", null, "1"),
    ],
  });
  one.document.procedure = "xray";
  const words = [["mapping", "maps single pages"], ["over-provisioning", "12.5% of what the flash can hold"]];
  one.document.overview.table = { headings: ["property", "value"], rows: words.map((cells) => ({ cells })) };
  return one;
}
