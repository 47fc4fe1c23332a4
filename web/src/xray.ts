/** The inside of a drive as an X-ray found it: what is drawn, and what is unknown. */

import type { Document, Row } from "./Document";
import { isNumber } from "./Table";
import { rangeOf, spell, wordsOf } from "./units";
import { ABSENT, DRAWN_WORDS, UNKNOWN } from "./wording";

/** Something inside, and how well it is known. */
export interface Part {
  name: string;
  /** `266 KiB`, `flash`, or that it is unknown. */
  value: string;
  /** `253–279 KiB` where the interval adds something. */
  range: string;
  /** `93%`, empty without one. */
  confidence: string;
  isKnown: boolean;
  isAbsent: boolean;
}

export interface Inside {
  parts: Record<string, Part>;
  /** Dies to draw; none where their number is unknown. */
  dies: number | null;
  /** Spare flash as a share of the capacity. */
  spare: number | null;
  unknown: Part[];
}

/** The units of numbers that only count. */
const BARE = ["1", ""];

export function insideOf({ procedure, tables, overview }: Document): Inside | null {
  const rows = tables["properties"] ?? [];
  if (procedure !== "xray" || rows.length === 0) return null;
  const told = overview.table?.rows ?? [];
  const all = rows.map((row) => [String(row["property"]), partOf(row, told)] as const);
  // What the document says nothing of was not asked of this drive, such as the burst credits of one that is no volume.
  const isTold = ({ name, isKnown }: Part) => isKnown || told.some(({ cells }) => cells[0] === name);
  const parts = Object.fromEntries(all.filter(([, part]) => isTold(part)));
  return {
    parts,
    dies: found(rows, "parallelism"),
    spare: found(rows, "over_provisioning_percent"),
    unknown: Object.values(parts).filter(({ isKnown }) => !isKnown),
  };
}

function found(rows: Row[], property: string): number | null {
  const row = rows.find((row) => row["property"] === property);
  return row?.["state"] === "found" && isNumber(row["value"]) ? row["value"] : null;
}

function partOf(row: Row, told: { cells: string[] }[]): Part {
  const property = String(row["property"]);
  const name = wordsOf(property, "property");
  const { state, word, value, value_low: low, value_high: high, confidence_percent: confidence } = row;
  const unit = String(row["unit"] ?? "");
  const spelled = (number: number) => spell(BARE.includes(unit) ? Math.round(number) : number, unit);
  // The overview has the value in the words of the document.
  const cell = told.find(({ cells }) => cells[0] === name)?.cells[1];
  const isKnown = state === "found" || state === "absent";
  const own =
    typeof word === "string"
      ? (DRAWN_WORDS[word] ?? word.replaceAll("_", " "))
      : isNumber(value)
        ? spelled(value)
        : ABSENT;
  const range = isNumber(low) && isNumber(high) ? rangeOf(spelled(low), spelled(high)) : "";
  return {
    name,
    value: isKnown ? (cell ?? own) : UNKNOWN,
    range: isKnown && range !== own ? range : "",
    confidence: isKnown && isNumber(confidence) ? spell(confidence, "%") : "",
    isKnown,
    isAbsent: state === "absent",
  };
}
