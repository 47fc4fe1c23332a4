import { existsSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";

import { expect, test } from "vitest";

const IMPORT = /^\s*(?:import|export) [^;]*?from "(\.[^"]+)";/gm;

/** The files of ours that a file imports, those of types included. */
function importsOf(file: string): string[] {
  const paths = [...readFileSync(file, "utf8").matchAll(IMPORT)].map(([, path]) => resolve(dirname(file), path as string));
  return paths.map((path) => [path, `${path}.ts`].find((name) => /\.\w+$/.test(name) && existsSync(name)) ?? path);
}

test("no file of the page imports itself by way of others", () => {
  const [done, circles] = [new Set<string>(), [] as string[]];
  const walk = (file: string, way: string[]): void => {
    if (way.includes(file)) circles.push([...way.slice(way.indexOf(file)), file].join(" → "));
    if (way.includes(file) || done.has(file)) return;
    for (const next of importsOf(file)) walk(next, [...way, file]);
    done.add(file);
  };
  walk(resolve("src/main.ts"), []);
  expect(circles).toEqual([]);
  expect(done.size).toBeGreaterThan(50);
});
