import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

import type { Page, TestInfo } from "@playwright/test";

import { cardOf, clipped, expect, saved, textFaults, violations } from "../e2e/fixtures";
import type { Document } from "../src/Document";
import type { DriveHistory, RealDrive, RunEntry } from "../src/serve/answers";
import { toDriveHistory, toStart } from "../src/serve/place";
import { example } from "../test/documents";
import { drive, fallen } from "../test/histories";
import { Server, startsAtItsCost, test } from "./server";

const TARGET = "Folder, device or simulated drive";

/** Nothing is wider than the window, and nothing stands in the way of anyone. */
async function isOpenToAll(page: Page): Promise<void> {
  expect([...(await clipped(page)), ...(await violations(page))]).toEqual([]);
}

/** A browser says in its console what a server refuses. */
function refusalsAreExpected(page: Page): void {
  page.removeAllListeners("console");
}

/** What a table's menu puts into the clipboard, which the test has leave to read. */
async function copied(page: Page, title: string, form: string): Promise<string> {
  await page.getByRole("button", { name: `Copy ${title}` }).click();
  await page.getByRole("menuitem", { name: form }).click();
  await expect(page.getByRole("status").filter({ hasText: /^Copied/ })).toBeVisible();
  return page.evaluate(() => navigator.clipboard.readText());
}

const used = { command: "check", target: "sim:tiny-flash?state=used", options: {} };

