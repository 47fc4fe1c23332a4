import { readFileSync } from "node:fs";

import { AxeBuilder } from "@axe-core/playwright";
import { expect, test } from "@playwright/test";
import type { Locator, Page } from "@playwright/test";

import type { Labeled } from "../src/Document";
import { labeled } from "../test/documents";
import { packed, queue } from "../test/packed";
import { pageWith } from "./pages";

const SCATTER = "Latency of each I/O";
const DISTRIBUTION = "Distribution of latencies";

/** A benchmark of which every I/O is known. */
const recorded = (label: string, count = 50_000, keptOf = 1): Labeled => ({
  ...labeled(label, "bench-new"),
  samples: packed(queue(count), keptOf),
});

const errors: string[] = [];

async function open(page: Page, documents: Labeled[]): Promise<void> {
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  page.on("pageerror", (error) => errors.push(String(error)));
  await page.goto(pageWith(documents, test.info().outputPath("page.html")));
}

test.beforeEach(() => void errors.splice(0));
test.afterEach(() => expect(errors).toEqual([]));

const cardOf = (page: Page, title: string) => page.getByRole("region", { name: title, exact: true });

/** The share of a chart's pixels that are drawn. */
async function inked(card: Locator): Promise<number> {
  return card.locator("canvas").first().evaluate((element) => {
    const canvas = element as HTMLCanvasElement;
    const { data } = canvas.getContext("2d")!.getImageData(0, 0, canvas.width, canvas.height);
    let drawn = 0;
    for (let at = 3; at < data.length; at += 4) if (data[at]) drawn += 1;
    return drawn / (data.length / 4);
  });
}

async function savedSvg(page: Page, title: string): Promise<string> {
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: `Save ${title} as SVG`, exact: true }).click();
  return readFileSync(await (await download).path(), "utf8");
}

test("every I/O is drawn over time and by latency, after the chart of the answer", async ({ page }) => {
  await open(page, [recorded("one")]);
  await expect.poll(() => inked(cardOf(page, SCATTER))).toBeGreaterThan(0.05);
  await expect.poll(() => inked(cardOf(page, DISTRIBUTION))).toBeGreaterThan(0.01);
  const tops = await Promise.all(
    ["Speed of each test", SCATTER, DISTRIBUTION].map(async (title) => (await cardOf(page, title).boundingBox())!.y),
  );
  expect(tops).toEqual(tops.toSorted((one, other) => one - other));
  await expect(cardOf(page, SCATTER).getByRole("img")).toHaveAccessibleDescription(
    /^[23]\d,\d{3} reads: p50 8\d µs, p99 \d+ µs, slowest [\d.]+ ms at [\d.]+ m?s\. [12]\d,\d{3} writes: p50 2\d µs/,
  );
  await expect(cardOf(page, DISTRIBUTION).getByRole("img")).toHaveAccessibleDescription(
    /^read: p50 8\d µs, p99 \d+ µs, p99\.9 [\d.]+ \S+, p99\.99 [\d.]+ ms, max [\d.]+ ms\. write: p50 2\d µs/,
  );
  await expect(cardOf(page, SCATTER).getByRole("button", { name: "Log" })).toHaveAttribute("aria-pressed", "true");
  await expect(page.getByText("All of the slowest 1%")).toHaveCount(0);
});

test("keys, wheel and strip zoom until single I/Os stand apart", async ({ page }) => {
  await open(page, [recorded("one")]);
  const card = cardOf(page, SCATTER);
  const all = card.getByRole("button", { name: "Show all" });
  await card.getByRole("img").focus();
  for (let press = 0; press < 10; press++) await page.keyboard.press("+");
  await expect(all).toBeVisible();
  // The ticks of a thousandth of the time differ from each other.
  await expect
    .poll(async () => {
      const found = (await savedSvg(page, SCATTER)).matchAll(/<text[^>]*>([\d.]{5,} ms)<\/text>/g);
      const texts = [...found].map(([, text]) => text);
      return texts.length > 2 && new Set(texts).size === texts.length;
    })
    .toBe(true);
  await card.getByRole("img").focus();
  await page.keyboard.press("0");
  await expect(all).toHaveCount(0);
  const box = (await card.getByRole("img").boundingBox())!;
  await page.mouse.move(box.x + box.width / 2, box.y + 120);
  await page.keyboard.down("Control");
  await page.mouse.wheel(0, -300);
  await page.keyboard.up("Control");
  await expect(all).toBeVisible();
  await all.click();
  await expect(all).toHaveCount(0);
  const y = box.y + box.height - 13;
  await page.mouse.move(box.x + box.width * 0.4, y);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.6, y, { steps: 12 });
  await page.mouse.up();
  await expect(all).toBeVisible();
});

