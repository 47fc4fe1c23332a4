import { AxeBuilder } from "@axe-core/playwright";
import { expect, test } from "@playwright/test";

import type { Labeled } from "../src/Document";
import { labeled, published } from "../test/documents";
import { pageWith } from "./pages";

const views = (): Record<string, Labeled[]> => ({
  pair: [labeled("new", "bench-new"), labeled("used", "bench-used")],
  sweeps: [labeled("new", "sweep-new"), labeled("used", "sweep-used")],
  mixed: [labeled("bench", "bench-new"), labeled("fill", "fill-used")],
  empty: [],
  ...Object.fromEntries(
    ["age-used", "bench-new", "bench-used", "endure-steady", "fill-used", "sweep-new"].map((name) => [
      name,
      [labeled(name, name)],
    ]),
  ),
  ...Object.fromEntries(published().map((one) => [`published-${one.label}`, [one]])),
});

/** Rows of one table are alike: a few of them are enough to look at. */
const ROWS = 20;

function shortened(documents: Labeled[]): Labeled[] {
  return documents.map(({ label, document }) => {
    const tables = Object.entries(document.tables).map(([name, rows]) => [name, rows.slice(0, ROWS)] as const);
    return { label, document: { ...document, tables: Object.fromEntries(tables) } };
  });
}

for (const colorScheme of ["light", "dark"] as const) {
  test(`nothing stands in the way of anyone, ${colorScheme}`, async ({ page }) => {
    test.setTimeout(180_000);
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width: 1280, height: 900 });
    for (const [view, documents] of Object.entries(views())) {
      await page.goto(pageWith(shortened(documents), test.info().outputPath("page.html")));
      await page
        .locator("details")
        .evaluateAll((all) => all.forEach((one) => ((one as HTMLDetailsElement).open = true)));
      const { violations } = await new AxeBuilder({ page }).options({ resultTypes: ["violations"] }).analyze();
      const told = violations.map(
        ({ id, nodes }) => `${view}: ${id} at ${nodes.map(({ target }) => target.join(" ")).join(", ")}`,
      );
      expect(told).toEqual([]);
    }
  });
}

for (const width of [390, 1280]) {
  test(`nothing is clipped at ${width} pixels`, async ({ page }) => {
    test.setTimeout(120_000);
    await page.setViewportSize({ width, height: 900 });
    for (const [view, documents] of Object.entries(views())) {
      await page.goto(pageWith(documents, test.info().outputPath("page.html")));
      await page
        .locator("details")
        .evaluateAll((all) => all.forEach((one) => ((one as HTMLDetailsElement).open = true)));
      const clipped = await page.evaluate(() => {
        const beyond: string[] = [];
        for (const element of window.document.querySelectorAll("main *")) {
          // What scrolls in its own box, or is only read out, may be wider than the page.
          if (element.closest("[role=region] > *, .unseen, svg, [role=img] > *")) continue;
          const { left, right, width } = element.getBoundingClientRect();
          if (width > 0 && (left < -0.5 || right > window.innerWidth + 0.5))
            beyond.push(`${element.tagName} ${element.className}`);
        }
        return beyond;
      });
      expect(clipped, view).toEqual([]);
    }
  });
}

test("a table that is too wide says so at its edge, and keeps its first column", async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 900 });
  await page.goto(
    pageWith(
      published().filter(({ label }) => label === "check-slow"),
      test.info().outputPath("page.html"),
    ),
  );
  await page.locator("summary", { hasText: "Tables" }).click();
  const box = page.getByRole("region", { name: "Shares" });
  const frame = page.locator(".frame", { has: box });
  await expect(frame).toHaveClass(/right/);
  await expect(frame).not.toHaveClass(/left/);
  const first = box.locator("tbody tr:first-child > :first-child");
  const before = await first.boundingBox();
  await box.evaluate((element) => element.scrollTo({ left: 200 }));
  await expect(frame).toHaveClass(/left/);
  expect((await first.boundingBox())!.x).toBeCloseTo(before!.x, 0);
});
