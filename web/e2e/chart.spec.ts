import { readFileSync } from "node:fs";

import type { Page } from "@playwright/test";

import { DARK, LIGHT, STRIP } from "../src/picture";
import { spell } from "../src/units";
import { labeled, xray } from "../test/documents";
import { BUNDLE } from "./build";
import { cardOf, expect, saved, test, textsOf, unfoldAll } from "./fixtures";
import type { Text } from "./fixtures";

const FILES = "Speed of each file";
const METRICS = "Each metric now, as a share of new";

const textsIn = async (page: Page, title: string): Promise<Text[]> => (await textsOf(page))[title]!.texts;

test("knees side by side have their names in rows", async ({ page, open }) => {
  const one = labeled("one", "endure-knees");
  const series = one.document.series["file"]!;
  const [start, end] = [series.lines[0]!.points[0]![0], series.lines[0]!.points.at(-1)![0]];
  series.marks = [0.5, 0.51, 0.52, 0.9].map((share, index) => ({
    x: start + share * (end - start),
    label: `write: knee number ${index + 1}`,
  }));
  await open([one]);
  const texts = (await textsIn(page, series.title)).filter(({ text }) => text.includes("knee number"));
  expect(texts).toHaveLength(4);
  expect(new Set(texts.slice(0, 3).map(({ top }) => Math.round(top))).size).toBe(3);
});

test("a chart is a table on request, and told in words", async ({ page, open }) => {
  const one = labeled("one", "endure-knees");
  const { title, lines } = one.document.series["file"]!;
  await open([one]);
  const card = cardOf(page, title);
  const first = spell(lines[0]!.points[0]![1], "bytes/s");
  await expect(card.getByRole("img")).toHaveAccessibleDescription(new RegExp(`^write: .* MB/s, from ${first} at bytes`));
  // Whoever sees the chart need not read it.
  expect((await card.locator(".alt").boundingBox())!.height).toBeLessThan(2);
  await card.getByRole("button", { name: "Table" }).click();
  await expect(card.locator("tbody tr")).toHaveCount(lines[0]!.points.length);
  await expect(card.getByRole("img")).toHaveCount(0);
  await card.getByRole("button", { name: "Table" }).click();
  await expect(card.getByRole("img")).toBeVisible();
});

test("the table of a check is that of its document", async ({ page, open }) => {
  const one = labeled("one", "check-slow");
  await open([one]);
  await cardOf(page, METRICS).getByRole("button", { name: "Table" }).click();
  const rows = page.getByRole("region", { name: "Overview" }).locator("tbody tr");
  await expect(rows).toHaveCount(one.document.overview.table!.rows.length);
});

test("keys zoom and show all again", async ({ page, open }) => {
  await open([labeled("one", "fill-used")]);
  const card = cardOf(page, FILES);
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

/** The largest number on the x axis, in MiB. */
async function writtenShown(page: Page): Promise<number> {
  const texts = (await textsIn(page, FILES)).map(({ text }) => text.replace(",", "").match(/^([\d.]+) MiB$/)?.[1]);
  return Math.max(...texts.filter((text) => text !== undefined).map(Number));
}

test("the wheel with a key zooms, and a drag across the strip chooses a part", async ({ page, open }) => {
  await open([labeled("one", "fill-used")]);
  const card = cardOf(page, FILES);
  const all = await writtenShown(page);
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
  await page.mouse.move(box.x + box.width - 33, y);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width / 2, y, { steps: 5 });
  await page.mouse.up();
  await expect(card.getByRole("button", { name: "Show all" })).toBeVisible();
  await expect.poll(() => writtenShown(page)).toBeLessThan(0.65 * all);
  await card.getByRole("button", { name: "Show all" }).click();
  await expect(card.getByRole("button", { name: "Show all" })).toHaveCount(0);
  // The lower half chooses a part, the upper half moves it.
  await page.mouse.move(box.x + box.width * 0.4, y + 5);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.6, y + 5, { steps: 5 });
  await page.mouse.up();
  await expect(card.getByRole("button", { name: "Show all" })).toBeVisible();
});

