/** Target, plan and program of a run: names and values. */

import type { Calibration, Document, Identity, Labeled, Plan, Value } from "./Document";
import { spell } from "./units";
import { ABOUT, blocksWords, FACTS, KINDS, overheadWords, runWords, WORDS } from "./wording";

export interface Fact {
  name: string;
  value: string;
}

/** Which drive it was, when, and on what: only what is known. */
export function aboutOf({ document: { target, instrument }, started_at: start }: Labeled): string[] {
  const fact = (name: string) => target.facts.find(([known]) => known === name)?.[1];
  const isDrive = target.kind === "device" || target.kind === "simulated";
  const firmware = fact("firmware");
  return [
    target.model,
    target.kind === "simulated" ? ABOUT.simulated : null,
    isDrive && target.capacity_bytes > 0 ? spell(target.capacity_bytes, "bytes") : fact("drive capacity"),
    firmware === undefined ? null : ABOUT.firmware(firmware),
    fact("technology") ?? fact("link") ?? fact("bus"),
    target.name,
    start === undefined ? null : ABOUT.date(start),
    instrument.system,
    ABOUT.version(instrument.version),
  ].filter((part) => part !== null && part !== undefined);
}

/** The same of several: what they have in common, and what each has beside that and its title. */
export function aboutEach(members: Labeled[], titles: string[]): { shared: string[]; each: string[][] } {
  const all = members.map(aboutOf);
  const shared = (all[0] ?? []).filter((part) => all.every((parts) => parts.includes(part)));
  const isOwn = (part: string, at: number) => !shared.includes(part) && !titles[at]?.includes(part);
  return { shared, each: all.map((parts, at) => parts.filter((part) => isOwn(part, at))) };
}

/** What was done with which settings, in one line. */
function conditionsOf({ procedure, plan }: Document): string {
  const settings = Object.entries(plan.options).flatMap(([name, value]) => setting(name, value));
  return [procedure, ...settings.map(({ name, value }) => ABOUT.setting(name, value))].join(" · ");
}

/** What drawings of some documents are of: a line for each, and the conditions that all have in common. */
export function captionOf(members: Labeled[]): string[] {
  const lines = members.map((member) => [...(members.length > 1 ? [member.label] : []), ...aboutOf(member)].join(" · "));
  const conditions = new Set(members.map(({ document }) => conditionsOf(document)));
  return conditions.size === 1 ? [...lines, ...conditions] : lines;
}

/** What the drive is, and what it went through. */
export function driveFacts({ target }: Document): Fact[] {
  return [
    { name: FACTS.target, value: target.name },
    ...(target.model ? [{ name: FACTS.model, value: target.model }] : []),
    { name: FACTS.kind, value: KINDS[target.kind] },
    {
      name: FACTS.capacity,
      value: blocksWords(spell(target.capacity_bytes, "bytes"), spell(target.block_bytes, "bytes")),
    },
    ...target.facts.map(([name, value]) => ({ name: capitalised(name), value })),
    ...accounting(target),
  ];
}

/** What was done, with which settings, and how exactly the instrument measures. */
export function methodFacts(document: Document): Fact[] {
  const { target, plan, instrument } = document;
  return [
    {
      name: FACTS.run,
      value: runWords(
        spell(document.bytes_written, "bytes"),
        spell(document.elapsed_ns, "ns"),
        instrument.clock === "virtual",
      ),
    },
    { name: FACTS.procedure, value: document.procedure },
    { name: FACTS.seed, value: seedWords(plan.seed) },
    ...Object.entries(plan.options).flatMap(([name, value]) => setting(name, value)),
    { name: FACTS.engine, value: target.engine },
    ...(instrument.system ? [{ name: FACTS.system, value: instrument.system }] : []),
    ...calibration(document),
  ];
}

/** Numbers with their names and units. */
function numbers(...rows: [string, number, string][]): Fact[] {
  return rows.map(([name, value, unit]) => ({ name, value: spell(value, unit) }));
}

