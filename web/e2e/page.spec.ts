import type { Locator, Page } from "@playwright/test";

import type { Labeled, Row } from "../src/Document";
import { rangeOf, spell, unbroken } from "../src/units";
import { labeled, published, small, xray } from "../test/documents";
import { drive, pageOf } from "../test/histories";
import { cardOf, expect, inked, pageWith, saved, test, unfoldAll, violations } from "./fixtures";

const bench = (): Labeled => labeled("new", "bench-new");
const pair = (): [Labeled, Labeled] => [bench(), labeled("used", "bench-used")];
const sweep = (): Labeled => labeled("new", "sweep-new");
const fill = (): Labeled => labeled("used", "fill-used");

const rowsOf = ({ document }: Labeled, table: string): Row[] => document.tables[table]!;
const numberOf = (row: Row | undefined, key: string): number => Number(row?.[key]);

/** Unfolds parts of the page. */
async function unfold(page: Page, ...titles: string[]): Promise<void> {
  for (const title of titles) await page.locator("summary", { hasText: new RegExp(`^${title}`) }).first().click();
}

/** The cells of a column, from 1. */
const cellsOf = (page: Page, table: string, column: number): Locator =>
  page.getByRole("region", { name: table }).locator(`tbody > tr > :nth-child(${column})`);

test("a benchmark shows its answer first, then its numbers and its picture", async ({ page, open }) => {
  const one = bench();
  const { summary, answers, overview, target } = one.document;
  await open([one]);
  const [about, first] = (await page.locator("body").innerText()).split(/\n+/);
  expect([about, first]).toEqual([expect.stringContaining(unbroken(`${target.model} · simulated`)), unbroken(summary)]);
  await expect(page.getByRole("region", { name: "Overview" }).locator("tbody tr")).toHaveCount(overview.table!.rows.length);
  const evidence = page.getByText(answers[0]!.evidence[0]!);
  await expect(evidence).toBeHidden();
  await unfold(page, "Evidence", "Tables", "The drive");
  await expect(evidence).toBeVisible();
  const rows = rowsOf(one, "results");
  await expect(page.getByRole("region", { name: "Results" }).locator("tbody tr")).toHaveCount(rows.length);
  await expect(cellsOf(page, "Results", 5)).toHaveText(rows.map((row) => spell(numberOf(row, "latency_ns_mean"), "ns")));
  await expect.poll(() => inked(page.getByRole("img", { name: "Speed of each test" }))).toBeGreaterThan(0.01);
  const [capacity, block] = [target.capacity_bytes, target.block_bytes].map((bytes) => spell(bytes, "bytes"));
  await expect(page.getByText(`${capacity} in blocks of ${block}`)).toBeVisible();
});

test("a filled drive shows every file and its stalls", async ({ page, open }) => {
  const one = fill();
  await open([one]);
  await expect(page.getByRole("heading", { level: 1 }).getByRole("img", { name: "Problem" })).toBeVisible();
  await unfold(page, "More charts", "Tables");
  for (const table of ["Files", "Stalls"]) {
    const rows = page.getByRole("region", { name: table }).locator("tbody tr");
    await expect(rows).toHaveCount(rowsOf(one, table.toLowerCase()).length);
  }
  for (const title of ["Speed of each file", "Slowest I/O of each file"])
    await expect.poll(() => inked(page.getByRole("img", { name: title }))).toBeGreaterThan(0.005);
});

test("a table sorts by keyboard, up, down and back", async ({ page, open }) => {
  const one = fill();
  await open([one]);
  await unfold(page, "Tables");
  const files = page.getByRole("region", { name: "Files" });
  await expect(files.locator("tbody tr")).toHaveCount(rowsOf(one, "files").length);
  const heading = files.getByRole("columnheader", { name: "MB/s" });
  const speeds = async () => (await cellsOf(page, "Files", 2).allTextContents()).map(Number);
  const original = await speeds();
  await heading.getByRole("button").focus();
  await page.keyboard.press("Enter");
  await expect(heading).toHaveAttribute("aria-sort", "ascending");
  await expect.poll(speeds).toEqual([...original].sort((a, b) => a - b));
  await page.keyboard.press("Enter");
  await expect(heading).toHaveAttribute("aria-sort", "descending");
  await expect.poll(speeds).toEqual([...original].sort((a, b) => b - a));
  await page.keyboard.press("Enter");
  await expect.poll(speeds).toEqual(original);
});

