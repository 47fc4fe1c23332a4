/** Every example on a phone and on a desk, light and dark. */

import type { Document, Labeled } from "../src/Document";
import { summaryOf } from "../src/answers";
import { labeled, published, xray } from "../test/documents";
import { packed, queue } from "../test/packed";
import { clipped, expect, test, textFaults, unfoldAll, violations } from "./fixtures";

/** Documents with I/Os, of which one left some out. */
const recorded = (...names: string[]): Labeled[] =>
  names.map((name, at) => ({ ...labeled(name, name), samples: packed(queue(at === 0 ? 20_000 : 5000), at === 0 ? 12 : 1) }));

const views = (): Record<string, Labeled[]> => ({
  ...Object.fromEntries(published().map((one) => [one.label, [one]])),
  xray: [xray()],
  empty: [],
  compared: ["compare-benches", "bench-new", "bench-used"].map((name) => labeled(name, name)),
  sweeps: [labeled("new", "sweep-new"), labeled("used", "sweep-used")],
  "recorded pair": recorded("bench-new", "bench-used"),
  "recorded groups": recorded("bench-new", "fill-used"),
});

/** The journey is what each change must pass; `@fonts` runs once more with each other font. */
const SETTINGS = [
  { width: 1280, colorScheme: "light", tag: ["@journey", "@fonts"] },
  { width: 390, colorScheme: "dark", tag: ["@journey", "@fonts"] },
  { width: 1280, colorScheme: "dark", tag: [] },
  { width: 390, colorScheme: "light", tag: [] },
] as const;

for (const { width, colorScheme, tag } of SETTINGS) {
  test(`each answer and its charts fit ${width} pixels, ${colorScheme}`, { tag: [...tag] }, async ({ page, open }) => {
    test.setTimeout(120_000);
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 900 });
    for (const [view, documents] of Object.entries(views())) {
      await open(documents);
      for (const { document } of documents)
        await expect(page.getByRole("heading", { name: summaryOf(document) }).first(), view).toBeVisible();
      if (documents.length > 0) await expect(page.locator(".picture canvas, svg[role=img]").first(), view).toBeVisible();
      const paper = await page.evaluate(() => getComputedStyle(window.document.body).backgroundColor);
      expect(paper).toBe(colorScheme === "dark" ? "rgb(20, 23, 26)" : "rgb(251, 251, 250)");
      expect(await clipped(page), view).toEqual([]);
      await unfoldAll(page);
      await expect(page.getByText(/^Unpacking /), view).toHaveCount(0);
      expect([...(await clipped(page)), ...(await textFaults(page))], view).toEqual([]);
    }
  });
}

/** Rows of one table are alike: a few of them are enough to look at. */
const ROWS = 8;

function shortened({ label, document, ...rest }: Labeled): Labeled {
  const tables = Object.entries(document.tables).map(([name, rows]) => [name, rows.slice(0, ROWS)] as const);
  return { label, document: { ...document, tables: Object.fromEntries(tables) } satisfies Document, ...rest };
}

for (const colorScheme of ["light", "dark"] as const) {
  test(`nothing stands in the way of anyone, ${colorScheme}`, async ({ page, open }) => {
    test.setTimeout(180_000);
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width: 1280, height: 900 });
    // Only colors differ when it is dark.
    const rules = colorScheme === "dark" ? ["color-contrast"] : undefined;
    for (const [view, documents] of Object.entries(views())) {
      await open(documents.map(shortened));
      await unfoldAll(page);
      await expect(page.getByText(/^Unpacking /), view).toHaveCount(0);
      expect(await violations(page, rules), view).toEqual([]);
      if (!view.startsWith("recorded")) continue;
      for (const button of await page.getByRole("button", { name: "Table", exact: true }).all()) await button.click();
      expect(await violations(page, rules), view).toEqual([]);
    }
  });
}
