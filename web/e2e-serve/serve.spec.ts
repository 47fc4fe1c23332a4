import type { Page } from "@playwright/test";

import { cardOf, clipped, expect, saved, textFaults, violations } from "../e2e/fixtures";
import type { Document } from "../src/Document";
import type { DriveHistory, RunEntry } from "../src/serve/api";
import { example } from "../test/documents";
import { drive, fallen } from "../test/histories";
import { test } from "./server";

const TARGET = "Folder, device or simulated drive";

/** Nothing is wider than the window, and nothing stands in the way of anyone. */
async function isOpenToAll(page: Page): Promise<void> {
  expect([...(await clipped(page)), ...(await violations(page))]).toEqual([]);
}

/** A browser says in its console what a server refuses. */
function refusalsAreExpected(page: Page): void {
  page.removeAllListeners("console");
}

/** Agrees to what a run costs. */
async function start(page: Page, ask = "What does it cost?"): Promise<void> {
  await page.getByRole("button", { name: ask }).click();
  await page.getByRole("button", { name: "Start" }).click();
}

test("from a drive to its answer", { tag: "@journey" }, async ({ page, server }) => {
  await page.goto(server.url);
  expect(page.url()).not.toContain(server.url.split("#")[1]);
  await expect(page.getByRole("heading", { name: "Simulated drives" })).toBeVisible();
  await page.getByRole("link", { name: "Tiny Flash 1 GiB" }).click();
  const target = page.getByLabel(TARGET);
  await expect(target).toHaveValue("sim:tiny-flash");
  await target.fill("sim:tiny-flash?state=used");
  await page.getByRole("button", { name: "What does it cost?" }).click();
  await expect(page.getByText(/^Writes up to .*B; takes about .*\./)).toBeVisible();
  await isOpenToAll(page);
  await page.getByRole("button", { name: "Start" }).click();
  await expect(page.getByText("Done, and found a problem.")).toBeVisible();
  await expect(page.getByRole("heading", { name: /Writes are slow/ })).toBeVisible();
  await isOpenToAll(page);
  await page.getByRole("link", { name: "Full report" }).click();
  await expect(page.getByRole("heading", { name: /Writes are slow/ })).toBeVisible();
});

/** How the runs differ stands first, and below it the runs side by side. */
async function isCompared(page: Page): Promise<void> {
  const report = page.getByRole("region", { name: "Report of check" });
  await expect(report.getByRole("heading", { level: 1, name: /^B against A: / })).toBeVisible();
  await expect(report.getByRole("img", { name: "Speeds compared" })).toBeVisible();
  await expect(report.getByText(/^B = sim:tiny-flash/).first()).toBeVisible();
}

test("two runs are compared, the earlier one first, also when the page is loaded again", async ({ page, server }) => {
  await server.measure("check", "sim:tiny-flash");
  await page.goto(server.url);
  await page.getByRole("link", { name: "Earlier runs" }).click();
  const compare = page.getByRole("button", { name: "Compare" });
  await expect(compare).toBeDisabled();
  const items = page.getByRole("listitem");
  await items.filter({ hasText: "As fast as new" }).getByRole("checkbox").first().check();
  await items.filter({ hasText: "state=used" }).filter({ hasText: "Writes are slow" }).getByRole("checkbox").first().check();
  await isOpenToAll(page);
  await compare.click();
  await isCompared(page);
  const names = new URL(page.url()).hash.split("/").slice(2);
  expect(names).toEqual(names.toSorted());
  await isOpenToAll(page);
  await page.reload();
  await isCompared(page);
});