test("a very long table shows its first rows until all are asked for", async ({ page, open }) => {
  const one = fill();
  const [file] = rowsOf(one, "files");
  one.document.tables["files"] = Array.from({ length: 1500 }, (_, index) => ({ ...file, file: index + 1 }));
  await open([one]);
  await unfold(page, "Tables");
  const rows = page.getByRole("region", { name: "Files" }).locator("tbody tr");
  await expect(rows).toHaveCount(1000);
  await page.getByRole("button", { name: "Show all" }).click();
  await expect(rows).toHaveCount(1500);
});

test("what is wrong has commands to copy, and what they cost", async ({ page, context, open }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const one = fill();
  const [answer] = one.document.answers;
  const recondition = answer!.actions[0]!.command!;
  answer!.actions.push({ id: "b", why: "Erase it", command: `${recondition} --step erase`, loses: "everything", time_s: 5400 });
  await open([one]);
  const fix = page.getByRole("region", { name: "Fix it" });
  await expect(fix.locator("code")).toContainText([recondition, `${recondition} --step erase`]);
  await expect(fix.getByText("ERASES everything")).toBeVisible();
  await expect(fix.getByText("about 90 min")).toBeVisible();
  await fix.getByRole("button").first().click();
  await expect(fix.getByText("Copied")).toBeVisible();
  await expect.poll(() => clipboard(page)).toBe(`${recondition}\n`);
  await expect(page.getByRole("region", { name: "To decide" }).locator("code")).toHaveCount(1);
});

test("bars of an overview are as long as their shares", async ({ page, open }) => {
  const one = labeled("one", "endure-knees");
  const { headings, rows } = one.document.overview.table!;
  await open([one]);
  const bar = page.getByRole("region", { name: "Overview" }).locator(".bar").first();
  const [whole, part] = await bar.evaluate((element) => [element.clientWidth, element.firstElementChild!.clientWidth]);
  expect(part! / whole!).toBeCloseTo(rows[0]!.share!, 1);
  const shares = rows.map(({ share }) => spell(share!, "share"));
  await expect(cellsOf(page, "Overview", headings.length + 1)).toContainText(shares);
});

test("two drives stand side by side with their ratio", async ({ page, open }) => {
  const [one, two] = pair();
  await open([one, two]);
  await unfold(page, "Tables");
  const results = page.getByRole("region", { name: "Results" });
  await expect(results.getByRole("columnheader", { name: "used ÷ new" })).toHaveCount(2);
  const ratios = rowsOf(two, "results").map((row, at) => {
    return spell(numberOf(row, "bytes_per_s") / numberOf(rowsOf(one, "results")[at], "bytes_per_s"), "×");
  });
  await expect(cellsOf(page, "Results", 5)).toHaveText(ratios);
  await expect.poll(() => inked(page.getByRole("img", { name: "Speed of each test" }))).toBeGreaterThan(0.01);
  await expect(page.getByRole("heading", { name: two.document.summary })).toBeVisible();
});

test("different procedures stand below each other under their names", async ({ page, open }) => {
  await open([...pair(), fill()]);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(["bench", "fill"]);
});

test("text of a document stays text", async ({ page, open }) => {
  const one = bench();
  const nasty = "</script><img src=x onerror=alert(1)><!--";
  one.document.summary = nasty;
  one.document.answers[0]!.answer = nasty;
  one.document.answers[0]!.actions = [{ id: "a", why: nasty, command: nasty, loses: "nothing" }];
  one.document.series["bandwidth"]!.categories![0] = nasty;
  one.document.tables["results"]![0]!["test"] = nasty;
  await open([one]);
  await expect(page.getByRole("heading", { name: nasty })).toBeVisible();
  await unfold(page, "Tables");
  await expect.poll(() => cellsOf(page, "Results", 1).allTextContents()).toContain(nasty);
  await page.getByRole("img", { name: "Speed of each test" }).hover({ position: { x: 120, y: 160 } });
  await expect(page.locator("img")).toHaveCount(0);
});

