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
      row("old_data_read_ratio", "undecided", null, "1"),
      row("token_bucket_ios", "undecided", null, "1"),
    ],
  });
  const words = [
    ["medium", "flash", "98%", "reads equally fast"],
    ["dies", "16", "95%", "two readers collide"],
    ["mapping", "maps single pages", "97%", "small writes not merged"],
    ["write buffer", "256 KiB", "95%", "bursts and flushes"],
    ["erase unit (superblock)", "8 MiB", "85%", "sequential writes pause"],
    ["over-provisioning", "12.5% of what the flash can hold", "80%", "writes until GC begins"],
    ["idle GC starts after", "2.5 s", "95%", "slower reads after idling"],
    ["SLC cache", "none", "97%", "filled at one speed"],
    // Of burst credits it says nothing.
    ["read time of old data", "unknown", "", "no old data found"],
  ];
  Object.assign(one.document, {
    procedure: "xray",
    summary: "Flash, page-mapped, 16 dies, no SLC cache, 13% over-provisioning (8 of 9 properties found).",
    answers: [],
    overview: {
      lead: "summary",
      table: { headings: ["property", "value", "confidence", "how"], rows: words.map((cells) => ({ cells })) },
    },
  });
  return one;
}