function accounting({ accounting: counters }: Identity): Fact[] {
  if (!counters) return [];
  const { host_bytes_written: host, flash_bytes_programmed: programmed, write_amplification, erases, free_blocks, wear } = counters;
  // Only flash has blocks to erase.
  if (!wear) return numbers([FACTS.host, host, "bytes"], [FACTS.medium, programmed, "bytes"]);
  const lifetime = [wear.erases_min, wear.erases_mean, wear.erases_max].map((count) => spell(count, ""));
  return [
    ...numbers(
      [FACTS.host, host, "bytes"],
      [FACTS.flash, programmed, "bytes"],
      [FACTS.amplification, write_amplification, "1"],
      [FACTS.erases, erases, ""],
      [FACTS.free, free_blocks, ""],
    ),
    { name: FACTS.wear, value: lifetime.join(", ") },
    ...numbers([FACTS.bad, wear.bad_blocks, ""]),
  ];
}

function calibration({ instrument: { calibration: limits } }: Document): Fact[] {
  if (!limits) return [];
  return [
    ...numbers(
      [FACTS.timer, limits.timer_step_ns, "ns"],
      [FACTS.limit, limits.nop_iops, "1/s"],
      [FACTS.cpu, limits.overhead_ns_per_io, "ns"],
      [FACTS.random, limits.random_data_bytes_per_s, "bytes/s"],
      [FACTS.half, limits.ratio_data_bytes_per_s, "bytes/s"],
    ),
    ...addedLatency(limits),
  ];
}

function addedLatency({ added_latency: added }: Calibration): Fact[] {
  if (!added) return [];
  const [call, wake, slow] = [added.call_ns, added.wake_ns_p50, added.wake_ns_p99].map((ns) => spell(ns, "ns"));
  return [{ name: FACTS.overhead, value: overheadWords(call ?? "", wake ?? "", slow ?? "") }];
}

/** Browsers round whole numbers beyond 2⁵³; a rounded seed must not be shown as the seed. */
function seedWords(seed: number): string {
  return Number.isSafeInteger(seed) ? String(seed) : WORDS.seed;
}

/** A setting that is a table is left to the plan and to the tables of the report. */
function setting(name: string, value: Value): Fact[] {
  const parts = Array.isArray(value) ? value : [value];
  if (parts.some((part) => typeof part === "object" && part !== null)) return [];
  return [{ name: capitalised(name), value: parts.map(String).join(", ") }];
}

function capitalised(name: string): string {
  const words = name.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** The plan as TOML, in the form of `plan.toml` in a run folder. */
export function planText({ schema, procedure, target, drive, seed, options }: Plan): string {
  const lines = [`schema = ${schema}`, `procedure = ${JSON.stringify(procedure)}`];
  if (target !== undefined) lines.push(`target = ${JSON.stringify(target)}`);
  if (drive !== undefined) lines.push(`drive = ${JSON.stringify(drive)}`);
  lines.push(Number.isSafeInteger(seed) ? `seed = ${seed}` : `# seed: ${WORDS.seed}`);
  return [...lines, ...tableLines("options", options), ""].join("\n");
}

/** A table of TOML: its values first, then the tables in it. */
function tableLines(path: string, table: Record<string, Value>): string[] {
  const entries = Object.entries(table).filter(([, value]) => value !== null);
  const values = entries.filter(([, value]) => !isTable(value) && !isTables(value));
  const lines = values.map(([key, value]) => `${tomlKey(key)} = ${tomlValue(value)}`);
  const head = lines.length > 0 ? ["", `[${path}]`, ...lines] : [];
  const below = entries.flatMap(([key, value]) => {
    const name = `${path}.${tomlKey(key)}`;
    if (isTable(value)) return tableLines(name, value);
    if (!isTables(value)) return [];
    return value.flatMap((one) => [
      "",
      `[[${name}]]`,
      ...tableLines(name, one).filter((line) => line !== "" && line !== `[${name}]`),
    ]);
  });
  return [...head, ...below];
}

function isTable(value: Value): value is Record<string, Value> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isTables(value: Value): value is Record<string, Value>[] {
  return Array.isArray(value) && value.length > 0 && value.every(isTable);
}

function tomlKey(key: string): string {
  return /^[\w-]+$/.test(key) ? key : JSON.stringify(key);
}

function tomlValue(value: Value): string {
  if (Array.isArray(value)) return `[${value.map(tomlValue).join(", ")}]`;
  return typeof value === "string" ? JSON.stringify(value) : String(value);
}