test("the pointer shows exact numbers in human units", async ({ page, open }) => {
  await open([labeled("one", "endure-knees")]);
  const picture = page.getByRole("img", { name: "Speed of file as the drive is written" });
  await picture.hover({ position: { x: 300, y: 150 } });
  await expect(picture.getByText(/^bytes written .* [MG]iB.*MB\/s/)).toBeVisible();
});

test("a picture turns logarithmic and is saved as PNG", async ({ page, open }) => {
  await open([fill()]);
  const log = page.getByRole("button", { name: "Log" }).first();
  await log.click();
  await expect(log).toHaveAttribute("aria-pressed", "true");
  expect((await saved(page, "Save Speed of each file as PNG")).name).toBe("speed-of-each-file.png");
});

const clipboard = (page: Page): Promise<string> => page.evaluate(() => navigator.clipboard.readText());

test("a whole table is copied as Markdown, as plain text and as CSV by keyboard", async ({ page, context, open }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const one = { ...fill(), started_at: "2026-03-14T15:09:26.535Z" };
  const [file] = rowsOf(one, "files");
  one.document.tables["files"] = Array.from({ length: 1500 }, (_, index) => ({ ...file, file: index + 1 }));
  await open([one]);
  await unfold(page, "Tables");
  const button = page.getByRole("button", { name: "Copy Files" });
  const menu = page.getByRole("menu", { name: "Copy Files" });
  await button.focus();
  await page.keyboard.press("ArrowDown");
  const items = menu.getByRole("menuitem");
  await expect(items).toHaveText(["as Markdown", "as plain text", "as CSV"]);
  await expect(items.nth(0)).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(button).toBeFocused();
  await expect(page.getByRole("status").getByText("Copied")).toBeVisible();
  const markdown = (await clipboard(page)).split("\n");
  expect(markdown.slice(0, 2).join()).toMatch(/\*\*Files\*\*.*Tiny Flash 1 GiB · simulated.*2026-03-14 15:09 UTC · likenew \d/);
  expect(markdown.filter((line) => line.startsWith("|"))).toHaveLength(1502);
  await page.keyboard.press("Enter");
  for (const [key, at] of [["ArrowUp", 2], ["ArrowDown", 0], ["End", 2], ["Home", 0], ["ArrowDown", 1]] as const) {
    await page.keyboard.press(key);
    await expect(items.nth(at)).toBeFocused();
  }
  await page.keyboard.press("Enter");
  await expect.poll(() => clipboard(page)).toMatch(/^Files\n/);
  const text = (await clipboard(page)).split("\n");
  expect(text.at(-2)).toMatch(/^1,500 +\d/);
  await page.keyboard.press("Enter");
  await page.keyboard.press("End");
  await page.keyboard.press("Enter");
  const rows = rowsOf(one, "files").map((row) => Object.values(row).join(","));
  await expect.poll(async () => (await clipboard(page)).split("\r\n")).toEqual([Object.keys(file!).join(","), ...rows, ""]);
  await page.keyboard.press("Enter");
  await expect(menu).toBeVisible();
  expect(await violations(page)).toEqual([]);
  await page.keyboard.press("Escape");
  await expect(menu).toHaveCount(0);
  await expect(button).toBeFocused();
  await button.click();
  await page.getByRole("heading", { name: "Files" }).click();
  await expect(menu).toHaveCount(0);
});

