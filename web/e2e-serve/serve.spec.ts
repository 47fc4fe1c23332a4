import AxeBuilder from "@axe-core/playwright";
import { expect, test } from "@playwright/test";
import type { Page } from "@playwright/test";

import { Server } from "./server";

let server: Server;
/** Errors while the page was open; a good page has none, and none that a policy stopped. */
let errors: string[];

test.beforeAll(async () => {
  server = await Server.start();
  await server.measure("check", "sim:tiny-flash?state=used");
});
test.afterAll(async () => {
  await server.stop();
});
test.beforeEach(({ page }) => {
  errors = [];
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  page.on("pageerror", (error) => errors.push(String(error)));
});

async function start(page: Page, command: string, target: string): Promise<void> {
  await page.getByRole("link", { name: "New run" }).click();
  await page.getByLabel("Command").selectOption(command);
  await page.getByLabel("Folder, device or simulated drive").fill(target);
  await page.getByRole("button", { name: "Start" }).click();
}

async function hasNoViolations(page: Page): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).analyze();
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`)).toEqual([]);
}

/** Nothing is wider than the window. */
async function fits(page: Page): Promise<void> {
  const [wide, window] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  expect(wide).toBeLessThanOrEqual(window ?? 0);
}

test("from a drive to its answer, and to a comparison", async ({ page }) => {
  await page.goto(server.url);
  expect(page.url()).not.toContain(server.url.split("#")[1]);
  await expect(page.getByRole("heading", { name: "Simulated drives" })).toBeVisible();
  await hasNoViolations(page);
  await page.getByRole("link", { name: "Tiny Flash 1 GiB" }).click();
  const target = page.getByLabel("Folder, device or simulated drive");
  await expect(target).toHaveValue("sim:tiny-flash");
  await target.fill("sim:tiny-flash?state=used");
  await page.getByRole("button", { name: "What does it cost?" }).click();
  await expect(page.getByText(/Takes about .* and writes up to .*B\./)).toBeVisible();
  await hasNoViolations(page);
  await page.getByRole("button", { name: "Start" }).click();
  await expect(page.getByText("Done, and found a problem.")).toBeVisible({ timeout: 60_000 });
  await expect(page.getByRole("heading", { name: /Writes are slow/ })).toBeVisible();
  await hasNoViolations(page);

  await start(page, "check", "sim:tiny-flash");
  await expect(page.getByText("Done.")).toBeVisible({ timeout: 60_000 });
  await page.getByRole("link", { name: "Full report" }).click();
  await expect(page.getByRole("heading", { name: /As fast as new/ })).toBeVisible();

  await page.getByRole("link", { name: "Earlier runs" }).click();
  const marks = page.getByRole("checkbox");
  await expect(marks).toHaveCount(3);
  await expect(page.getByRole("button", { name: "Compare" })).toBeDisabled();
  await marks.nth(1).check();
  await marks.nth(0).check();
  await hasNoViolations(page);
  await page.getByRole("button", { name: "Compare" }).click();
  await expect(page.getByText(/\d+(\.\d+)?×/).first()).toBeVisible();
  await hasNoViolations(page);
  await page.reload();
  await expect(page.getByText(/\d+(\.\d+)?×/).first()).toBeVisible();
  expect(errors).toEqual([]);
});

test("a run is canceled, and resumed to its end", async ({ page }) => {
  await page.goto(server.url);
  await page.getByRole("link", { name: "New run" }).click();
  await page.getByLabel("Command").selectOption("bench");
  await page.getByLabel("Folder, device or simulated drive").fill(server.folder);
  await page.getByText("Options").click();
  await page.getByRole("textbox", { name: /^span/ }).fill("64MiB");
  await page.getByRole("textbox", { name: /^time/ }).fill("1s");
  await page.getByRole("textbox", { name: /^passes/ }).first().fill("2");
  await page.getByRole("button", { name: "Start" }).click();
  await expect(page.getByRole("progressbar")).toBeVisible();
  await page.getByRole("button", { name: "Cancel" }).click();
  await expect(page.getByText("Canceled; it can be resumed.")).toBeVisible({ timeout: 30_000 });
  await page.getByRole("button", { name: "Resume" }).click();
  await expect(page.getByText("Done.")).toBeVisible({ timeout: 100_000 });
  expect(errors).toEqual([]);
});

test("a mistake is answered with a sentence", async ({ page }) => {
  await page.goto(server.url);
  await start(page, "check", "sim:tiny-flush");
  await expect(page.getByText("Refused.")).toBeVisible();
  await expect(page.getByText(/did you mean "tiny-flash"/).first()).toBeVisible();
  expect(errors).toEqual([]);
});

test("without its secret the page shows nothing", async ({ page }) => {
  await page.goto(new URL(server.url).origin);
  await expect(page.getByText("needs the address that likenew serve has printed").first()).toBeVisible();
});

for (const width of [390, 1280]) {
  for (const colorScheme of ["light", "dark"] as const) {
    test(`every view fits ${width} px, ${colorScheme}`, async ({ page }) => {
      await page.setViewportSize({ width, height: 800 });
      await page.emulateMedia({ colorScheme });
      await page.goto(server.url);
      await expect(page.getByRole("link", { name: "Tiny Flash 1 GiB" })).toBeVisible();
      await fits(page);
      await hasNoViolations(page);
      await page.getByRole("link", { name: "New run" }).click();
      await page.getByText("Options").click();
      await fits(page);
      await hasNoViolations(page);
      await page.getByRole("link", { name: "Earlier runs" }).click();
      await page.getByRole("link", { name: /^check sim:tiny-flash\?/ }).first().click();
      await expect(page.getByRole("heading", { name: /Writes are slow/ })).toBeVisible();
      await fits(page);
      await hasNoViolations(page);
      expect(errors).toEqual([]);
    });
  }
}
