/** Where in the page the user is, as the part of the address behind the #. */

import { viewOf } from "../address";
import type { Order } from "./answers";

export type Place =
  | { view: "drives" }
  | { view: "simulated" }
  | { view: "start"; order: Order }
  | { view: "job"; id: number }
  | { view: "history"; key: string | null }
  | { view: "runs"; offset: number }
  | { view: "result"; runs: string[] };

export function placeOf(hash: string): Place {
  const [view = "", ...rest] = viewOf(hash).replace(/^#\/?/, "").split("/").map(decode);
  switch (view) {
    case "simulated":
      return { view };
    case "start":
      return { view, order: { command: rest[0] || "check", target: rest[1] ?? "", options: optionsOf(rest.slice(2)) } };
    case "job":
      return { view, id: Number(rest[0]) };
    case "history":
      return { view, key: rest[0] || null };
    case "runs":
      return { view, offset: Math.max(Math.floor(Number(rest[0])) || 0, 0) };
    case "result":
      return { view, runs: rest.filter((name) => name !== "") };
    default:
      return { view: "drives" };
  }
}

/** `bytes=1GiB` is an option with a value, and `thorough` a switch. */
function optionsOf(parts: string[]): Order["options"] {
  const pairs = parts.filter(Boolean).map((part): [string, string | true] => {
    const at = part.indexOf("=");
    return at < 0 ? [part, true] : [part.slice(0, at), part.slice(at + 1)];
  });
  return Object.fromEntries(pairs);
}

/** A part that is no proper escape is taken as it is. */
function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

const address = (...parts: string[]): string => `#/${parts.map(encodeURIComponent).join("/")}`;

export const toDrives = address("drives");
export const toSimulated = address("simulated");
export const toDriveHistory = (key: string): string => address("history", key);
export const toRuns = (offset = 0): string => (offset > 0 ? address("runs", String(offset)) : address("runs"));
export const toStart = ({ command, target, options }: Order): string => {
  const parts = Object.entries(options).map(([name, value]) => (value === true ? name : `${name}=${value}`));
  return address("start", command, target, ...parts);
};
export const toCheck = (target: string): string => toStart({ command: "check", target, options: {} });
export const toJob = (id: number): string => address("job", String(id));
export const toResult = (...runs: string[]): string => address("result", ...runs);
