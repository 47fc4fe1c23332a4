/** The inside of a drive as its properties were found: what is drawn, and what is unknown. */

import { procedureOf } from "./declared";
import type { Inside as Columns } from "./declared";
import type { Document, Row } from "./Document";
import { isNumber } from "./Table";
import { rangeOf, spell, wordsOf } from "./units";
import { ABSENT, UNKNOWN } from "./wording";

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
  /** Dies to draw; none where their number is unknown. */
  dies: number | null;
  /** Spare flash as a share of the capacity. */
  spare: number | null;
  /** Everything by its property; then the parts of the controller, from the host inwards, and those of the flash below its dies. */
  parts: Record<string, Part>;
  controller: Part[];
  parallelism: Part | undefined;
  flash: Part[];
  unknown: Part[];
}

/** The units of numbers that only count. */
const BARE = ["1", ""];

export function insideOf(document: Document): Inside | null {
  const { inside: columns } = procedureOf(document);
  const rows = document.tables[columns?.table ?? ""] ?? [];
  if (!columns || rows.length === 0) return null;
  const told = document.overview.table?.rows ?? [];
  const all = rows.map((row) => [String(row[columns.name]), partOf(row, columns, told)] as const);
  // What the document says nothing of was not asked of this drive, such as the burst credits of one that is no volume.
  const isTold = ({ name, isKnown }: Part) => isKnown || told.some(({ cells }) => cells[0] === name);
  const parts = Object.fromEntries(all.filter(([, part]) => isTold(part)));
  const found = (property: string): number | null => {
    const row = rows.find((row) => row[columns.name] === property);
    const value = row?.[columns.value];
    return row?.[columns.state] === "found" && isNumber(value) ? value : null;
  };
  const placed = [...columns.controller, ...columns.flash, columns.dies];
  return {
    parts,
    dies: found(columns.dies),
    spare: found(columns.spare),
    controller: [
      ...columns.controller.flatMap((key) => parts[key] ?? []),
      // What has no place in the flash; a part that is absent and has no place is left out.
      ...Object.entries(parts).flatMap(([key, part]) => (placed.includes(key) || part.isAbsent ? [] : [part])),
    ],
    parallelism: parts[columns.dies],
    flash: columns.flash.flatMap((key) => parts[key] ?? []),
    unknown: Object.values(parts).filter(({ isKnown }) => !isKnown),
  };
}

function partOf(row: Row, columns: Columns, told: { cells: string[] }[]): Part {
  const name = wordsOf(String(row[columns.name]), columns.name);
  const [state, word, value, low, high, confidence] = [
    columns.state,
    columns.word,
    columns.value,
    `${columns.value}_low`,
    `${columns.value}_high`,
    columns.confidence,
  ].map((column) => row[column]);
  const unit = String(row["unit"] ?? "");
  const spelled = (number: number) => spell(BARE.includes(unit) ? Math.round(number) : number, unit);
  // The overview has the value in the words of the document.
  const cell = told.find(({ cells }) => cells[0] === name)?.cells[1];
  const isKnown = state === "found" || state === "absent";
  const own =
    typeof word === "string"
      ? (columns.words[word] ?? word.replaceAll("_", " "))
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
