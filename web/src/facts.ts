/** Target, plan and program of a run: names and values. */

import type { Accounting, Calibration, Document, Identity, Value } from "./Document";
import { spell } from "./units";

export interface Fact {
  name: string;
  value: string;
}

const KINDS: Record<Identity["kind"], string> = {
  folder: "free space of a folder",
  file: "file",
  device: "block device",
  simulated: "simulated drive",
  nop: "no drive at all",
};

export function factsOf(document: Document): Fact[] {
  const { target, plan, instrument } = document;
  const time = instrument.clock === "virtual" ? " of simulated time" : "";
  return [
    { name: "Target", value: target.name },
    ...(target.model ? [{ name: "Model", value: target.model }] : []),
    { name: "Kind", value: KINDS[target.kind] },
    { name: "Capacity", value: `${spell(target.capacity_bytes, "bytes")} in blocks of ${spell(target.block_bytes, "bytes")}` },
    ...target.facts.map(([name, value]) => ({ name: capitalised(name), value })),
    { name: "Run", value: `${spell(document.bytes_written, "bytes")} written in ${spell(document.elapsed_ns, "ns")}${time}` },
    ...accounting(target),
    { name: "Procedure", value: document.procedure },
    { name: "Seed", value: seedWords(plan.seed) },
    ...Object.entries(plan.options).flatMap(([name, value]) => setting(name, value)),
    { name: "Engine", value: target.engine },
    ...calibration(document),
  ];
}

function accounting({ accounting: counters }: Identity): Fact[] {
  if (!counters) return [];
  const host = { name: "Written by the host in this run", value: spell(counters.host_bytes_written, "bytes") };
  // Only flash has blocks to erase.
  if (!counters.wear) {
    return [host, { name: "Written to the medium in this run", value: spell(counters.flash_bytes_programmed, "bytes") }];
  }
  return [
    host,
    { name: "Programmed to flash in this run", value: spell(counters.flash_bytes_programmed, "bytes") },
    { name: "Write amplification", value: spell(counters.write_amplification, "1") },
    { name: "Erases", value: spell(counters.erases, "") },
    { name: "Free blocks", value: spell(counters.free_blocks, "") },
    ...wear(counters),
  ];
}

function wear({ wear: erases }: Accounting): Fact[] {
  if (!erases) return [];
  const [least, mean, most] = [erases.erases_min, erases.erases_mean, erases.erases_max];
  return [
    { name: "Lifetime erases per block (min, mean, max)", value: [least, mean, most].map((n) => spell(n, "")).join(", ") },
    { name: "Bad blocks", value: spell(erases.bad_blocks, "") },
  ];
}

function calibration({ instrument: { calibration: limits } }: Document): Fact[] {
  if (!limits) return [];
  return [
    { name: "Timer step", value: spell(limits.timer_step_ns, "ns") },
    { name: "IOPS limit without a drive", value: spell(limits.nop_iops, "1/s") },
    { name: "CPU time per I/O", value: spell(limits.overhead_ns_per_io, "ns") },
    { name: "Incompressible data generated", value: spell(limits.random_data_bytes_per_s, "bytes/s") },
    { name: "Half-compressible data generated", value: spell(limits.ratio_data_bytes_per_s, "bytes/s") },
    ...addedLatency(limits),
  ];
}

function addedLatency({ added_latency: added }: Calibration): Fact[] {
  if (!added) return [];
  const [call, wake, slow] = [added.call_ns, added.wake_ns_p50, added.wake_ns_p99].map((ns) => spell(ns, "ns"));
  return [{ name: "Measurement overhead per latency", value: `${call} of system calls, ${wake} (p99 ${slow}) to wake up` }];
}

/** Browsers round whole numbers beyond 2⁵³; a rounded seed must not be shown as the seed. */
function seedWords(seed: number): string {
  return Number.isSafeInteger(seed) ? String(seed) : "beyond 2⁵³; the JSON has it exactly";
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