test("runs of different commands are shown although they cannot be compared", async ({ page, server }) => {
  refusalsAreExpected(page);
  await server.measure("bench", "sim:tiny-flash");
  await page.goto(server.url);
  await page.getByRole("link", { name: "Earlier runs" }).click();
  for (const command of ["bench", "check"])
    await page.getByRole("listitem").filter({ hasText: `${command} sim:tiny-flash` }).getByRole("checkbox").first().check();
  await page.getByRole("button", { name: "Compare" }).click();
  await expect(page.getByRole("alert")).not.toBeEmpty();
  await expect(page.getByRole("region", { name: "Report of bench" })).toBeVisible();
  await expect(page.getByRole("region", { name: "Report of check" })).toBeVisible();
});

test("from a drive to its history, and to two of its checks compared", async ({ page, server }) => {
  await server.measure("check", "sim:tiny-flash");
  await server.measure("check", "sim:tiny-flash");
  await page.goto(server.url);
  await page.getByRole("link", { name: "History of sim:tiny-flash" }).click();
  await expect(page.getByText(/^✓ No change beyond the scatter between its \d+ checks\.$/)).toBeVisible();
  await page.getByRole("link", { name: "History", exact: true }).click();
  const simulated = page.getByRole("region", { name: "Simulated drives" });
  await expect(simulated.getByText("sequential read").first()).toBeVisible();
  await expect(simulated.getByText(/As fast as new/)).toBeVisible();
  await isOpenToAll(page);
  await simulated.getByRole("link", { name: "sim:tiny-flash", exact: true }).click();
  await expect(page.getByRole("heading", { name: /^sim:tiny-flash, 1 GiB: \d+ checks since / })).toBeVisible();
  await expect(page.getByRole("img", { name: "Speed of each check" }).locator("canvas")).toBeVisible();
  await isOpenToAll(page);

  const checks = page.getByRole("checkbox");
  const compare = page.getByRole("button", { name: "Compare" });
  await checks.nth(0).check();
  await expect(compare).toBeDisabled();
  await checks.nth(1).check();
  await compare.click();
  await isCompared(page);
});

/** Answers for a drive with these checks, which the server of the test has not. */
async function withHistory(page: Page, one: DriveHistory): Promise<void> {
  const { checks, ...summary } = one;
  const damaged = [{ archive: ".", run: "2026-01-01T00-00-00.000Z-check-home", error: "plan.toml is missing" }];
  await page.route("**/api/history", (route) => route.fulfill({ json: { schema: 1, drives: [summary], damaged } }));
  await page.route(`**/api/history/${one.key}`, (route) => route.fulfill({ json: { schema: 1, ...one } }));
}

