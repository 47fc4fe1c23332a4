import { readFileSync } from "node:fs";

import { expect, test } from "@playwright/test";
import type { Page } from "@playwright/test";

import type { Labeled } from "../src/Document";
import { labeled, published } from "../test/documents";
import { pageWith } from "./pages";

async function open(page: Page, documents: Labeled[]): Promise<void> {
  await page.goto(pageWith(documents, test.info().outputPath("page.html")));
}

const example = (name: string) => published().filter(({ label }) => label === name);

/** The texts of a chart saved as SVG, with their boxes. */
async function textsOf(
  page: Page,
  svg: string,
): Promise<{ text: string; left: number; right: number; top: number; bottom: number }[]> {
  return page.evaluate((source) => {
    const holder = window.document.createElement("div");
    holder.innerHTML = source;
    window.document.body.append(holder);
    const start = holder.firstElementChild!.getBoundingClientRect();
    const all = [...holder.querySelectorAll("text")].map((element) => {
      const { left, right, top, bottom } = element.getBoundingClientRect();
      return {
        text: element.textContent ?? "",
        left: left - start.left,
        right: right - start.left,
        top: top - start.top,
        bottom: bottom - start.top,
      };
    });
    holder.remove();
    return all.filter(({ text }) => text.trim() !== "");
  }, svg);
}

async function savedSvg(page: Page, title: string): Promise<string> {
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: `Save ${title} as SVG`, exact: true }).click();
  return readFileSync(await (await download).path(), "utf8");
}

const LEADS = {
  "check-slow": "Each metric now, as a share of new",
  "age-used": "Used compared with new",
  "recondition-restored": "Before and after each step, as a share of new",
  "endure-knees": "Speed of file as the drive is written",
  "bench-new": "Speed of each test",
};

for (const width of [390, 1280]) {
  test(`no text of a chart covers another or leaves the chart at ${width} pixels`, async ({ page }) => {
    await page.setViewportSize({ width, height: 900 });
    for (const [name, title] of Object.entries(LEADS)) {
      await open(page, example(name));
      const picture = (await page.getByRole("img", { name: title, exact: true }).boundingBox())!;
      const texts = await textsOf(page, await savedSvg(page, title));
      expect(texts.length, name).toBeGreaterThan(6);
      for (const [index, one] of texts.entries()) {
        expect(one.left, `${name}: ${one.text}`).toBeGreaterThanOrEqual(-1);
        expect(one.right, `${name}: ${one.text}`).toBeLessThanOrEqual(picture.width + 1);
        for (const other of texts.slice(index + 1)) {
          const across = Math.min(one.right, other.right) - Math.max(one.left, other.left);
          const down = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
          expect(across > 1 && down > 3, `${name}: "${one.text}" covers "${other.text}"`).toBe(false);
        }
      }
    }
  });
}

test("knees side by side have their names in rows", async ({ page }) => {
  const [one] = example("endure-knees") as [Labeled];
  const series = one.document.series["file"]!;
  const [start, end] = [series.lines[0]!.points[0]![0], series.lines[0]!.points.at(-1)![0]];
  series.marks = [0.5, 0.51, 0.52, 0.9].map((share, index) => ({
    x: start + share * (end - start),
    label: `write: knee number ${index + 1}`,
  }));
  await open(page, [one]);
  const texts = (await textsOf(page, await savedSvg(page, series.title))).filter(({ text }) =>
    text.includes("knee number"),
  );
  expect(texts).toHaveLength(4);
  expect(new Set(texts.slice(0, 3).map(({ top }) => Math.round(top))).size).toBe(3);
});

test("a chart is a table on request, and told in words", async ({ page }) => {
  await open(page, example("endure-knees"));
  const card = page.getByRole("region", { name: "Speed of file as the drive is written" });
  await expect(card.getByRole("img")).toHaveAccessibleDescription(/^write: .* MB\/s, from 69\.7 MB\/s/);
  await card.getByRole("button", { name: "Table" }).click();
  await expect(card.locator("tbody tr")).toHaveCount(71);
  await expect(card.getByRole("img")).toHaveCount(0);
  await card.getByRole("button", { name: "Table" }).click();
  await expect(card.getByRole("img")).toBeVisible();
});

test("the table of a check is that of its document", async ({ page }) => {
  await open(page, example("check-slow"));
  await page.getByRole("region", { name: LEADS["check-slow"] }).getByRole("button", { name: "Table" }).click();
  await expect(page.getByRole("region", { name: "Overview" }).locator("tbody tr")).toHaveCount(6);
});