test("a cell of a heat map opens its latencies by pointer and by keyboard", async ({ page, open }) => {
  await open([labeled("one", "sweep-new")]);
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

test("an X-ray is drawn with what is unknown in it", async ({ page, open }) => {
  await open([xray()]);
  const drawing = page.getByRole("img", { name: "Inside the drive" });
  await expect(drawing).toContainText("16 dies work in parallel");
  await expect(drawing).toContainText("256 KiB");
  await expect(drawing).toContainText("? unknown");
  await expect(page.getByText("Unknown: read time of old data.")).toBeVisible();
  const png = await saved(page, "Save Inside the drive as PNG");
  expect(png.content.subarray(1, 4).toString()).toBe("PNG");
});

test("a saved chart says what it is of, is light, and has no strip", async ({ page, open }) => {
  await page.emulateMedia({ colorScheme: "dark" });
  await open([{ ...labeled("one", "fill-used"), started_at: "2026-03-14T15:09:26.535Z" }]);
  const tall = (await cardOf(page, FILES).getByRole("img").boundingBox())!.height;
  const svg = (await saved(page, `Save ${FILES} as SVG`)).content.toString();
  for (const words of [FILES, "Tiny Flash 1 GiB · simulated", "2026-03-14 15:09 UTC", "fill · "]) expect(svg).toContain(words);
  const [, chart] = [...svg.matchAll(/<svg [^>]*height="(\d+)"/g)].map(([, height]) => Number(height));
  expect(chart).toBe(tall - STRIP);
  expect(svg).toContain(`fill="${LIGHT.card}"`);
  expect(svg).not.toContain(DARK.card);
});

const rgbOf = (color: string): number[] => [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));

test("runs that are compared have bars of their colors around 1×, with the difference in words", async ({ page, open }) => {
  const [comparison, ...runs] = ["compare-benches", "bench-new", "bench-used"].map((name) => labeled(name, name));
  const { series, tables } = comparison!.document;
  const speeds = series["speeds"]!;
  const [bars] = speeds.lines;
  const changes = [1 / 4, 1 / 5.95, 4, 1, 1, 1, 1, 1];
  bars!.points = changes.map((change, at) => [at, change]);
  bars!.band = changes.map((change, at) => [at, at === 3 ? 1e-6 : change / 1.1, change * 1.1]);
  tables["speeds"]!.forEach((row, at) => (row["in_words"] = `change ${at}`));
  await open([comparison!, ...runs]);
  const card = cardOf(page, speeds.title);
  await expect(card.getByRole("button", { name: "Log" })).toHaveCount(0);
  const texts = (await textsOf(page))[speeds.title]!.texts.map(({ text }) => text);
  expect(texts).toContain("← slower · faster →");
  expect(texts.filter((text) => text === "4×")).toHaveLength(2);
  expect(texts).toContain("change 1 · 145 MB/s");
  const svg = (await saved(page, `Save ${speeds.title} as SVG`)).content.toString();
  const has = (color: string) => [color, `rgb(${rgbOf(color).join(",")})`].some((text) => svg.includes(text));
  expect([LIGHT.lines[1]!, LIGHT.fall].map(has)).toEqual([true, false]);
  await expect(page.getByRole("heading", { name: "Each run by itself" })).toBeVisible();
});

test("a benchmark has what is usual of its class at its bars, in words and beside another run", async ({ page, open }) => {
  const [one, two] = [labeled("one", "bench-new"), labeled("two", "bench-used")];
  const rows = [["read", 500e6], ["write", 40e6]].map(([op, speed]) => {
    const [low, high] = [Number(speed) * 0.9, Number(speed) * 1.1];
    return { test: "SEQ1M Q8T1", op: op!, bytes_per_s: speed!, bytes_per_s_low: low, bytes_per_s_high: high, models: 9 };
  });
  one.document.tables["usual"] = rows;
  await open([one]);
  const title = "Speed of each test";
  const texts = (await textsIn(page, title)).map(({ text }) => text);
  expect(texts).toEqual(expect.arrayContaining(["usual of its class", "280 MB/s · usual 450–550 MB/s", "271 MB/s"]));
  await expect(cardOf(page, title).getByRole("img")).toHaveAccessibleDescription(/read 280 MB\/s, usual 450–550 MB\/s/);
  // The axis goes as far as what is usual.
  expect(Math.max(...texts.map((text) => Number(/^(\d+) MB\/s$/.exec(text)?.[1] ?? 0)))).toBeGreaterThanOrEqual(500);
  await open([one, two]);
  const both = (await textsIn(page, title)).map(({ text }) => text);
  expect(both.filter((text) => text.includes("· usual 450–550 MB/s"))).toHaveLength(1);
});

test("a narrow axis has as many numbers as have room", async ({ page, open }) => {
  await page.setViewportSize({ width: 390, height: 900 });
  const one = labeled("one", "endure-knees");
  const { title, lines } = one.document.series["file"]!;
  const end = lines[0]!.points.at(-1)![0];
  for (const { points } of lines) for (const point of points) point[0] *= (15 * 2 ** 30) / end;
  await open([one]);
  const numbers = (await textsIn(page, title)).flatMap(({ text }) => /^([\d.]+) GiB$/.exec(text)?.[1] ?? []);
  expect(numbers).toEqual(["0", "5", "10", "15"]);
});

test("three bars of one run are told apart", async ({ page, open }) => {
  await open([labeled("new", "bench-new"), labeled("used", "bench-used")]);
  await unfoldAll(page);
  const svg = (await saved(page, "Save Latencies of each test: p50, p99 and max as SVG")).content.toString();
  const blue = [LIGHT.lines[0]!, `rgb(${rgbOf(LIGHT.lines[0]!).join(",")})`];
  const opacities = [...svg.matchAll(/<path [^>]*>/g)]
    .map(([path]) => path)
    .filter((path) => blue.some((color) => path.includes(`fill="${color}"`)))
    .map((path) => /fill-opacity="([\d.]+)"/.exec(path)?.[1] ?? "1");
  expect(new Set(opacities).size).toBe(3);
});

test("the bundle stays below 900 KiB", () => {
  expect(readFileSync(BUNDLE).length).toBeLessThanOrEqual(900 * 1024);
});
