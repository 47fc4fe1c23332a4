/** Builds the page before its tests, and leaves the file alone if it is the same: Cargo builds all that embeds a newer one. */

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";

import { build } from "vite";

export const BUNDLE = new URL("../dist/index.html", import.meta.url);

export default async function buildPage(): Promise<void> {
  const built = await build({ logLevel: "error", build: { write: false } });
  const files = [built].flat().flatMap((one) => ("output" in one ? one.output : []));
  const page = files.find(({ fileName }) => fileName === "index.html");
  if (page?.type !== "asset") throw new Error("the build has no index.html");
  const text = String(page.source);
  if (existsSync(BUNDLE) && readFileSync(BUNDLE, "utf8") === text) return;
  mkdirSync(new URL(".", BUNDLE), { recursive: true });
  writeFileSync(BUNDLE, text);
}