test("keys zoom and show all again", async ({ page }) => {
  await open(page, [labeled("x25m", "fill-used")]);
  const card = page.getByRole("region", { name: "Speed of each file", exact: true });
  const all = card.getByRole("button", { name: "Show all" });
  await expect(all).toHaveCount(0);
  await card.getByRole("img").focus();
  await page.keyboard.press("+");
  await expect(all).toBeVisible();
  await page.keyboard.press("0");
  await expect(all).toHaveCount(0);
  await card.getByRole("button", { name: "Zoom in" }).click();
  await all.click();
  await expect(all).toHaveCount(0);
});

/** The largest number on the x axis. */
async function filesShown(page: Page): Promise<number> {
  const texts = await textsOf(page, await savedSvg(page, "Speed of each file"));
  return Math.max(...texts.map(({ text }) => Number(text)).filter(Number.isFinite));
}

test("the wheel with a key zooms, and a drag across the strip chooses a part", async ({ page }) => {
  await open(page, [labeled("x25m", "fill-used")]);
  const card = page.getByRole("region", { name: "Speed of each file", exact: true });
  const box = (await card.getByRole("img").boundingBox())!;
  await page.mouse.move(box.x + box.width / 2, box.y + 120);
  await page.keyboard.down("Control");
  await page.mouse.wheel(0, -300);
  await page.keyboard.up("Control");
  await expect(card.getByRole("button", { name: "Show all" })).toBeVisible();
  await card.getByRole("button", { name: "Show all" }).click();
  await expect(card.getByRole("button", { name: "Show all" })).toHaveCount(0);
  // The handle of the right end, moved to the middle.
  const y = box.y + box.height - 18;
  await page.mouse.move(box.x + box.width - 24, y);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width / 2, y, { steps: 12 });
  await page.mouse.up();
  await expect(card.getByRole("button", { name: "Show all" })).toBeVisible();
  await expect.poll(() => filesShown(page)).toBeLessThan(130);
  await card.getByRole("button", { name: "Show all" }).click();
  await expect(card.getByRole("button", { name: "Show all" })).toHaveCount(0);
  // The lower half chooses a part, the upper half moves it.
  await page.mouse.move(box.x + box.width * 0.4, y + 5);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.6, y + 5, { steps: 12 });
  await page.mouse.up();
  await expect(card.getByRole("button", { name: "Show all" })).toBeVisible();
});

test("a cell of a heat map opens its latencies by pointer and by keyboard", async ({ page }) => {
  await open(page, example("sweep-new"));
  const picture = page.getByRole("img", { name: /^Speed by block size/ }).first();
  const card = page.getByRole("region", { name: /^Speed by block size/ }).first();
  await picture.focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");
  await expect(card.getByText("p99", { exact: true })).toBeVisible();
  const first = await card.locator("dd").allTextContents();
  const box = (await picture.boundingBox())!;
  await picture.click({ position: { x: box.width - 60, y: 100 } });
  await expect.poll(() => card.locator("dd").allTextContents()).not.toEqual(first);
});

test("an X-ray is drawn with what is unknown in it", async ({ page }) => {
  const one = labeled("one", "bench-new");
  const row = (property: string, state: string, value: number | null, unit: string) => ({
    property,
    state,
    word: null,
    value,
    value_low: value,
    value_high: value,
    unit,
    confidence_percent: state === "found" ? 95 : null,
  });
  one.document.procedure = "xray";
  one.document.tables = {
    properties: [
      row("parallelism", "found", 16, "1"),
      row("write_buffer_bytes", "found", 262144, "bytes"),
      row("token_bucket_ios", "undecided", null, "1"),
    ],
  };
  await open(page, [one]);
  const drawing = page.getByRole("img", { name: "Inside the drive" });
  await expect(drawing).toContainText("16 dies work in parallel");
  await expect(drawing).toContainText("256 KiB");
  await expect(drawing).toContainText("? unknown");
  await expect(page.getByText("Unknown: burst credits.")).toBeVisible();
  expect(await savedSvg(page, "Inside the drive")).toContain("<svg");
  const png = page.waitForEvent("download");
  await page.getByRole("button", { name: "Save Inside the drive as PNG" }).click();
  expect(
    readFileSync(await (await png).path())
      .subarray(1, 4)
      .toString(),
  ).toBe("PNG");
});

test("the bundle stays below 900 KiB", () => {
  expect(readFileSync(new URL("../dist/index.html", import.meta.url)).length).toBeLessThanOrEqual(900 * 1024);
});
