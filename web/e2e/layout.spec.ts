/** Every example on a phone and on a desk, light and dark. */

import type { Page } from "@playwright/test";

import { summaryOf } from "../src/answers";
import type { Labeled } from "../src/Document";
import { labeled, published, xray } from "../test/documents";
import { packed, queue } from "../test/packed";
import { clipped, expect, test, textFaults, unfoldAll, violations } from "./fixtures";

/** Documents with I/Os, of which the first left some out. */
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

/** Goes through all views in a setting, folded and unfolded: each has its answer and its chart, and fits the window. */
async function visit(
  page: Page,
  open: (documents: Labeled[]) => Promise<void>,
  { width, colorScheme }: { width: number; colorScheme: "light" | "dark" },
  look: (view: string) => Promise<void>,
): Promise<void> {
  test.setTimeout(300_000);
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
    expect(await clipped(page), view).toEqual([]);
    await look(view);
  }
}

for (const setting of [{ width: 1280, colorScheme: "light" }, { width: 390, colorScheme: "dark" }] as const) {
  const title = `each answer and its charts fit ${setting.width} pixels, ${setting.colorScheme}`;
  // Each change must pass the journey; all tests together repeat it with other fonts.
  test(title, { tag: ["@journey", "@fonts"] }, async ({ page, open }) => {
    await visit(page, open, setting, async (view) => expect(await textFaults(page), view).toEqual([]));
  });
}

for (const setting of [{ width: 1280, colorScheme: "dark" }, { width: 390, colorScheme: "light" }] as const) {
  test(`nothing stands in the way of anyone at ${setting.width} pixels, ${setting.colorScheme}`, async ({ page, open }) => {
    await visit(page, (documents) => open(documents.map(shortened)), setting, async (view) => {
      expect(await violations(page), view).toEqual([]);
      if (!view.startsWith("recorded")) return;
      for (const button of await page.getByRole("button", { name: "Table", exact: true }).all()) await button.click();
      expect([...(await violations(page)), ...(await clipped(page))], view).toEqual([]);
    });
  });
}

/** Rows of one table are alike: a few of them are enough to look at. */
const ROWS = 8;

function shortened({ document, ...rest }: Labeled): Labeled {
  const tables = Object.entries(document.tables).map(([name, rows]) => [name, rows.slice(0, ROWS)] as const);
  return { ...rest, document: { ...document, tables: Object.fromEntries(tables) } };
}
