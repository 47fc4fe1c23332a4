/** The way of a person through the page, on machines with no, one and three block devices. */

import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";

import type { Page } from "@playwright/test";

import { expect } from "../e2e/fixtures";
import { Device, missing, seeingOnly } from "./devices";
import { Server, startsAtItsCost, test as base } from "./server";

const reason = missing();

interface Machine {
  server: Server;
  devices: Device[];
}

/** A server that sees so many block devices, whose files lie in `place`. */
const test = base.extend<{ count: number; place: string; machine: Machine }>({
  count: [0, { option: true }],
  place: ["/var/tmp", { option: true }],
  machine: async ({ count, place, context }, use) => {
    const folder = mkdtempSync(join(place, "likenew-devices-"));
    const devices: Device[] = [];
    try {
      for (let at = 0; at < count; at += 1) devices.push(Device.make(folder, `device ${at}`));
      const before = devices.map((device) => device.sum());
      const server = await Server.start((root) => seeingOnly(devices, join(root, "block")));
      await use({ server, devices });
      // A page would miss its server.
      await context.close();
      await server.stop();
      expect(devices.map((device) => device.sum()), "a device is only read").toEqual(before);
    } finally {
      devices.forEach((device) => device.detach());
      rmSync(folder, { recursive: true });
    }
  },
});

test.skip(reason !== null, reason ?? "");
// A check of a real device waits for it to be idle, several times.
test.setTimeout(300_000);

const here = (page: Page) => page.getByRole("region", { name: "Drives of this machine" });

/** From the link of a drive to the result of its check. */
async function check(page: Page, target: string): Promise<void> {
  await page.getByRole("link", { name: `Check: ${target}` }).click();
  await startsAtItsCost(page);
  await expect(page.getByRole("progressbar")).toBeVisible();
  await expect(page.getByText(/^Done/)).toBeVisible();
  await expect(page.getByRole("region", { name: "Report of check" })).toBeVisible();
  await expect(page).toHaveURL(/#\/result\//);
}

test.describe("no block device", () => {
  test("a folder is measured all the same, and is listed with its verdict", async ({ page, machine: { server } }) => {
    await page.goto(server.url);
    await expect(here(page).getByRole("listitem")).toHaveCount(1);
    await expect(here(page)).toContainText("No drive of this machine can be seen from here.");
    await page.getByRole("link", { name: "New run" }).click();
    await expect(page.locator("#known-drives option").first()).toHaveAttribute("value", /^sim:/);
    await page.getByLabel("Folder, device or simulated drive").fill(server.folder);
    await page.getByText("Options").click();
    await page.getByRole("textbox", { name: /^bytes/ }).fill("256MiB");
    await startsAtItsCost(page);
    await expect(page.getByText(/^Done/)).toBeVisible();
    await page.getByRole("link", { name: "Drives", exact: true }).click();
    const others = page.getByRole("region", { name: "Folders, and drives that are not here now" });
    await expect(others.getByText("Checked once, so there is nothing to compare with yet.")).toBeVisible();
    await others.getByRole("link", { name: `History of ${server.folder}` }).click();
    await expect(page.getByText(/^[✓✗?] ?Last check: /)).toBeVisible();
  });
});

test.describe("one block device", () => {
  test.use({ count: 1 });
  test("it is checked twice, and shows how it got there", async ({ page, machine: { server, devices } }) => {
    const [{ path }] = devices as [Device];
    await page.goto(server.url);
    await expect(here(page).getByRole("listitem")).toHaveCount(1);
    await expect(here(page)).toContainText(`${path} 128 MiB`);
    await expect(here(page)).toContainText("Never checked.");
    await check(page, path);
    await page.getByRole("link", { name: "Drives", exact: true }).click();
    await expect(here(page).getByText("Checked once, so there is nothing to compare with yet.")).toBeVisible();
    await server.measure("check", path);
    // Without a reload.
    const changed = here(page).getByText(/^[✓✗] ?(No change beyond the scatter between its 2 checks|.* since \S+)\.$/);
    await expect(changed).toBeVisible();
    await expect(here(page).locator("polyline").first()).toHaveAttribute("points", /,.* .*,/);
    await here(page).getByRole("link", { name: `History of ${path}` }).click();
    await expect(page.getByRole("heading", { name: new RegExp(`^${path}: 2 checks since `) })).toBeVisible();
  });
});

test.describe("three block devices", () => {
  test.use({ count: 3 });
  test("two of them are checked, and each has its own answer", async ({ page, machine: { server, devices } }) => {
    const [one, other, third] = devices.map(({ path }) => path) as [string, string, string];
    await page.goto(server.url);
    await expect(here(page).getByRole("listitem")).toHaveCount(3);
    await expect(here(page).getByText("Never checked.")).toHaveCount(3);
    for (const target of [one, other]) {
      await check(page, target);
      await expect(page).toHaveTitle(new RegExp(`^check-${target.slice(1).replaceAll("/", "-")}, `));
      await page.getByRole("link", { name: "Drives", exact: true }).click();
    }
    await expect(here(page).getByText("Never checked.")).toHaveCount(1);
    await expect(here(page).getByRole("link", { name: `Check: ${third}` })).toBeVisible();
    await expect(here(page).getByRole("link", { name: /^Check again: / })).toHaveCount(2);
  });

  test.describe("in memory", () => {
    // No two are measured at once that lie on one drive.
    test.use({ place: "/dev/shm" });
    test("two of them are checked at once, each in a tab", async ({ page, context, machine: { server, devices } }) => {
      const [one, other] = devices.map(({ path }) => path) as [string, string];
      await page.goto(server.url);
      await expect(here(page).getByText("Never checked.")).toHaveCount(3);
      const second = await context.newPage();
      await second.goto(server.at("#/drives"));
      await Promise.all([check(page, one), check(second, other)]);
      await page.getByRole("link", { name: "Earlier runs" }).click();
      for (const target of [one, other]) await expect(page.getByRole("link", { name: `check ${target}` })).toBeVisible();
      await page.getByRole("link", { name: "Drives", exact: true }).click();
      await expect(here(page).getByText("Checked once, so there is nothing to compare with yet.")).toHaveCount(2);
      await expect(here(page).getByText("Never checked.")).toHaveCount(1);
    });
  });
});