test("the first screen and a comparison are copied, also where a page has no clipboard of its own", async ({ page, open }) => {
  await page.addInitScript(() => Object.defineProperty(navigator, "clipboard", { value: undefined }));
  await open(["compare-benches", "bench-new", "bench-used"].map((name) => labeled(name, name)));
  await page.getByRole("button", { name: "Copy Overview, Comparison" }).click();
  await page.getByRole("menuitem", { name: "as Markdown" }).click();
  await expect(page.getByRole("status").getByText("Copied")).toBeVisible();
  // What was copied shows in any field of the browser.
  await page.evaluate(() => window.document.body.append(window.document.createElement("textarea")));
  await page.locator("textarea").focus();
  await page.keyboard.press("Control+v");
  const pasted = await page.locator("textarea").inputValue();
  expect(pasted).toContain("**Overview, Comparison**");
  for (const name of ["bench-new", "bench-used"]) expect(pasted).toContain(`= ${name} · Tiny Flash`);
  expect(pasted).toMatch(/\| SEQ1M Q1T1 read \| 271 MB/);
});

test("the address of a chart or a table unfolds and shows it", async ({ page, context, open }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await open([fill()]);
  const [address] = page.url().split("#");
  await page.goto(`${address}#fill-table-files`);
  await expect(page.locator("#fill-table-files")).toBeInViewport();
  await page.goto(`${address}#fill-chart-bandwidth`);
  await page.reload();
  await unfold(page, "More charts");
  const href = "#fill-chart-slowest";
  await page.evaluate(() => window.scrollTo(0, 0));
  await page.locator(`a[href="${href}"]`).click();
  await expect(page.getByRole("status").getByText("Address copied")).toBeVisible();
  await expect.poll(() => clipboard(page)).toBe(`${address}${href}`);
  // A page that is opened there shows it, also where all is folded at first.
  await page.goto("about:blank");
  await page.goto(`${address}${href}`);
  await expect(page.locator(href)).toBeInViewport();
  await expect(page.locator(href)).toBeFocused();
});

test("where the address names a view, it names a part of it as well", async ({ page, context }, info) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const one = drive({ sequential_read: [500e6, 510e6, 505e6, 500e6] });
  const url = pageWith(pageOf([one, { ...one, key: "other" }]), info.outputPath("history.html"));
  await page.setViewportSize({ width: 800, height: 300 });
  const view = `${url}#/history/${one.key}`;
  await page.goto(view);
  await page.getByRole("link", { name: /^Address of / }).click();
  await expect.poll(() => clipboard(page)).toBe(`${view}?at=history`);
  expect(page.url()).toBe(`${view}?at=history`);
  await page.goto("about:blank");
  await page.goto(`${view}?at=history`);
  await expect(page.locator("#history")).toBeFocused();
  await expect(page.locator("#history")).toBeInViewport();
});

test("no two parts of a page have one address", async ({ page, open }) => {
  const names = ["compare-benches", "bench-new", "bench-used", "sweep-new", "sweep-used", "fill-used"];
  await open([...names.map((name) => labeled(name, name)), xray()]);
  await unfoldAll(page);
  const ids = await page.locator("[id]").evaluateAll((all) => all.map(({ id }) => id));
  expect(ids.toSorted()).toEqual([...new Set(ids)].toSorted());
  const links = await page.getByRole("link", { name: /^Address of / }).evaluateAll((all) => all.map((one) => one.getAttribute("href")!.slice(1)));
  expect(links.length).toBeGreaterThan(15);
  expect(links.filter((id) => !ids.includes(id))).toEqual([]);
});

const paperOf = (page: Page): Promise<string> => page.evaluate(() => getComputedStyle(window.document.body).backgroundColor);
const [WHITE, BLACK] = ["rgb(251, 251, 250)", "rgb(20, 23, 26)"];

