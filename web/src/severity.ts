/** What a verdict means to the owner of the drive, and how it is said. */

import type { Estimate, Verdict } from "./Document";
import { spell } from "./units";

export type Severity = "good" | "bad" | "doubtful";

/** A claim that names a problem is good news when it fails. */
export function severityOf({ standing, problem }: Verdict): Severity {
  if (standing === "undecided") return "doubtful";
  return (standing === "holds") === (problem ?? false) ? "bad" : "good";
}

/** Whether a claim stands, in words that do not need colour. */
export function standingWord({ standing, problem }: Verdict): string {
  if (standing === "undecided") return "undecided";
  if (problem) return standing === "holds" ? "problem found" : "no problem";
  return standing === "holds" ? "holds" : "does not hold";
}

/** `77.2 MB/s (76.4 to 77.9 MB/s)`, without the interval where it is the value alone. */
export function estimateWords({ value, low, high, unit }: Estimate): string {
  const spelled = spell(value, unit);
  if (low === value && high === value) return spelled;
  const [from, to] = [spell(low, unit), spell(high, unit)];
  const unitOf = (text: string) => text.slice(text.indexOf(" "));
  const short = from.includes(" ") && unitOf(from) === unitOf(to) ? from.slice(0, from.indexOf(" ")) : from;
  return `${spelled} (${short} to ${to})`;
}
