/** The first screen of each report as a picture that is kept: `npm run snapshots` renews them. */

import type { Labeled } from "../src/Document";
import type { SavedView } from "../src/serve/file";
import { labeled, xray } from "../test/documents";
import { fallen, pageOf } from "../test/histories";
import { expect, test } from "./fixtures";

const VIEWS = {
  check: ["check-slow"],
  bench: ["bench-new"],
  fill: ["fill-used"],
  cache: ["cache-new"],
  verify: ["verify-new"],
  trim: ["trim-works"],
  recondition: ["recondition-restored"],
  endure: ["endure-knees"],
  sweep: ["sweep-new"],
  surface: ["surface-unreadable"],
  suits: ["suits-etcd"],
  age: ["age-used"],
  apps: ["apps-new"],
  data: ["data-new"],
  model: ["model-disk"],
  replay: ["replay-day"],
  comparison: ["compare-benches", "bench-new", "bench-used"],
};

/** A document as every version writes it. */
function unversioned(one: Labeled): Labeled {
  one.document.instrument.version = "0.0.0";
  return one;
}

const all: [string, () => Labeled[] | SavedView][] = [
  ...Object.entries(VIEWS).map(([view, names]) => [view, () => names.map((name) => unversioned(labeled(name, name)))] as [string, () => Labeled[]]),
  ["xray", () => [unversioned(xray())]],
  ["history", () => pageOf([fallen()])],
];

/** Pixels that may differ. The same page differs in none, and one whose legend is moved by three pixels in 296 or more. */
const TOLERANCE = 100;

for (const setting of [
  { width: 1280, height: 520, colorScheme: "light", tag: ["@journey"] },
  { width: 390, height: 360, colorScheme: "dark", tag: [] },
] as const) {
  const { width, height, colorScheme, tag } = setting;
  test.describe(`at ${width} pixels`, { tag: [...tag] }, () => {
    for (const [view, of] of all)
      test(`${view} is as in its picture`, async ({ page, open }) => {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height });
        await open(of());
        await expect(page).toHaveScreenshot(`${view}-${width}-${colorScheme}.png`, { maxDiffPixels: TOLERANCE });
      });
  });
}