test("the reader chooses the theme, which is kept and there from the first frame", async ({ page, open }) => {
  await page.emulateMedia({ colorScheme: "light" });
  await open([fill()]);
  expect(await paperOf(page)).toBe(WHITE);
  await page.getByLabel("Theme").selectOption("dark");
  expect(await paperOf(page)).toBe(BLACK);
  await page.emulateMedia({ media: "print" });
  expect(await paperOf(page)).toBe("rgb(255, 255, 255)");
  await page.emulateMedia({ media: "screen" });
  // Before the page itself has run.
  await page.addInitScript(() => {
    new MutationObserver((_, observer) => {
      if (!window.document.body) return;
      Object.assign(window, { first: getComputedStyle(window.document.documentElement).colorScheme });
      observer.disconnect();
    }).observe(window.document, { childList: true, subtree: true });
  });
  await page.reload();
  expect(await page.evaluate(() => (window as unknown as { first: string }).first)).toBe("dark");
  await expect(page.getByLabel("Theme")).toHaveValue("dark");
  await page.getByLabel("Theme").selectOption("system");
  expect(await paperOf(page)).toBe(WHITE);
  await page.emulateMedia({ colorScheme: "dark" });
  expect(await paperOf(page)).toBe(BLACK);
  await page.getByLabel("Theme").selectOption("light");
  expect(await paperOf(page)).toBe(WHITE);
});

test("where nothing is kept, the theme lasts as long as the page", async ({ page, open }) => {
  await page.addInitScript(() =>
    Object.defineProperty(window, "localStorage", {
      get() {
        throw new DOMException("refused", "SecurityError");
      },
    }),
  );
  await open([fill()]);
  await page.getByLabel("Theme").selectOption("dark");
  expect(await paperOf(page)).toBe(BLACK);
  await page.reload();
  expect(await paperOf(page)).toBe(WHITE);
});

const HEAT = "Speed by block size and queue depth: random write";

test("a heat map has a cell for every number and says it by pointer and by keyboard", async ({ page, open }) => {
  const one = sweep();
  const { categories, lines } = one.document.series["heat_random_write"]!;
  await open([one]);
  const picture = page.getByRole("img", { name: HEAT });
  await expect.poll(() => inked(picture)).toBeGreaterThan(0.3);
  await picture.hover({ position: { x: 300, y: 80 } });
  await expect(picture.getByText(/^queue depth \d+, block size .*: .* MB\/s$/)).toBeVisible();
  await picture.focus();
  for (const key of ["ArrowRight", "ArrowRight", "ArrowDown"]) await page.keyboard.press(key);
  const speed = spell(lines[1]!.points[1]![1], "bytes/s");
  const words = `queue depth ${lines[1]!.name}, block size ${categories![1]}: ${speed}`;
  await expect(page.getByRole("status").getByText(words)).toBeVisible();
  await expect(picture.getByText(words)).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(picture.getByText(words)).toBeHidden();
});

test("two heat maps stand side by side with their ratio below", async ({ page, open }) => {
  await page.setViewportSize({ width: 1600, height: 900 });
  await open([sweep(), labeled("used", "sweep-used")]);
  const [one, two, ratio] = await Promise.all(
    ["new", "used", "used ÷ new"].map((of) => page.getByRole("img", { name: `${HEAT} · ${of}`, exact: true }).boundingBox()),
  );
  expect(one!.y).toBe(two!.y);
  expect(one!.x).toBeLessThan(two!.x);
  expect(ratio!.y).toBeGreaterThan(one!.y);
  expect(ratio!.width).toBeGreaterThan(one!.width * 1.8);
});

test("an axis is logarithmic when the document says so, and the reader can change it", async ({ page, open }) => {
  await open([sweep()]);
  await unfold(page, "More charts");
  const log = cardOf(page, "IOPS by block size: random write").getByRole("button", { name: "Log" });
  await expect(log).toHaveAttribute("aria-pressed", "true");
  await log.click();
  await expect(log).toHaveAttribute("aria-pressed", "false");
  const speed = cardOf(page, "Speed by block size: random read").getByRole("button", { name: "Log" });
  await expect(speed).toHaveAttribute("aria-pressed", "false");
});