/** With LIKENEW_PICTURES set, writes the picture in the README again. */
test("a drive that fell says so in its list, its chart and its table", async ({ page, server, errors }) => {
  await withHistory(page, fallen());
  await page.goto(server.url);
  await page.getByRole("link", { name: "History", exact: true }).click();
  const drives = page.getByRole("region", { name: "Real drives" });
  const fall = "Sustained writes are 60% slower (58–62%) since 2026-03-10.";
  await expect(drives.getByText(fall)).toBeVisible();
  await expect(drives.getByText("464 MB/s · 86%")).toBeVisible();
  await page.getByText("Runs that cannot be read").click();
  await expect(page.getByText("2026-01-01T00-00-00.000Z-check-home: plan.toml is missing")).toBeVisible();
  await drives.getByRole("link").click();

  await expect(page.getByText(fall)).toBeVisible();
  await expect(page.getByText("Sequential reads are 14% slower (12–17%) since 2026-03-10.")).toBeVisible();
  const chart = cardOf(page, "Speed of each check");
  await expect(chart.getByText(/Marks: 2 metrics slower on 2026-03-10 10:20; 4K random read 20% faster on 2026-02-10/)).toBeVisible();
  const picture = chart.getByRole("img");
  await picture.focus();
  await page.keyboard.press("ArrowRight");
  await expect(chart.getByRole("status")).toHaveText(
    "sequential read, 2026-01-03 10:20, 2026-01-03T10-20-00.000Z-check-dev-sda: 100% · 540 MB/s (529–551), rated 560 MB/s",
  );
  await page.keyboard.press("+");
  await chart.getByRole("button", { name: "Show all" }).click();
  await expect(chart.getByRole("button", { name: "Show all" })).toHaveCount(0);
  const { x, y, width, height } = (await picture.boundingBox())!;
  await page.mouse.move(x + width / 2, y + height / 2);
  const tip = picture.locator("div").filter({ hasText: "-check-dev-sda" }).first();
  await expect(tip.locator("circle"), "each line by its color").toHaveCount(6);
  await expect(tip).toContainText(/sequential read .*% · \d+ MB\/s .*, rated 560 MB\/s/);
  expect(errors, "the policy of the page lets its charts be").toEqual([]);
  const svg = (await saved(page, "Save Speed of each check as SVG")).content.toString();
  for (const text of ["2 metrics slower", "4K random read 20% faster", "2026-02", "100%"]) expect(svg).toContain(`>${text}<`);

  await page.setViewportSize({ width: 1100, height: 760 });
  const shot = process.env["LIKENEW_PICTURES"] ? "../docs/images/history.png" : test.info().outputPath("history.png");
  await page.screenshot({ path: shot });

  await page.getByLabel("Metric").selectOption("sequential read");
  const alone = page.getByRole("region", { name: "Sequential read of each check" });
  await expect(alone.getByText(/rated: 104%, from 104% on 2026-01-03 10:20/)).toBeVisible();
  await alone.getByRole("button", { name: "Table" }).click();
  await expect(alone.getByRole("cell", { name: "86% (84–88%) · 464 MB/s (455–474), rated 560 MB/s" })).toHaveCount(3);
  await isOpenToAll(page);

  const table = page.getByRole("region", { name: "Checks" }).getByRole("table");
  await expect(table.getByRole("row")).toHaveCount(1 + 16 + 1);
  await expect(table.getByRole("img", { name: "slower from here on" })).toHaveCount(2);
  await expect(table.getByRole("img", { name: "faster from here on" })).toHaveCount(1);
  const boxes = table.getByRole("checkbox");
  for (const at of [0, 1, 2]) await boxes.nth(at).check();
  await expect(boxes.nth(0), "two checks are compared").not.toBeChecked();
  await page.setViewportSize({ width: 720, height: 1000 });
  await page.emulateMedia({ media: "print" });
  expect(await clipped(page)).toEqual([]);
  await page.emulateMedia({ media: "screen" });
  // The earlier one comes first, whichever was marked first.
  await page.route("**/api/runs/*", (route) => route.fulfill({ json: example("bench-new") }));
  await page.route("**/api/compare?*", (route) => route.fulfill({ json: example("compare-benches") }));
  await page.getByRole("button", { name: "Compare" }).click();
  await expect(page).toHaveURL(/#\/result\/2026-04-10T.*\/2026-04-17T/);
  await expect(page.getByRole("heading", { level: 1, name: /^B against A: / })).toBeVisible();
});

test("one check has no chart, and no history says how to begin", async ({ page, server }) => {
  await withHistory(page, drive({ sequential_read: [500e6] }));
  await page.goto(server.url);
  await page.getByRole("link", { name: "History", exact: true }).click();
  await page.getByRole("region", { name: "Real drives" }).getByRole("link").click();
  await expect(page.getByText("Checked once, so there is nothing to compare with yet.")).toBeVisible();
  await expect(page.locator("canvas")).toHaveCount(0);
  await expect(page.getByRole("cell", { name: "500 MB/s", exact: true })).toBeVisible();
  await page.route("**/api/history", (route) => route.fulfill({ json: { schema: 1, drives: [], damaged: [] } }));
  await page.getByRole("link", { name: "History", exact: true }).click();
  await expect(page.getByText("No drive was checked yet.")).toBeVisible();
  await page.getByRole("link", { name: "Check one" }).click();
  await expect(page.getByLabel("Command")).toHaveValue("check");
});

test("the list says what each run found, and what became of the others", async ({ page, server }) => {
  const entry = (name: string, of: Partial<RunEntry>): RunEntry => ({
    name,
    started_at: "2026-03-14T15:09:26.000Z",
    procedure: "check",
    target: "/home",
    standing: null,
    summary: null,
    error: null,
    ...of,
  });
  const runs = [
    entry("a", { standing: "problem", summary: "Writes are slow." }),
    entry("b", { standing: "info", procedure: "bench", summary: "540 MB/s read." }),
    entry("c", { standing: "unfinished", target: "/mnt/cut" }),
    entry("d", { standing: "unfinished", target: "/mnt/busy" }),
    entry("e", { started_at: null, procedure: null, target: null, error: "its plan is missing" }),
  ];
  const busy = { id: 7, command: "check", target: "/mnt/busy", run: "d", progress: null, messages: [], end: null };
  await page.route("**/api/runs?*", (route) => route.fulfill({ json: { runs, count: runs.length } }));
  await page.route("**/api/jobs", (route) => route.fulfill({ json: [busy] }));
  await page.goto(server.url);
  await page.getByRole("link", { name: "Earlier runs" }).click();
  const item = (text: string) => page.getByRole("listitem").filter({ hasText: text });
  await expect(item("Writes are slow.").getByRole("img", { name: "Problem" })).toBeVisible();
  await expect(item("540 MB/s read."), "a measurement has no sign").toContainText("bench /home");
  await expect(item("540 MB/s read.").getByRole("img")).toHaveCount(0);
  await expect(item("/mnt/cut")).toContainText("interrupted");
  await expect(item("/mnt/cut").getByRole("button", { name: "Resume" })).toBeVisible();
  await expect(item("/mnt/busy").getByRole("button")).toHaveCount(0);
  await expect(item("/mnt/busy").getByRole("link", { name: "Under way" })).toHaveAttribute("href", "#/job/7");
  await expect(item("its plan is missing")).toBeVisible();
  await isOpenToAll(page);
});

test("a run is canceled, and resumed to its end", async ({ page, server }) => {
  await page.goto(server.url);
  await page.getByRole("link", { name: "New run" }).click();
  await page.getByLabel("Command").selectOption("bench");
  await page.getByLabel(TARGET).fill(server.folder);
  await page.getByText("Options").click();
  await page.getByRole("textbox", { name: /^span/ }).fill("64MiB");
  await page.getByRole("textbox", { name: /^time/ }).fill("1s");
  await page.getByRole("textbox", { name: /^passes/ }).first().fill("2");
  await start(page);
  await expect(page.getByRole("progressbar")).toBeVisible();
  await page.getByRole("button", { name: "Cancel" }).click();
  await expect(page.getByText("Canceled; it can be resumed.")).toBeVisible();
  await start(page, "Resume");
  await expect(page.getByText("Done.")).toBeVisible();
});

test("every block device can be chosen for a new run", async ({ page, server }) => {
  await page.route("**/api/drives", async (route) => {
    const real = ["/dev/sda", "/dev/sdb", "/dev/nvme0n1"].map((path) => ({ path, model: null, capacity_bytes: 1e12 }));
    await route.fulfill({ json: { ...(await (await route.fetch()).json()), real } });
  });
  await page.goto(server.url);
  await page.getByRole("link", { name: "New run" }).click();
  await expect(page.getByLabel("Command")).toBeVisible();
  const options = page.locator("#known-drives option");
  const targets = await options.evaluateAll((all) => all.map((option) => option.getAttribute("value")));
  expect(targets.slice(0, 4)).toEqual(["/dev/sda", "/dev/sdb", "/dev/nvme0n1", expect.stringMatching(/^sim:/)]);
  await page.getByRole("link", { name: "Drives", exact: true }).click();
  await expect(page.getByRole("link", { name: "Tiny Flash 1 GiB" })).toBeVisible();
});

test("what wears flash asks what the terminal asks, and another choice asks again", async ({ page, server }) => {
  await page.goto(server.url);
  await page.getByRole("link", { name: "New run" }).click();
  await page.getByLabel("Command").selectOption("endure");
  await page.getByLabel(TARGET).fill(server.folder);
  const begin = page.getByRole("button", { name: "Start" });
  await expect(begin).toHaveCount(0);
  await page.getByText("Options").click();
  await page.getByRole("textbox", { name: /^bytes/ }).fill("100GiB");
  await page.getByRole("button", { name: "What does it cost?" }).click();
  await expect(page.getByText(/This writes .* to the drive, which wears flash\. Go on\?$/)).toBeVisible();
  await isOpenToAll(page);
  await page.getByRole("textbox", { name: /^bytes/ }).fill("200GiB");
  await expect(begin).toHaveCount(0);
  await start(page);
  await page.getByRole("button", { name: "Cancel" }).click();
  await expect(page.getByText("Canceled; it can be resumed.")).toBeVisible();
});

test("a mistake is answered with a sentence", async ({ page, server }) => {
  refusalsAreExpected(page);
  await page.goto(server.url);
  await page.getByRole("link", { name: "New run" }).click();
  await page.getByLabel("Command").selectOption("check");
  await page.getByLabel(TARGET).fill("sim:tiny-flush");
  await page.getByLabel(TARGET).press("Enter");
  await expect(page.getByRole("alert")).toHaveText(/did you mean "tiny-flash"/);
});

test("without its secret the page shows nothing", async ({ page, server }) => {
  refusalsAreExpected(page);
  await page.goto(new URL(server.url).origin);
  await expect(page.getByText("needs the address that likenew serve has printed").first()).toBeVisible();
});

/** Facts of a machine with two drives, whatever this one has. */
function withDrives(): Document {
  const rows = ["sda", "nvme0n1"].map((name) => ({ cells: [name, "Example SSD 870 of a long name", "466 GiB", "SATA 6 Gb/s", "✓ OK"] }));
  const headings = ["drive", "model", "size", "link", "health"];
  return { ...example("bench-new"), procedure: "facts", overview: { lead: "table", table: { headings, rows } } };
}

test.describe("without the policy, which stops the styles of saved files that are looked at", () => {
  test.use({ bypassCSP: true });
  for (const width of [390, 1280])
    for (const colorScheme of ["light", "dark"] as const)
      test(`every view fits ${width} px, ${colorScheme}`, async ({ page, server }) => {
        await page.setViewportSize({ width, height: 800 });
        await page.emulateMedia({ colorScheme });
        await page.route("**/api/facts", (route) => route.fulfill({ json: withDrives() }));
        await page.goto(server.url);
        await expect(page.getByRole("link", { name: "Tiny Flash 1 GiB" })).toBeVisible();
        await expect(page.getByRole("region", { name: "Table: Drives of this machine" }).getByRole("row")).toHaveCount(3);
        await isOpenToAll(page);
        await page.getByRole("link", { name: "New run" }).click();
        await page.getByText("Options").click();
        await isOpenToAll(page);
        await page.getByRole("link", { name: "Earlier runs" }).click();
        await page.getByRole("link", { name: /^check sim:tiny-flash\?/ }).first().click();
        await expect(page.getByRole("heading", { name: /Writes are slow/ })).toBeVisible();
        await isOpenToAll(page);
        await withHistory(page, fallen());
        await page.getByRole("link", { name: "History", exact: true }).click();
        await expect(page.getByText("Sustained writes are 60% slower")).toBeVisible();
        await isOpenToAll(page);
        await page.getByRole("region", { name: "Real drives" }).getByRole("link").click();
        const picture = page.getByRole("img", { name: "Speed of each check" });
        await expect(picture.locator("canvas")).toBeVisible();
        await picture.hover();
        await expect(picture.getByText("-check-dev-sda")).toBeVisible();
        await isOpenToAll(page);
        expect(await textFaults(page)).toEqual([]);
      });
});
