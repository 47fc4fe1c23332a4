import { expect, test } from "@playwright/test";
import type { Page } from "@playwright/test";

import type { Labeled } from "../src/Document";
import { labeled, published } from "../test/documents";
import { pageWith } from "./pages";

const bench = () => [labeled("new", "bench-new")];
const pair = () => [labeled("new", "bench-new"), labeled("used", "bench-used")];
const sweep = () => [labeled("new", "sweep-new")];
const sweeps = () => [labeled("new", "sweep-new"), labeled("used", "sweep-used")];
const endure = () => [labeled("x25m", "endure-steady")];
const age = () => [labeled("x25m", "age-used")];
const fill = () => [labeled("x25m", "fill-used")];

/** Twenty thousand access times, as a surface scan has them. */
function surface(): Labeled[] {
  const [one] = bench() as [Labeled];
  const time = (index: number) => (index % 10 === 0 ? 4e6 : 80e3) * (1 + ((index * 37) % 100) / 100);
  const points = Array.from({ length: 20_000 }, (_, index): [number, number] => [((index * 7919) % 20_000) * 4e6, time(index)]);
  const [x, y] = [{ label: "offset", unit: "bytes" }, { label: "access time", unit: "ns", scale: "log" as const }];
  one.document.series = { access: { title: "Access times", shape: "scatter", x, y, lines: [{ name: "read", points }] } };
  return [one];
}

const views = () => ({
  bench: bench(),
  pair: pair(),
  fill: fill(),
  sweep: sweep(),
  sweeps: sweeps(),
  endure: endure(),
  age: age(),
  surface: surface(),
  ...Object.fromEntries(published().map((one) => [`published-${one.label}`, [one]])),
});

/** Errors and requests while the page was open; a good page has none. */
let errors: string[];
let requests: string[];

async function open(page: Page, documents: Labeled[]): Promise<void> {
  const url = pageWith(documents, test.info().outputPath("page.html"));
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("request", (request) => {
    const to = request.url();
    if (to !== url && !to.startsWith("data:") && !to.startsWith("blob:")) requests.push(to);
  });
  await page.goto(url);
}

/** The share of a chart's pixels that are drawn, in all of its layers. */
async function inked(page: Page, title: string): Promise<number> {
  return page.getByRole("img", { name: title }).locator("canvas").evaluateAll((elements) => {
    const shares = elements.map((element) => {
      const canvas = element as HTMLCanvasElement;
      const { data } = canvas.getContext("2d")?.getImageData(0, 0, canvas.width, canvas.height) ?? { data: [] };
      let drawn = 0;
      for (let at = 3; at < data.length; at += 4) if (data[at]) drawn += 1;
      return drawn / (data.length / 4);
    });
    return shares.reduce((sum, share) => sum + share, 0);
  });
}

/** Unfolds parts of the page. */
async function unfold(page: Page, ...titles: string[]): Promise<void> {
  for (const title of titles) await page.locator("summary", { hasText: new RegExp(`^${title}`) }).first().click();
}

async function columnTexts(page: Page, table: string, column: number): Promise<string[]> {
  return page.getByRole("region", { name: table }).locator(`tbody > tr > :nth-child(${column})`).allTextContents();
}

test.beforeEach(() => {
  errors = [];
  requests = [];
});

test.afterEach(() => {
  expect(errors).toEqual([]);
  expect(requests).toEqual([]);
});

test("a benchmark shows its answer first, then its numbers and its picture", async ({ page }) => {
  await open(page, bench());
  const text = await page.locator("body").innerText();
  expect(text.startsWith("Sequential read 251 MB/s, write 77.2 MB/s; 4K random read QD1 21.4 MB/s.")).toBe(true);
  const overview = page.getByRole("region", { name: "Overview" });
  await expect(overview.locator("tbody tr")).toHaveCount(4);
  const evidence = page.getByText("77.2 MB/s (76.4–77.9)");
  await expect(evidence).toBeHidden();
  await unfold(page, "Evidence", "Tables", "The drive");
  await expect(evidence).toBeVisible();
  await expect(page.getByRole("region", { name: "Results" }).locator("tbody tr")).toHaveCount(8);
  expect(await columnTexts(page, "Results", 3)).toContain("251 (249–254)");
  expect(await columnTexts(page, "Results", 5)).toContain("16.3 µs");
  expect(await inked(page, "Speed of each test")).toBeGreaterThan(0.01);
  await expect(page.getByText("74.5 GiB in blocks of 512 B")).toBeVisible();
});