test("pointer and arrow keys say time and latency of an I/O", async ({ page }) => {
  await open(page, [recorded("one")]);
  const picture = cardOf(page, SCATTER).getByRole("img");
  await picture.focus();
  await page.keyboard.press("ArrowRight");
  await expect(page.getByRole("status").getByText(/^read, time [\d.]+ (µs|ms): [\d.]+ µs$/)).toBeVisible();
  const { width, height } = (await picture.boundingBox())!;
  await expect
    .poll(async () => {
      for (let step = 0; step < 30; step++) {
        await picture.hover({ position: { x: width / 2, y: height - 100 - 5 * step } });
        if (await picture.getByText(/^time \d{3}\.\d\d ms (read|write) [\d.]+ (µs|ms)$/).isVisible()) return true;
      }
      return false;
    })
    .toBe(true);
});

test("the table has the slowest hundred I/Os, and the chart is saved", async ({ page }) => {
  await open(page, [recorded("one")]);
  const card = cardOf(page, SCATTER);
  const png = page.waitForEvent("download");
  await card.getByRole("button", { name: `Save ${SCATTER} as PNG` }).click();
  expect((await png).suggestedFilename()).toBe("latency-of-each-i-o.png");
  await card.getByRole("button", { name: "Table" }).click();
  await expect(card.getByText("The slowest 100 of 50,000 I/Os.")).toBeVisible();
  await expect(card.locator("tbody tr")).toHaveCount(100);
  const latencies = (await card.locator("tbody td:nth-child(3)").allTextContents()).map(
    (text) => Number.parseFloat(text) * (text.endsWith("ms") ? 1000 : 1),
  );
  expect(latencies).toEqual(latencies.toSorted((one, other) => other - one));
  await cardOf(page, DISTRIBUTION).getByRole("button", { name: "Table" }).click();
  await expect(cardOf(page, DISTRIBUTION).locator("tbody tr")).toHaveCount(6);
});

test("I/Os that were left out are told, and damaged ones do not break the page", async ({ page }) => {
  await open(page, [recorded("one", 5000, 12)]);
  await expect(cardOf(page, SCATTER).getByText(/^All of the slowest 1% .* one in 12 of the others\./)).toBeVisible();
  const broken = recorded("one", 5000);
  broken.samples!.data = broken.samples!.data.slice(0, 400);
  await open(page, [broken]);
  await expect(page.getByText("The recorded I/Os cannot be shown: their data is damaged.")).toBeVisible();
  await expect(cardOf(page, "Speed of each test").getByRole("img")).toBeVisible();
  await expect(cardOf(page, SCATTER)).toHaveCount(0);
  await open(page, [{ ...labeled("one", "bench-new"), samples: packed({ read: [], write: [] }) }]);
  await expect(page.getByText("This run recorded no I/Os.")).toBeVisible();
  await open(page, [{ ...labeled("one", "bench-new"), samples: packed({ read: [{ start: 0, latency: 81e3 }] }) }]);
  await expect(page.getByText("1 read: p50 81 µs, slowest 81 µs at 0 ns.")).toBeVisible();
});

test("two runs stand side by side, and zoom together", async ({ page }) => {
  await page.setViewportSize({ width: 1600, height: 900 });
  await open(page, [recorded("new"), recorded("used", 20_000)]);
  const [one, two] = [cardOf(page, `${SCATTER} · new`), cardOf(page, `${SCATTER} · used`)];
  await expect.poll(() => inked(two)).toBeGreaterThan(0.01);
  expect((await one.boundingBox())!.y).toBe((await two.boundingBox())!.y);
  await one.getByRole("button", { name: "Zoom in" }).click();
  await expect(two.getByRole("button", { name: "Show all" })).toBeVisible();
  await expect(cardOf(page, DISTRIBUTION)).toHaveCount(1);
  await expect(page.getByText("new: read: p50")).toBeVisible();
});

for (const colorScheme of ["light", "dark"] as const) {
  for (const width of [390, 1280]) {
    test(`recorded I/Os are in nobody's way and fit ${width} pixels, ${colorScheme}`, async ({ page }) => {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 900 });
      const groups = [recorded("bench", 5000), { ...labeled("fill", "fill-used"), samples: packed(queue(5000)) }];
      const pair = [recorded("new", 20_000), recorded("used", 20_000)];
      for (const documents of [[recorded("one", 20_000, 12)], pair, groups]) {
        await open(page, documents);
        await expect(page.getByRole("img", { name: DISTRIBUTION }).first()).toBeVisible();
        for (const table of [false, true]) {
          const buttons = page.getByRole("button", { name: "Table", exact: true });
          if (table) for (const button of await buttons.all()) await button.click();
          const { violations } = await new AxeBuilder({ page }).options({ resultTypes: ["violations"] }).analyze();
          expect(violations.map(({ id, nodes }) => [id, ...nodes.map(({ target }) => target.join(" "))])).toEqual([]);
          const wider = await page.evaluate(() => window.document.documentElement.scrollWidth - window.innerWidth);
          expect(wider).toBeLessThanOrEqual(0);
        }
        await page.goto("about:blank");
      }
      await open(page, [recorded("one", 20_000, 12)]);
      await expect(cardOf(page, DISTRIBUTION).getByRole("img")).toBeVisible();
      await page.screenshot({ path: test.info().outputPath("samples.png"), fullPage: true });
    });
  }
}
