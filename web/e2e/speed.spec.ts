import { statSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

import type { Page } from "@playwright/test";

import type { Labeled, Series } from "../src/Document";
import { labeled, small } from "../test/documents";
import { packed, queue } from "../test/packed";
import { expect, pageWith, test } from "./fixtures";

const POINTS = 1_000_000;
/** Milliseconds from opening a page of a million points until its chart is drawn; a busy machine is slow with an empty page, too. */
const PAINT_MAX = 1500;
const EMPTY_PAGES_MAX = 30;
/** Bytes of a page with a million recorded I/Os. */
const PAGE_MAX = 3 * 2 ** 20;
/** Milliseconds until such a page shows all else. */
const FIRST_PAINT_MAX = 800;
/** Frames a second while the chart moves. */
const FRAMES_MIN = 30;

/** A million latencies: a line over time, or a scatter over addresses that are read in random order. */
function million(shape: "line" | "scatter"): Labeled[] {
  const latency = (at: number) => (at % 9973 === 0 ? 4_000_000 + at : 80_000 + ((at * 7919) % 40_000));
  const points = Array.from({ length: POINTS }, (_, at): [number, number] => [
    shape === "line" ? at * 100_000 : ((at * 7919) % POINTS) * 65_536,
    latency(at),
  ]);
  const x = shape === "line" ? { label: "time", unit: "ns" } : { label: "offset", unit: "bytes" };
  const series: Series = {
    title: "Latencies",
    shape,
    x,
    y: { label: "latency", unit: "ns" },
    lines: [{ name: "read", points }],
  };
  return [small("million", {}, { latencies: series })];
}

/** Milliseconds from the start of the navigation to the frame after the chart has its first pixels. */
async function drawnAfter(page: Page, url: string, title: string): Promise<number> {
  await page.addInitScript((title) => {
    const look = () => {
      const canvas = window.document.querySelector<HTMLCanvasElement>(`[role=img][aria-label="${title}"] canvas`);
      const pixels = canvas?.getContext("2d")?.getImageData(0, 0, canvas.width, canvas.height).data;
      if (pixels?.some((value) => value > 0))
        requestAnimationFrame(() => ((window as unknown as { drawnAt: number }).drawnAt = performance.now()));
      else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  }, title);
  await page.goto(url);
  await page.waitForFunction(() => (window as unknown as { drawnAt?: number }).drawnAt !== undefined, null, {
    timeout: 20_000,
  });
  return page.evaluate(() => (window as unknown as { drawnAt: number }).drawnAt);
}

/** Milliseconds until the first paint of a page with one word. */
async function emptyAfter(page: Page, path: string): Promise<number> {
  writeFileSync(path, "<!doctype html><title>empty</title><p>empty</p>");
  await page.goto(pathToFileURL(path).href);
  return firstPaint(page);
}

async function firstPaint(page: Page): Promise<number> {
  return page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        const observer = new PerformanceObserver((list) =>
          list.getEntriesByName("first-contentful-paint").forEach(({ startTime }) => resolve(startTime)),
        );
        observer.observe({ type: "paint", buffered: true });
      }),
  );
}

/** Frames a second during `move`. */
async function framesDuring(page: Page, move: () => Promise<void>): Promise<number> {
  await page.evaluate(() => {
    const state = window as unknown as { frames: number[]; counting: boolean };
    [state.frames, state.counting] = [[], true];
    const count = (now: number) => {
      state.frames.push(now);
      if (state.counting) requestAnimationFrame(count);
    };
    requestAnimationFrame(count);
  });
  await move();
  return page.evaluate(() => {
    const state = window as unknown as { frames: number[]; counting: boolean };
    state.counting = false;
    const [first = 0, last = 0] = [state.frames[0], state.frames.at(-1)];
    return ((state.frames.length - 1) * 1000) / (last - first);
  });
}

