/**
 * A part of the page in its address: `#fill-chart-files` in a file, and `#/result/RUN?at=fill-chart-files` where the
 * address names a view already.
 */

const AT = /\?at=([^/?]*)$/;

/** The part that an address names; empty where it names none. */
export function partOf(hash: string): string {
  if (!hash.startsWith("#/")) return hash.slice(1);
  return AT.exec(hash)?.[1] ?? "";
}

/** The address of the view alone. */
export function viewOf(hash: string): string {
  return hash.startsWith("#/") ? hash.replace(AT, "") : "";
}

/** The address of a part of the view that is shown. */
export function toPart(hash: string, id: string): string {
  const view = viewOf(hash);
  return view === "" ? `#${id}` : `${view}?at=${id}`;
}

/** `Speed of each file` as `speed-of-each-file`. */
export function slugOf(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "");
}

/** Ids for parts of a page by their names; a second one of the same name gets a number. */
export function idsOf(names: string[]): string[] {
  const counts = new Map<string, number>();
  return names.map((name) => {
    const id = slugOf(name);
    const count = (counts.get(id) ?? 0) + 1;
    counts.set(id, count);
    return count === 1 ? id : `${id}-${count}`;
  });
}