test("a line says its interval, and stays hidden when the chart changes", async ({ page, open }) => {
  const one = sweep();
  const { title, lines } = one.document.series["speed_random_read"]!;
  await open([one]);
  await unfold(page, "More charts");
  const picture = page.getByRole("img", { name: title, exact: true });
  await picture.focus();
  await page.keyboard.press("ArrowRight");
  const { name, points, band } = lines[0]!;
  const [low, high] = band![0]!.slice(1).map((value) => spell(value, "bytes/s"));
  const words = `${spell(points[0]![1], "bytes/s")} (${rangeOf(low!, high!)})`;
  const place = `block size ${spell(points[0]![0], "bytes")}`;
  await expect(page.getByRole("status").getByText(`${name}, ${place}: ${words}`)).toBeVisible();
  await expect(picture.getByText(words)).toBeVisible();
  // Its name in the legend.
  await picture.click({ position: { x: 50, y: 12 } });
  await page.setViewportSize({ width: 1000, height: 720 });
  await cardOf(page, title).getByRole("button", { name: "Log" }).click();
  await picture.hover({ position: { x: 300, y: 150 } });
  await expect(picture.getByText(lines[1]!.name, { exact: false })).toBeVisible();
  await expect(picture.getByText(`${name} `, { exact: false })).toHaveCount(0);
});

test("cells have the unit of their row", async ({ page, open }) => {
  const one = labeled("one", "age-used");
  await open([one]);
  await unfold(page, "Tables");
  const cells = rowsOf(one, "new_vs_used").map((row) => spell(numberOf(row, "new"), String(row["unit"])));
  await expect(cellsOf(page, "New vs used", 2)).toHaveText(cells);
  expect(cells.join()).toMatch(/MB\/s.*points/);
});

/** With LIKENEW_PICTURES set, writes the picture in the README again. */
test("the picture in the README shows a page without errors", { tag: "@picture" }, async ({ page, open }) => {
  await page.setViewportSize({ width: 1100, height: 860 });
  await open([labeled("one", "check-slow")]);
  const path = process.env["LIKENEW_PICTURES"] ? "../docs/images/report.png" : test.info().outputPath("report.png");
  await page.screenshot({ path });
});

