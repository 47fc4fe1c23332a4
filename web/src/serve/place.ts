/** Where in the page the user is, as the part of the address behind the #. */

export type Place =
  | { view: "drives" }
  | { view: "start"; command: string; target: string }
  | { view: "job"; id: number }
  | { view: "history"; key: string | null }
  | { view: "runs" }
  | { view: "result"; runs: string[] };

export function placeOf(hash: string): Place {
  const [view = "", ...rest] = hash.replace(/^#\/?/, "").split("/").map(decode);
  switch (view) {
    case "start":
      return { view, command: rest[0] ?? "check", target: rest[1] ?? "" };
    case "job":
      return { view, id: Number(rest[0]) };
    case "history":
      return { view, key: rest[0] || null };
    case "runs":
      return { view };
    case "result":
      return { view, runs: rest.filter((name) => name !== "") };
    default:
      return { view: "drives" };
  }
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
export const toHistory = address("history");
export const toDriveHistory = (key: string): string => address("history", key);
export const toRuns = address("runs");
export const toStart = (command: string, target: string): string => address("start", command, target);
export const toJob = (id: number): string => address("job", String(id));
export const toResult = (...runs: string[]): string => address("result", ...runs);