test("from a drive to its answer", { tag: "@journey" }, async ({ page, server }) => {
  await page.goto(server.url);
  expect(page.url()).not.toContain(server.url.split("#")[1]);
  await expect(page.getByRole("region", { name: "Drives of this machine" })).toBeVisible();
  await expect(page.getByText("sim:", { exact: false }), "simulated drives are one link away").toHaveCount(0);
  await expect(page).toHaveTitle("Drives · Likenew");
  await page.getByRole("link", { name: "Simulated drives, to try it out" }).click();
  await page.getByRole("link", { name: "Tiny Flash 1 GiB", exact: true }).click();
  const target = page.getByLabel(TARGET);
  await expect(target).toHaveValue("sim:tiny-flash");
  await target.fill(used.target);
  const begin = page.getByRole("button", { name: "Start" });
  await expect(begin, "its cost is not known yet").toBeDisabled();
  const cost = page.getByRole("status", { name: "What it costs" });
  await expect(cost).toContainText(/Writes up to .*B; takes about .*\./);
  expect((await cost.boundingBox())!.y).toBeLessThan((await begin.boundingBox())!.y);
  await expect(page.getByText("likenew check 'sim:tiny-flash?state=used'")).toBeVisible();
  await expect(page).toHaveTitle("New run: check sim:tiny-flash?state=used · Likenew");
  await isOpenToAll(page);
  await begin.click();
  await expect(page.getByText("Done, and found a problem.")).toBeVisible();
  await expect(page.getByRole("heading", { name: /Writes are slow/ })).toBeVisible();
  await expect(page.getByText(/Writes are slow: sustained writes run at/), "it is said once").toHaveCount(1);
  await isOpenToAll(page);
  await expect(page, "the address outlives the server").toHaveURL(/#\/result\/2.*-check-sim-tiny-flash-state-used$/);
  await page.reload();
  await expect(page.getByRole("heading", { name: /Writes are slow/ })).toBeVisible();
  await expect(page).toHaveTitle(/^check-sim-tiny-flash-state-used, \d{4}-.* · Likenew$/);
  await page.getByRole("link", { name: /^Start it here: likenew recondition/ }).click();
  await expect(page.getByLabel("Command")).toHaveValue("recondition");
  await expect(page.getByRole("combobox", { name: /^step/ }).or(page.getByRole("textbox", { name: /^step/ }))).toHaveValue("rewrite");
  await expect(cost).toContainText("takes");
});

/** How the runs differ stands first, and below it the runs side by side. */
async function isCompared(page: Page): Promise<void> {
  const report = page.getByRole("region", { name: "Report of check" });
  await expect(report.getByRole("heading", { level: 1, name: /^[^:]+ against [^:]+: / })).toBeVisible();
  await expect(report.getByRole("img", { name: /^Speed of .* compared with / })).toBeVisible();
  await expect(report.getByRole("heading", { name: "Each run by itself" })).toBeVisible();
}

test("two marked runs are compared, the earlier one first, also when the page is loaded again", async ({ page, server }) => {
  await server.measure("check", "sim:tiny-flash");
  await page.goto(server.url);
  const toRuns = page.getByRole("link", { name: "Earlier runs" });
  await toRuns.click();
  const compare = page.getByRole("link", { name: "Compare" });
  const items = page.getByRole("listitem");
  const one = items.filter({ hasText: "As fast as new" }).getByRole("checkbox").first();
  await one.check();
  await expect(compare).toHaveCount(0);
  // A mark stays on the way to another view and back, and when the page is loaded again.
  await page.getByRole("link", { name: "Drives", exact: true }).click();
  await expect(page.getByText("1 run marked")).toBeVisible();
  await page.reload();
  await toRuns.click();
  await expect(one).toBeChecked();
  await items.filter({ hasText: "state=used" }).filter({ hasText: "Writes are slow" }).getByRole("checkbox").first().check();
  await isOpenToAll(page);
  await compare.click();
  await isCompared(page);
  const names = new URL(page.url()).hash.split("/").slice(2);
  expect(names).toEqual(names.toSorted());
  await isOpenToAll(page);
  await page.reload();
  await isCompared(page);
  await page.goBack();
  await expect(one).toBeChecked();
  await page.getByRole("button", { name: "Clear" }).click();
  await expect(one).not.toBeChecked();
});

test("runs of different commands are shown although they cannot be compared", async ({ page, server }) => {
  refusalsAreExpected(page);
  await server.measure("bench", "sim:tiny-flash");
  await page.goto(server.url);
  await page.getByRole("link", { name: "Earlier runs" }).click();
  for (const command of ["bench", "check"])
    await page.getByRole("listitem").filter({ hasText: `${command} sim:tiny-flash` }).getByRole("checkbox").first().check();
  await page.getByRole("link", { name: "Compare" }).click();
  await expect(page.getByRole("main").getByRole("alert")).not.toBeEmpty();
  await expect(page.getByRole("region", { name: "Report of bench" })).toBeVisible();
  await expect(page.getByRole("region", { name: "Report of check" })).toBeVisible();
});

test("from a drive to its history, and to two of its checks compared", async ({ page, server }) => {
  await server.measure("check", "sim:tiny-flash");
  await server.measure("check", "sim:tiny-flash");
  await page.goto(server.url);
  await page.getByRole("link", { name: "Simulated drives, to try it out" }).click();
  const simulated = page.getByRole("region", { name: "Checked" });
  await expect(simulated.getByText("sequential read").first()).toBeVisible();
  await expect(simulated.getByText(/As fast as new/)).toBeVisible();
  await expect(simulated.locator("polyline").first(), "its checks as a line").toHaveAttribute("points", /,.* .*,/);
  await isOpenToAll(page);
  await simulated.getByRole("link", { name: "sim:tiny-flash", exact: true }).click();
  await expect(page.getByRole("heading", { name: /^sim:tiny-flash, 1 GiB: \d+ checks since / })).toBeVisible();
  await expect(page.getByText(/^✓ No change beyond the scatter between its \d+ checks\.$/)).toBeVisible();
  await expect(page.getByRole("img", { name: "Speed of each check" }).locator("canvas")).toBeVisible();
  await isOpenToAll(page);

  const checks = page.getByRole("checkbox");
  await checks.nth(0).check();
  await checks.nth(1).check();
  await page.getByRole("link", { name: "Compare" }).click();
  await isCompared(page);
});

/** Answers for a drive with these checks, which the server of the test has not. */
async function withHistory(page: Page, one: DriveHistory): Promise<void> {
  const { checks, ...summary } = one;
  const damaged = [{ archive: ".", run: "2026-01-01T00-00-00.000Z-check-home", error: "plan.toml is missing" }];
  await page.route("**/api/history?*", (route) => route.fulfill({ json: { schema: 1, drives: [summary], unknown_drives: [], damaged } }));
  await page.route(`**/api/history/${one.key}`, (route) => route.fulfill({ json: { schema: 1, ...one } }));
}

/** The block devices of this machine, whatever it has. */
async function withReal(page: Page, real: RealDrive[]): Promise<void> {
  await page.route("**/api/drives", async (route) =>
    route.fulfill({ json: { ...((await (await route.fetch()).json()) as object), real } }),
  );
}

/** With LIKENEW_PICTURES set, writes the picture in the README again. */
test("a drive that fell says so in its list, its chart and its table", { tag: "@picture" }, async ({ page, server, errors }) => {
  await withHistory(page, fallen());
  await withReal(page, [
    { path: "/dev/sda", model: "Example 870", capacity_bytes: 5e11, is_drive: true, used_by: null },
    { path: "/dev/loop0", model: null, capacity_bytes: 1e8, is_drive: false, used_by: "mounted at /snap/core" },
    { path: "/dev/loop1", model: null, capacity_bytes: 1e9, is_drive: false, used_by: null },
  ]);
  await page.goto(server.url);
  const drives = page.getByRole("region", { name: "Drives of this machine" });
  await expect(drives.getByRole("listitem"), "not what only holds a package").toHaveCount(2);
  await expect(drives.getByText("Never checked.")).toHaveCount(1);
  await expect(drives.locator("polyline"), "a line for each of two metrics").toHaveCount(2);
  const fall = "Sustained writes are 60% slower (58–62%) since 2026-03-10.";
  await expect(drives.getByText(fall)).toBeVisible();
  await expect(drives.getByText("464 MB/s · 86%")).toBeVisible();
  await page.getByText("Runs that cannot be read").click();
  await expect(page.getByText("2026-01-01T00-00-00.000Z-check-home: plan.toml is missing")).toBeVisible();
  await drives.getByRole("link", { name: "Example 870 (/dev/sda)" }).click();

  await expect(page.getByText(fall)).toBeVisible();
  await expect(page.getByText("Sequential reads are 14% slower (12–17%) since 2026-03-10.")).toBeVisible();
  const chart = cardOf(page, "Speed of each check");
  await expect(chart.getByText(/Marks: 2 metrics slower on 2026-03-10 10:20; 4K random read 20% faster on 2026-02-10/)).toBeVisible();
  const picture = chart.getByRole("img");
  await picture.focus();
  await page.keyboard.press("ArrowRight");
  const point = "2026-01-03 10:20, 2026-01-03T10-20-00.000Z-check-dev-sda: 100% · 540 MB/s (529–551), rated 560 MB/s";
  await expect(chart.getByRole("status").filter({ hasText: `sequential read, ${point}` })).toBeVisible();
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

  await page.setViewportSize({ width: 1100, height: 860 });
  await page.mouse.move(0, 0);
  await page.evaluate(() => window.scrollTo(0, 0));
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
  for (const at of [1, 0]) await boxes.nth(at).check();
  await page.setViewportSize({ width: 720, height: 1000 });
  await page.emulateMedia({ media: "print" });
  expect(await clipped(page)).toEqual([]);
  await page.emulateMedia({ media: "screen" });
  // The earlier one comes first, whichever was marked first.
  await page.route("**/api/runs/*", (route) => route.fulfill({ json: example("bench-new") }));
  await page.route("**/api/compare?*", (route) => route.fulfill({ json: example("compare-benches") }));
  await page.getByRole("link", { name: "Compare" }).click();
  await expect(page).toHaveURL(/#\/result\/2026-04-17T.*\/2026-04-24T/);
  await expect(page.getByRole("heading", { level: 1, name: /^used against new: / })).toBeVisible();
});

test("the checks of a drive and the list of runs are copied", async ({ page, context, server }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await withHistory(page, fallen());
  await page.goto(server.url);
  await page.getByRole("link", { name: "History of /dev/sda" }).click();
  const lines = (await copied(page, "Checks", "as Markdown")).split("\n");
  expect(lines[0]).toMatch(/^\*\*Checks\*\*/);
  expect(lines[2]).toMatch(/^100% is sequential read 540 MB\/s, /);
  expect(lines.filter((line) => line.startsWith("| "))).toHaveLength(1 + 16);
  expect(lines.at(-2)).toMatch(/^\| 2026-01-03 10:20 \| 100% \| /);
  expect((await copied(page, "Checks", "as CSV")).split("\r\n")[0]).toMatch(
    /^started_at,run,sequential_read_percent_of_first,sequential_read_per_s,.*,summary,standing$/,
  );
  await isOpenToAll(page);
  await page.getByRole("link", { name: "Earlier runs" }).click();
  const runs = (await copied(page, "Earlier runs", "as plain text")).split("\n");
  expect(runs[0]).toBe("Earlier runs");
  expect(runs.some((line) => /^check +sim:tiny-flash\?state=used +\d{4}-/.test(line))).toBe(true);
  await isOpenToAll(page);
});

test("one check has no chart, and a drive that was never checked says so", async ({ page, server }) => {
  await withHistory(page, drive({ sequential_read: [500e6] }));
  await withReal(page, []);
  await page.goto(server.url);
  await expect(page.getByText("No drive of this machine can be seen from here.")).toBeVisible();
  const others = page.getByRole("region", { name: "Folders, and drives that are not here now" });
  await others.getByRole("link", { name: "History of /dev/sda" }).click();
  await expect(page.getByText("Checked once, so there is nothing to compare with yet.")).toBeVisible();
  await expect(page.locator("canvas")).toHaveCount(0);
  await expect(page.getByRole("cell", { name: "500 MB/s", exact: true })).toBeVisible();
  await page.route("**/api/history?*", (route) => route.fulfill({ json: { schema: 1, drives: [], unknown_drives: [], damaged: [] } }));
  await withReal(page, [{ path: "/dev/sda", model: null, capacity_bytes: 1e9, is_drive: true, used_by: null }]);
  await page.getByRole("link", { name: "Drives", exact: true }).click();
  await expect(page.getByText("Never checked.")).toBeVisible();
  const unknown = { archive: ".", target: "/dev/sda", last_check: "x", last_check_at: "2026-03-14T15:09:26.000Z", sentence: "Checked on 2026-03-14." };
  await page.route("**/api/history?*", (route) => route.fulfill({ json: { schema: 1, drives: [], unknown_drives: [unknown], damaged: [] } }));
  await page.reload();
  await expect(page.getByText("Checked on 2026-03-14. Its last check")).toBeVisible();
  await expect(page.getByText("Never checked.")).toHaveCount(0);
  await expect(page.getByRole("link", { name: "Its last check" })).toHaveAttribute("href", "#/result/x");
  await page.getByRole("link", { name: "Check: /dev/sda" }).click();
  await expect(page.getByLabel("Command")).toHaveValue("check");
  await expect(page.getByLabel(TARGET)).toHaveValue("/dev/sda");
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
  const busy = { id: 7, command: "check", target: "/mnt/busy", options: {}, is_own: true, run: "d", progress: null, messages: [], end: null };
  await page.route("**/api/runs?*", (route) => route.fulfill({ json: { runs, count: runs.length } }));
  await page.route("**/api/now", (route) => route.fulfill({ json: { running: [busy], change: "" } }));
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

test("a run is seen while it measures, canceled, and resumed to its end", async ({ page, server }) => {
  const options = { passes: "3", span: "64MiB", time: "1s" };
  await page.goto(server.url);
  await page.goto(server.at(toStart({ command: "bench", target: server.folder, options })));
  await expect(page.getByRole("textbox", { name: /^span/ }), "what is chosen is in the address").toHaveValue("64MiB");
  await startsAtItsCost(page);
  await expect(page.getByRole("progressbar")).toBeVisible();
  await expect(page.getByText(/moved, .*B of it written/)).toBeVisible();
  await expect(page.getByText(/^(1 MiB sequential|4K random) (reads|writes)/), "what is measured now, in words").toBeVisible();
  for (const [name, heading] of [["Reads", "Reads"], ["Writes", "Writes"]] as const) {
    await expect(page.getByRole("img", { name: new RegExp(`^${name} so far: .* to .*MB/s`) })).toBeVisible();
    await expect(page.getByText(heading, { exact: true })).toBeVisible();
  }
  await expect(page.getByText(/^Latency: p50 .*, p99 .*, max /).first()).toBeVisible();
  await expect(page).toHaveTitle(/^\d.*% bench .* · Likenew$/);
  await page.getByRole("button", { name: "Cancel" }).click();
  await expect(page.getByText("Canceled; it can be resumed.")).toBeVisible();
  await isOpenToAll(page);
  const again = page.getByRole("link", { name: "Run it again" });
  await expect(again).toHaveAttribute("href", toStart({ command: "bench", target: server.folder, options }));
  await page.getByRole("button", { name: "Resume" }).click();
  await startsAtItsCost(page);
  await expect(page.getByText("Done.")).toBeVisible();
});

test("two drives are measured at once, each in a tab, and one of them from a terminal", async ({ page, context, server }) => {
  await page.goto(server.url);
  const words = ["--span", "64MiB", "--time", "2s", "--passes", "2", "--quiet"];
  const ended = server.terminal("bench", server.folder, ...words);
  // It appears without a reload.
  const underWay = page.getByRole("region", { name: "Under way" });
  await expect(underWay.getByRole("link", { name: `bench ${server.folder}` })).toBeVisible();
  const other = await context.newPage();
  await other.goto(server.at(toStart(used)));
  await startsAtItsCost(other);
  await expect(other.getByRole("progressbar")).toBeVisible();
  await underWay.getByRole("link", { name: `bench ${server.folder}` }).click();
  await expect(page.getByText("Started in a terminal; cancel it there with Ctrl-C.")).toBeVisible();
  await expect(page.getByRole("img", { name: /^(Reads|Writes) so far: / }).first()).toBeVisible();
  await expect(page.getByRole("button", { name: "Cancel" })).toHaveCount(0);
  await expect(other.getByText("Done, and found a problem.")).toBeVisible();
  await ended;
  await expect(page.getByText("Done.")).toBeVisible();
  await expect(page.getByRole("region", { name: "Report of bench" })).toBeVisible();
  await expect(page).toHaveURL(/#\/result\//);
});

test("every block device can be chosen for a new run", async ({ page, server }) => {
  const real = ["/dev/sda", "/dev/sdb", "/dev/nvme0n1"].map((path) => ({ path, model: null, capacity_bytes: 1e12, is_drive: true, used_by: null }));
  await withReal(page, real);
  await page.goto(server.url);
  await page.getByRole("link", { name: "New run" }).click();
  await expect(page.getByLabel("Command")).toBeVisible();
  const options = page.locator("#known-drives option");
  const targets = await options.evaluateAll((all) => all.map((option) => option.getAttribute("value")));
  expect(targets.slice(0, 4)).toEqual(["/dev/sda", "/dev/sdb", "/dev/nvme0n1", expect.stringMatching(/^sim:/)]);
});

test("what wears flash asks what the terminal asks, and another choice asks again", async ({ page, server }) => {
  await page.goto(server.url);
  await page.getByRole("link", { name: "New run" }).click();
  await page.getByLabel("Command").selectOption("endure");
  await page.getByLabel(TARGET).fill(server.folder);
  const begin = page.getByRole("button", { name: "Start" });
  await page.getByText("Options").click();
  const bytes = page.getByRole("textbox", { name: /^bytes/ });
  await bytes.fill("100GiB");
  await expect(page.getByText(/This writes .* to the drive, which wears flash\. Go on\?$/)).toBeVisible();
  await expect(begin).toBeEnabled();
  await isOpenToAll(page);
  await bytes.fill("200GiB");
  await expect(begin).toBeDisabled();
  // What is chosen is there again after a reload, and on the way back.
  await page.reload();
  await expect(bytes).toHaveValue("200GiB");
  await page.getByRole("link", { name: "Drives", exact: true }).click();
  await page.goBack();
  await expect(bytes).toHaveValue("200GiB");
  await startsAtItsCost(page);
  await page.getByRole("button", { name: "Cancel" }).click();
  await expect(page.getByText("Canceled; it can be resumed.")).toBeVisible();
});

test("what takes a consent cannot be started, and says the command that asks for it", async ({ page, server }) => {
  refusalsAreExpected(page);
  const file = `${server.folder}/disk image`;
  writeFileSync(file, Buffer.alloc(1 << 20, 7));
  await page.goto(server.url);
  await page.goto(server.at(toStart({ command: "endure", target: file, options: { bytes: "1MiB" } })));
  const alert = page.getByRole("main").getByRole("alert");
  await expect(alert).toContainText("writing would destroy its data, so nothing was changed");
  await expect(alert.getByText(`likenew endure --bytes=1MiB '${file}'`)).toBeVisible();
  await expect(page.getByRole("button", { name: "Start" })).toBeDisabled();
  await isOpenToAll(page);
  expect(readFileSync(file)).toEqual(Buffer.alloc(1 << 20, 7));
});

test("a mistake is answered with a sentence", async ({ page, server }) => {
  refusalsAreExpected(page);
  await page.goto(server.url);
  await page.getByRole("link", { name: "New run" }).click();
  await page.getByLabel("Command").selectOption("check");
  await page.getByLabel(TARGET).fill("sim:tiny-flush");
  await page.getByLabel(TARGET).press("Enter");
  await expect(page.getByRole("main").getByRole("alert")).toContainText(/did you mean "tiny-flash"/);
});

test("without its secret, or with a wrong one, the page shows nothing and says why", async ({ page, server }) => {
  refusalsAreExpected(page);
  for (const address of [new URL(server.url).origin, `${new URL(server.url).origin}/#${"0".repeat(64)}`]) {
    await page.goto(address);
    await expect(page.getByText("This address has no secret, or a wrong one.")).toBeVisible();
    await expect(page.getByRole("main")).toBeEmpty();
    await page.goto("about:blank");
  }
});

test("another tab needs no secret of its own, and a wrong one spoils no other", async ({ page, context, server }) => {
  await page.goto(server.url);
  const link = page.getByRole("link", { name: "Earlier runs" });
  await expect(link).toBeVisible();
  const [opened] = await Promise.all([context.waitForEvent("page"), link.click({ modifiers: ["ControlOrMeta"] })]);
  await expect(opened.getByRole("link", { name: /^check sim:tiny-flash/ }).first()).toBeVisible();
  await expect(opened).toHaveTitle("Earlier runs · Likenew");
  const passedOn = await context.newPage();
  await passedOn.goto(opened.url());
  await expect(passedOn.getByRole("link", { name: /^check sim:tiny-flash/ }).first()).toBeVisible();
  const wrong = await context.newPage();
  await wrong.goto(`${new URL(server.url).origin}/#${"0".repeat(64)}`);
  await expect(wrong.getByText("This address has no secret, or a wrong one.")).toBeVisible();
  await page.reload();
  await expect(page.getByRole("region", { name: "Drives of this machine" })).toBeVisible();
});

test("a server that has stopped is missed within 5 s", async ({ page }) => {
  refusalsAreExpected(page);
  const server = await Server.start();
  await page.goto(server.url);
  await expect(page.getByRole("region", { name: "Drives of this machine" })).toBeVisible();
  await server.kill();
  await expect(page.getByText("The server has stopped, or does not answer.")).toBeVisible({ timeout: 5_000 });
  await expect(page.getByRole("region", { name: "Drives of this machine" }), "what it said stays").toBeVisible();
});

/** Saves what is shown, and returns the address of the file. */
async function fileOf(page: Page, info: TestInfo): Promise<string> {
  const { name, content } = await saved(page, "Save as HTML");
  const path = info.outputPath(name);
  writeFileSync(path, content);
  return pathToFileURL(path).href;
}

test.describe("a file that is saved", () => {
  test("holds what was shown, and needs no server", async ({ page, context, server }, info) => {
    await withHistory(page, fallen());
    await page.goto(server.url);
    await expect(page.getByRole("region", { name: "Drives of this machine" })).toBeVisible();
    const file = await context.newPage();
    await file.goto(await fileOf(page, info));
    await expect(file.getByText(/^Saved from likenew serve on \d{4}-\d\d-\d\d \d\d:\d\d UTC$/)).toBeVisible();
    await expect(file.getByText("Sustained writes are 60% slower (58–62%) since 2026-03-10.")).toBeVisible();
    await expect(file.getByRole("navigation").getByRole("link"), "there is no server").toHaveCount(0);
    await file.getByRole("link", { name: "Example 870 (/dev/sda)" }).click();
    await expect(file.getByRole("img", { name: "Speed of each check" }).locator("canvas")).toBeVisible();
    await expect(file.getByRole("checkbox")).toHaveCount(0);
    await isOpenToAll(file);
    await file.getByRole("link", { name: "All drives" }).click();
    await expect(file.getByRole("region", { name: "Drives of this machine" })).toBeVisible();
    await page.goto(server.at(toDriveHistory(fallen().key)));
    await expect(page.getByText(/Last check:/)).toBeVisible();
    await file.goto(await fileOf(page, info));
    await expect(file.getByRole("heading", { name: /^Example 870 \(\/dev\/sda\)/ })).toBeVisible();
    await page.getByRole("link", { name: "Earlier runs" }).click();
    await page.getByRole("link", { name: /^check sim:tiny-flash\?/ }).first().click();
    await expect(page.getByRole("heading", { name: /Writes are slow/ })).toBeVisible();
    await file.goto(await fileOf(page, info));
    await expect(file.getByRole("heading", { name: /Writes are slow/ })).toBeVisible();
    await expect(file.getByRole("link", { name: /^Start it here/ })).toHaveCount(0);
  });

  test("shows the lists without what leads elsewhere", async ({ page, context, server }, info) => {
    await page.goto(server.url);
    const file = await context.newPage();
    await page.getByRole("link", { name: "Simulated drives, to try it out" }).click();
    await expect(page.getByRole("region", { name: "Checked" })).toBeVisible();
    await file.goto(await fileOf(page, info));
    await expect(file.getByText("Tiny Flash 1 GiB", { exact: true })).toBeVisible();
    await expect(file.getByRole("link", { name: "Tiny Flash 1 GiB" })).toHaveCount(0);
    await file.getByRole("link", { name: "sim:tiny-flash?state=used" }).click();
    await expect(file.getByText(/Last check: Writes are slow/)).toBeVisible();
    await page.getByRole("link", { name: "Earlier runs" }).click();
    const run = "check sim:tiny-flash?state=used";
    await expect(page.getByText(run).first()).toBeVisible();
    await file.goto(await fileOf(page, info));
    await expect(file.getByText(run).first()).toBeVisible();
    await expect(file.getByRole("button")).toHaveText([/^Copy/]);
    await expect(file.getByRole("main").getByRole("link").or(file.getByRole("checkbox"))).toHaveCount(0);
    await expect(file).toHaveTitle("Earlier runs · Likenew");
    await isOpenToAll(file);
  });

  test("shows a new run with its choices and its cost, or why it cannot start", async ({ page, context, server }, info) => {
    refusalsAreExpected(page);
    const options = { passes: "3", span: "64MiB" };
    const cost = /Writes up to .*B; takes about .*\./;
    await page.goto(server.url);
    await page.goto(server.at(toStart({ command: "bench", target: server.folder, options })));
    await expect(page.getByText(cost)).toBeVisible();
    const file = await context.newPage();
    await file.goto(await fileOf(page, info));
    await expect(file.getByLabel("Command")).toHaveValue("bench");
    await expect(file.getByLabel("Command")).toBeDisabled();
    await expect(file.getByRole("textbox", { name: /^span/ })).toHaveValue("64MiB");
    await expect(file.getByText(cost)).toBeVisible();
    await expect(file.getByText(`likenew bench --passes=3 --span=64MiB ${server.folder}`)).toBeVisible();
    await expect(file.getByRole("button", { name: "Start" })).toHaveCount(0);
    await isOpenToAll(file);
    await page.goto(server.at(toStart({ command: "check", target: "sim:tiny-flush", options: {} })));
    await expect(page.getByText(/did you mean "tiny-flash"/)).toBeVisible();
    await file.goto(await fileOf(page, info));
    await expect(file.getByText(/did you mean "tiny-flash"/)).toBeVisible();
  });

  test("shows a run that was under way, and says so", async ({ page, context, server }, info) => {
    await page.goto(server.url);
    await page.goto(server.at(toStart({ command: "bench", target: server.folder, options: { passes: "3", span: "64MiB", time: "1s" } })));
    await startsAtItsCost(page);
    const reads = /^Reads so far: .* to .*MB\/s/;
    await expect(page.getByRole("img", { name: reads })).toBeVisible();
    const file = await context.newPage();
    await file.goto(await fileOf(page, info));
    await page.getByRole("button", { name: "Cancel" }).click();
    await expect(file.getByText("The run was under way when this was saved.", { exact: false })).toBeVisible();
    await expect(file.getByText(/^Saved from likenew serve on /)).toBeVisible();
    await expect(file.getByRole("img", { name: reads })).toBeVisible();
    await expect(file.getByText(/^(1 MiB sequential|4K random) (reads|writes)/)).toBeVisible();
    await expect(file.getByText(/moved, .*B of it written/)).toBeVisible();
    await expect(file.getByRole("button").or(file.getByRole("link"))).toHaveCount(0);
    await expect(file).toHaveTitle(/bench .* · Likenew$/);
    await isOpenToAll(file);
    await expect(page.getByText("Canceled; it can be resumed.")).toBeVisible();
  });

  test("is what history writes, too", async ({ page, server }, info) => {
    await server.measure("check", "sim:tiny-flash");
    const path = info.outputPath("history.html");
    await server.terminal("history", "--html", path);
    await page.goto(pathToFileURL(path).href);
    await page.getByRole("link", { name: "sim:tiny-flash?state=used" }).click();
    await expect(page.getByText(/Writes are slow/).first()).toBeVisible();
    expect(await violations(page)).toEqual([]);
    await page.goBack();
    await expect(page.getByRole("heading", { name: "History" })).toBeVisible();
  });
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
        await withReal(
          page,
          ["sda", "nvme0n1"].map((name) => ({
            path: `/dev/${name}`,
            model: "Example SSD 870 of a long name",
            capacity_bytes: 5e11,
            is_drive: true,
            used_by: null,
          })),
        );
        await withHistory(page, fallen());
        await page.goto(server.url);
        await expect(page.getByText("Sustained writes are 60% slower")).toBeVisible();
        await expect(page.getByText("466 GiB · link SATA 6 Gb/s · health ✓ OK")).toHaveCount(2);
        await isOpenToAll(page);
        await page.getByRole("link", { name: "Simulated drives, to try it out" }).click();
        await expect(page.getByRole("link", { name: "Tiny Flash 1 GiB", exact: true })).toBeVisible();
        await isOpenToAll(page);
        await page.getByRole("link", { name: "New run" }).click();
        await page.getByText("Options").click();
        await isOpenToAll(page);
        await page.getByRole("link", { name: "Earlier runs" }).click();
        await page.getByRole("link", { name: /^check sim:tiny-flash\?/ }).first().click();
        await expect(page.getByRole("heading", { name: /Writes are slow/ })).toBeVisible();
        await isOpenToAll(page);
        await page.goto(server.at(toDriveHistory(fallen().key)));
        const picture = page.getByRole("img", { name: "Speed of each check" });
        await expect(picture.locator("canvas")).toBeVisible();
        await picture.hover();
        await expect(picture.getByText("-check-dev-sda")).toBeVisible();
        await isOpenToAll(page);
        expect(await textFaults(page)).toEqual([]);
      });
});