test("a filled drive shows every file and its stalls", async ({ page }) => {
  await open(page, fill());
  await expect(page.getByRole("heading", { level: 1 }).getByRole("img", { name: "Problem" })).toBeVisible();
  await unfold(page, "More charts", "Tables");
  await expect(page.getByRole("region", { name: "Files" }).locator("tbody tr")).toHaveCount(200);
  await expect(page.getByRole("region", { name: "Stalls" }).locator("tbody tr")).toHaveCount(10);
  expect(await inked(page, "Speed of each file")).toBeGreaterThan(0.005);
  expect(await inked(page, "Speed over time")).toBeGreaterThan(0.005);
});

test("a table sorts by keyboard, up, down and back", async ({ page }) => {
  await open(page, fill());
  await unfold(page, "Tables");
  const files = page.getByRole("region", { name: "Files" });
  const heading = files.getByRole("columnheader", { name: "MB/s" });
  const speeds = async () => (await columnTexts(page, "Files", 2)).map(Number);
  const original = await speeds();
  await heading.getByRole("button").focus();
  await page.keyboard.press("Enter");
  await expect(heading).toHaveAttribute("aria-sort", "ascending");
  expect(await speeds()).toEqual([...original].sort((a, b) => a - b));
  await page.keyboard.press("Enter");
  await expect(heading).toHaveAttribute("aria-sort", "descending");
  expect(await speeds()).toEqual([...original].sort((a, b) => b - a));
  await page.keyboard.press("Enter");
  expect(await speeds()).toEqual(original);
});

test("a very long table shows its first rows until all are asked for", async ({ page }) => {
  const [one] = fill() as [Labeled];
  const files = one.document.tables["files"] ?? [];
  one.document.tables["files"] = Array.from({ length: 1500 }, (_, index) => ({ ...files[index % 200], file: index + 1 }));
  await open(page, [one]);
  await unfold(page, "Tables");
  const rows = page.getByRole("region", { name: "Files" }).locator("tbody tr");
  await expect(rows).toHaveCount(1000);
  await page.getByRole("button", { name: "Show all" }).click();
  await expect(rows).toHaveCount(1500);
});