/** Frames a second while a chart is zoomed, and while its part is moved. */
async function framesOf(page: Page, title: string): Promise<{ zooming: number; moving: number }> {
  const picture = page.getByRole("img", { name: title });
  await picture.scrollIntoViewIfNeeded();
  const box = (await picture.boundingBox())!;
  await page.mouse.move(box.x + box.width / 2, box.y + 120);
  await page.keyboard.down("Control");
  const zooming = await framesDuring(page, async () => {
    for (let turn = 0; turn < 40; turn++) await page.mouse.wheel(0, turn < 25 ? -100 : 100);
  });
  await page.keyboard.up("Control");
  await page.mouse.down();
  const moving = await framesDuring(page, async () => {
    await page.mouse.move(box.x + box.width - 60, box.y + 120, { steps: 60 });
    await page.mouse.move(box.x + 120, box.y + 120, { steps: 60 });
  });
  await page.mouse.up();
  await expect(page.getByRole("button", { name: "Show all" })).toBeVisible();
  return { zooming, moving };
}

for (const shape of ["line", "scatter"] as const) {
  test(`a million points are drawn soon and move smoothly, ${shape}`, async ({ page, context }) => {
    test.setTimeout(120_000);
    await page.setViewportSize({ width: 1280, height: 900 });
    const url = pageWith(million(shape), test.info().outputPath("page.html"));
    const other = await context.newPage();
    const empty = await emptyAfter(other, test.info().outputPath("empty.html"));
    await other.close();
    const drawn = await drawnAfter(page, url, "Latencies");
    const { zooming, moving } = await framesOf(page, "Latencies");
    console.log(
      `${shape}: drawn after ${drawn.toFixed(0)} ms, ${(drawn / empty).toFixed(1)} times an empty page (${empty.toFixed(0)} ms); ` +
        `${zooming.toFixed(0)} frames a second while zooming, ${moving.toFixed(0)} while moving`,
    );
    expect(drawn).toBeLessThanOrEqual(Math.max(PAINT_MAX, EMPTY_PAGES_MAX * empty));
    expect(Math.min(zooming, moving)).toBeGreaterThanOrEqual(FRAMES_MIN);
  });
}

test("the words of a report are soon there", async ({ page }) => {
  const times: number[] = [];
  while (times.length < 5) {
    await page.goto(pageWith([labeled("one", "check-slow")], test.info().outputPath("page.html")));
    times.push(await firstPaint(page));
  }
  // Printed alone: other programs of the machine are in it.
  console.log(`check: first paint after ${times.toSorted((one, other) => one - other)[2]?.toFixed(0)} ms, median of five`);
});

test("a million recorded I/Os fit a small page, delay nothing and move smoothly", async ({ page, context }) => {
  test.setTimeout(180_000);
  await page.setViewportSize({ width: 1280, height: 900 });
  const path = test.info().outputPath("page.html");
  const url = pageWith([{ ...labeled("million", "bench-new"), samples: packed(queue(POINTS)) }], path);
  const { size } = statSync(path);
  const other = await context.newPage();
  const empty = await emptyAfter(other, test.info().outputPath("empty.html"));
  const plain = pageWith([labeled("plain", "bench-new")], test.info().outputPath("plain.html"));
  await other.goto(plain);
  const without = await firstPaint(other);
  await other.close();
  const drawn = await drawnAfter(page, url, "Latency of each I/O");
  const paint = await firstPaint(page);
  const { zooming, moving } = await framesOf(page, "Latency of each I/O");
  console.log(
    `recorded I/Os: ${size} bytes; first paint after ${paint.toFixed(0)} ms, without them ${without.toFixed(0)} ms, ` +
      `an empty page ${empty.toFixed(0)} ms; drawn after ${drawn.toFixed(0)} ms; ` +
      `${zooming.toFixed(0)} frames a second while zooming, ${moving.toFixed(0)} while moving`,
  );
  expect(size).toBeLessThanOrEqual(PAGE_MAX);
  expect(paint).toBeLessThanOrEqual(Math.max(FIRST_PAINT_MAX, EMPTY_PAGES_MAX * empty));
  expect(drawn).toBeLessThanOrEqual(Math.max(PAINT_MAX, EMPTY_PAGES_MAX * empty));
  expect(Math.min(zooming, moving)).toBeGreaterThanOrEqual(FRAMES_MIN);
});