test("twenty thousand points are drawn at once", async ({ page, open }) => {
  const time = (index: number) => (index % 10 === 0 ? 4e6 : 80e3) * (1 + ((index * 37) % 100) / 100);
  const points = Array.from({ length: 20_000 }, (_, at): [number, number] => [((at * 7919) % 20_000) * 4e6, time(at)]);
  const [x, y] = [{ label: "offset", unit: "bytes" }, { label: "access time", unit: "ns", scale: "log" as const }];
  const access = { title: "Access times", shape: "scatter" as const, x, y, lines: [{ name: "read", points }] };
  await open([small("one", {}, { access })]);
  const picture = page.getByRole("img", { name: "Access times" });
  await expect.poll(() => inked(picture)).toBeGreaterThan(0.03);
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

test("paper is white and holds whole tables even when the screen is dark", async ({ page, open }) => {
  await page.emulateMedia({ colorScheme: "dark", media: "print" });
  await open([fill()]);
  expect(await page.evaluate(() => getComputedStyle(window.document.body).backgroundColor)).toBe("rgb(255, 255, 255)");
  const files = page.getByRole("region", { name: "Files" });
  const [visible, whole] = await files.evaluate((element) => [element.clientHeight, element.scrollHeight]);
  expect(visible).toBe(whole);
  await page.screenshot({ path: test.info().outputPath("print.png"), fullPage: true });
});

/** Pixels of A4 within the margins that browsers leave. */
const SHEET_WIDTH = 718;

/** The number of pages on paper, and the headings that they hold. */
async function printed(page: Page): Promise<{ pages: number; headings: string[] }> {
  const pdf = (await page.pdf({ format: "A4", outline: true, tagged: true, path: test.info().outputPath("report.pdf") })).toString("latin1");
  const titles = [...pdf.matchAll(/\/Title \(((?:[^()\\]|\\.)*)\)/g)].map(([, title]) => title!);
  return { pages: pdf.match(/\/Type \/Page\b/g)?.length ?? 0, headings: titles };
}

test("paper holds all parts of a report on few pages, and of long tables the first rows", async ({ page, open }) => {
  const one = fill();
  const [file] = rowsOf(one, "files");
  one.document.tables["files"] = Array.from({ length: 1500 }, (_, index) => ({ ...file, file: index + 1 }));
  await open([one]);
  const { pages, headings } = await printed(page);
  expect(pages).toBeGreaterThanOrEqual(3);
  expect(pages).toBeLessThanOrEqual(6);
  expect(headings).toEqual(expect.arrayContaining(["Evidence", "More charts", "Slowest I/O of each file", "Tables", "Plan to repeat it"]));
  // The page is then as it was.
  await expect(page.getByRole("region", { name: "Files" })).toHaveCount(0);
  await page.emulateMedia({ media: "print" });
  await expect(page.getByRole("region", { name: "Files" }).locator("tbody tr")).toHaveCount(20);
  await expect(page.getByText("The first 20 of 1500 rows. All of them are on this page on a screen, and in the JSON.")).toBeVisible();
  // As wide as the column, and no wider, and without what only a screen can use.
  await page.setViewportSize({ width: 700, height: 900 });
  const sheet = cardOf(page, "Slowest I/O of each file").locator(".sheet svg");
  const { width, height } = (await sheet.boundingBox())!;
  expect([width < 700, height < 0.8 * width]).toEqual([true, true]);
  await expect(sheet.locator("text").first()).toBeVisible();
});

test("every table fits paper, and no word of its headings is broken", async ({ page, open }) => {
  await page.emulateMedia({ media: "print" });
  await page.setViewportSize({ width: SHEET_WIDTH, height: 1000 });
  const sweeps = [sweep(), labeled("used", "sweep-used")];
  for (const documents of [...published().map((one) => [one]), pair(), sweeps]) {
    await open(documents);
    const tables = page.locator("table");
    await expect(tables.last()).toBeAttached();
    const faults = await tables.evaluateAll((all) =>
      all.flatMap((table) => {
        const room = table.closest("[role=region]")!;
        const title = room.getAttribute("aria-label");
        const words = [...table.querySelectorAll("th")].flatMap((heading) => {
          const text = [...heading.childNodes].find((node): node is Text => node instanceof Text && node.data.trim() !== "");
          if (!text) return [];
          return [...text.data.matchAll(/[^\s–]+/g)].flatMap(({ 0: word, index }) => {
            const range = new Range();
            range.setStart(text, index);
            range.setEnd(text, index + word.length);
            return new Set([...range.getClientRects()].map(({ top }) => top)).size > 1 ? [`${title}: ${word} is broken`] : [];
          });
        });
        const wide = table.getBoundingClientRect().width - room.clientWidth;
        return wide > 1 ? [...words, `${title}: ${wide} pixels too wide`] : words;
      }),
    );
    expect(faults, documents.map(({ label }) => label).join()).toEqual([]);
  }
});

test("a page without documents says so", async ({ page, open }) => {
  await open([]);
  await expect(page.getByText("This page holds no documents.")).toBeVisible();
});

test("on a phone every number of a row is in sight", async ({ page, open }) => {
  await page.setViewportSize({ width: 390, height: 900 });
  await open([bench()]);
  await unfold(page, "Tables");
  for (const name of ["Overview", "Results"]) {
    const box = page.getByRole("region", { name, exact: true });
    expect(await box.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
    const last = box.locator("tbody tr:first-child > :last-child");
    const { x, width } = (await last.boundingBox())!;
    expect(x + width).toBeLessThanOrEqual(390);
  }
  const max = page.getByRole("region", { name: "Results" }).locator("tbody tr:first-child > [data-name='latency max']");
  expect(await max.evaluate((cell) => getComputedStyle(cell, "::before").content)).toContain("latency max");
});

test("a table that is too wide says so at its edge, and keeps its first column", async ({ page, open }) => {
  await page.setViewportSize({ width: 700, height: 900 });
  await open([labeled("one", "check-slow")]);
  await unfold(page, "Tables");
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