test("what is wrong has commands to copy, and what they cost", async ({ page, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await open(page, fill());
  const fix = page.getByRole("region", { name: "Fix it" });
  await expect(fix.locator("code")).toHaveCount(2);
  await expect(fix.getByText("ERASES everything")).toBeVisible();
  await expect(fix.getByText("about 90 min")).toBeVisible();
  await fix.getByRole("button").first().click();
  await expect(fix.getByText("Copied")).toBeVisible();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe("likenew recondition 'sim:x25m?state=used'\n");
  await expect(page.getByRole("region", { name: "To decide" }).locator("code")).toHaveCount(1);
});

test("bars of an overview are as long as their shares", async ({ page }) => {
  await open(page, [labeled("used", "bench-used")]);
  const bar = page.getByRole("region", { name: "Overview" }).locator(".bar").first();
  const [whole, part] = await bar.evaluate((element) => [element.clientWidth, element.firstElementChild!.clientWidth]);
  expect(part! / whole!).toBeCloseTo(0.25, 1);
  expect(await columnTexts(page, "Overview", 4)).toEqual(Array.from({ length: 4 }, () => expect.stringContaining("25%")));
});

test("two drives stand side by side with their ratio", async ({ page }) => {
  await open(page, pair());
  await unfold(page, "Tables");
  const results = page.getByRole("region", { name: "Results" });
  await expect(results.getByRole("columnheader", { name: "used ÷ new" })).toHaveCount(2);
  expect(await columnTexts(page, "Results", 5)).toEqual(Array.from({ length: 4 }, () => ["1.00×", "0.250×"]).flat());
  expect(await inked(page, "Speed of each test")).toBeGreaterThan(0.01);
  await expect(page.getByRole("heading", { name: "Writes run at 25% of new" })).toBeVisible();
});

test("different procedures stand below each other under their names", async ({ page }) => {
  await open(page, [...pair(), ...fill()]);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(["bench", "fill"]);
});

test("text of a document stays text", async ({ page }) => {
  const [one] = bench() as [Labeled];
  const nasty = "</script><img src=x onerror=alert(1)><!--";
  one.document.summary = nasty;
  one.document.answers[0]!.answer = nasty;
  one.document.answers[0]!.actions = [{ id: "a", why: nasty, command: nasty, loses: "nothing" }];
  one.document.series["bandwidth"]!.categories![0] = nasty;
  one.document.tables["results"]![0]!["test"] = nasty;
  await open(page, [one]);
  await expect(page.getByRole("heading", { name: nasty })).toBeVisible();
  await unfold(page, "Tables");
  expect(await columnTexts(page, "Results", 1)).toContain(nasty);
  await page.getByRole("img", { name: "Speed of each test" }).hover({ position: { x: 120, y: 160 } });
  await expect(page.locator("img")).toHaveCount(0);
});

test("the pointer shows exact numbers in human units", async ({ page }) => {
  await open(page, fill());
  await unfold(page, "More charts");
  const picture = page.getByRole("img", { name: "Speed over time" });
  await picture.hover({ position: { x: 300, y: 150 } });
  await expect(picture.getByText(/^time .*(s|min).*MB\/s/)).toBeVisible();
});

test("a picture turns logarithmic and is saved as PNG, a table is copied as CSV", async ({ page, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await open(page, fill());
  const log = page.getByRole("button", { name: "Log" }).first();
  await log.click();
  await expect(log).toHaveAttribute("aria-pressed", "true");
  const saved = page.waitForEvent("download");
  await page.getByRole("button", { name: "Save Speed of each file as PNG" }).click();
  expect((await saved).suggestedFilename()).toBe("speed-of-each-file.png");
  await unfold(page, "Tables");
  await page.getByRole("button", { name: "Copy Files as CSV" }).click();
  await expect(page.getByText("Copied")).toBeVisible();
  const csv = await page.evaluate(() => navigator.clipboard.readText());
  expect(csv.split("\r\n")[0]).toBe("file,bytes_per_s,stalls,latency_ns_max,elapsed_ns");
  expect(csv.split("\r\n")).toHaveLength(202);
});

const HEAT = "How fast does it write at each block size and depth?";

test("a heat map has a cell for every number and says it by pointer and by keyboard", async ({ page }) => {
  await open(page, sweep());
  const picture = page.getByRole("img", { name: HEAT });
  expect(await inked(page, HEAT)).toBeGreaterThan(0.3);
  await picture.hover({ position: { x: 300, y: 100 } });
  await expect(picture.getByText(/^queue depth \d+, block size .*: .* MB\/s$/)).toBeVisible();
  await picture.focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowDown");
  await expect(page.getByRole("status").getByText("queue depth 2, block size 1 KiB: 19.7 MB/s")).toBeVisible();
  await expect(picture.getByText("queue depth 2, block size 1 KiB: 19.7 MB/s")).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(picture.getByText(/queue depth 2/)).toBeHidden();
});

test("two heat maps stand side by side with their ratio below", async ({ page }) => {
  await page.setViewportSize({ width: 1600, height: 900 });
  await open(page, sweeps());
  const [one, two, ratio] = await Promise.all(
    ["new", "used", "used ÷ new"].map((of) => page.getByRole("img", { name: `${HEAT} · ${of}`, exact: true }).boundingBox()),
  );
  expect(one!.y).toBe(two!.y);
  expect(one!.x).toBeLessThan(two!.x);
  expect(ratio!.y).toBeGreaterThan(one!.y);
  expect(ratio!.width).toBeGreaterThan(one!.width * 1.8);
});

test("an axis is logarithmic when the document says so, and the reader can change it", async ({ page }) => {
  await open(page, sweep());
  await unfold(page, "More charts");
  const card = page.getByRole("region", { name: "How long does a write take at each block size?" });
  const log = card.getByRole("button", { name: "Log" });
  await expect(log).toHaveAttribute("aria-pressed", "true");
  await log.click();
  await expect(log).toHaveAttribute("aria-pressed", "false");
  const speed = page.getByRole("region", { name: "How fast does it write at each block size?" });
  await expect(speed.getByRole("button", { name: "Log" })).toHaveAttribute("aria-pressed", "false");
});

test("a line says its interval", async ({ page }) => {
  await open(page, endure());
  const picture = page.getByRole("img", { name: "How fast was it as writing went on?" });
  await picture.focus();
  await page.keyboard.press("ArrowRight");
  await expect(page.getByRole("status").getByText("written 4 GiB: 77.1 MB/s (73.3–80.2 MB/s)")).toBeVisible();
  await expect(picture.getByText("77.1 MB/s (73.3–80.2 MB/s)")).toBeVisible();
});

test("cells have the unit of their row", async ({ page }) => {
  await open(page, age());
  await unfold(page, "Tables");
  expect(await columnTexts(page, "New vs used", 2)).toEqual(["251 MB/s", "77.2 MB/s", "39.3 MB/s", "84.6 µs", "11,902 points"]);
});

/** With LIKENEW_PICTURES set, writes the picture in the README again. */
test("the picture in the README shows a page without errors", async ({ page }) => {
  await page.setViewportSize({ width: 1100, height: 860 });
  await open(page, published().filter((one) => one.label === "check-slow"));
  const path = process.env["LIKENEW_PICTURES"] ? "../docs/images/report.png" : test.info().outputPath("report.png");
  await page.screenshot({ path });
});

test("twenty thousand points are drawn at once", async ({ page }) => {
  await open(page, surface());
  await expect.poll(() => inked(page, "Access times")).toBeGreaterThan(0.03);
  const picture = page.getByRole("img", { name: "Access times" });
  await picture.focus();
  await page.keyboard.press("ArrowRight");
  await expect(page.getByRole("status").getByText(/^read, offset .*: .* (µs|ms)$/)).toBeVisible();
  // One of the slow accesses, which stand in a band of their own.
  const { width } = (await picture.boundingBox())!;
  await expect
    .poll(async () => {
      for (let step = 0; step < 30; step++) {
        await picture.hover({ position: { x: width / 2 + step, y: 60 } });
        if (await picture.getByText(/^offset .*ms$/).isVisible()) return true;
      }
      return false;
    })
    .toBe(true);
});

for (const colorScheme of ["light", "dark"] as const) {
  for (const [name, width] of [["phone", 390], ["desk", 1280]] as const) {
    test(`fits a ${name}, ${colorScheme}`, async ({ page }) => {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 900 });
      for (const [view, documents] of Object.entries(views())) {
        await open(page, documents);
        const wider = () => page.evaluate(() => window.document.documentElement.scrollWidth - window.innerWidth);
        expect(await wider(), `${view} scrolls sideways`).toBeLessThanOrEqual(0);
        await page.locator("details").evaluateAll((all) => all.forEach((one) => ((one as HTMLDetailsElement).open = true)));
        expect(await wider(), `${view} scrolls sideways unfolded`).toBeLessThanOrEqual(0);
        const paper = await page.evaluate(() => getComputedStyle(window.document.body).backgroundColor);
        expect(paper).toBe(colorScheme === "dark" ? "rgb(20, 23, 26)" : "rgb(251, 251, 250)");
      }
    });
  }
}

test("paper is white and holds whole tables even when the screen is dark", async ({ page }) => {
  await page.emulateMedia({ colorScheme: "dark", media: "print" });
  await open(page, fill());
  expect(await page.evaluate(() => getComputedStyle(window.document.body).backgroundColor)).toBe("rgb(255, 255, 255)");
  const files = page.getByRole("region", { name: "Files" });
  const [visible, whole] = await files.evaluate((element) => [element.clientHeight, element.scrollHeight]);
  expect(visible).toBe(whole);
  await page.screenshot({ path: test.info().outputPath("print.png"), fullPage: true });
});

test("a page without documents says so", async ({ page }) => {
  await open(page, []);
  await expect(page.getByText("This page holds no documents.")).toBeVisible();
});
