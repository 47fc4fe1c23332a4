/** Pages as likenew writes them, in a browser with one known font: those of machines differ in width and height. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { AxeBuilder } from "@axe-core/playwright";
import { expect, test as base } from "@playwright/test";
import type { Locator, Page } from "@playwright/test";

import type { Labeled } from "../src/Document";
import type { SavedView } from "../src/serve/file";
import { BUNDLE } from "./build";
import "./firefox";

export { expect };

const PLACE = new URL("../../crates/likenew-report/src/html/documents.place", import.meta.url);

/** Writes the built page with documents, or with a saved view, in its block of data, and returns its address. */
export function pageWith(of: Labeled[] | SavedView, path: string): string {
  const bundle = readFileSync(BUNDLE, "utf8");
  const place = readFileSync(PLACE, "utf8").trim();
  if (bundle.split(place).length !== 2) throw new Error("the bundle has no single place for documents");
  const data = JSON.stringify(of).replaceAll("<", "\\u003c");
  const block = Array.isArray(of) ? place : place.replace("likenew-documents", "likenew-view");
  writeFileSync(path, bundle.replace(place, () => block.replace("[]", () => data)));
  return pathToFileURL(path).href;
}

/** Fontconfig's settings for a system whose font is `family`. */
const settingsOf = (family: string) => `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig>
<match><edit name="family" mode="prepend" binding="weak"><string>${family}</string></edit></match>
<match><test name="family" compare="contains"><string>mono</string></test>
<edit name="family" mode="prepend_first" binding="strong"><string>DejaVu Sans Mono</string></edit></match>
<include>/etc/fonts/fonts.conf</include></fontconfig>`;

interface Fixtures {
  /** Shows a page with these documents. */
  open: (of: Labeled[] | SavedView) => Promise<void>;
  /** Errors while a page is open, and what a policy stopped: a good page has none. */
  errors: string[];
}

export const test = base.extend<Fixtures, { family: string; installed: void }>({
  /** The font of the system. */
  family: ["Open Sans", { option: true, scope: "worker" }],
  launchOptions: [
    async ({ launchOptions, family }, use) => {
      const folder = mkdtempSync(join(tmpdir(), "likenew-fonts-"));
      const path = join(folder, "fonts.conf");
      writeFileSync(path, settingsOf(family));
      await use({ ...launchOptions, env: { ...process.env, FONTCONFIG_FILE: path } });
      rmSync(folder, { recursive: true });
    },
    { scope: "worker" },
  ],
  /** Without the font, tests would compare with that of this machine. */
  installed: [
    async ({ browser, family }, use) => {
      const page = await browser.newPage();
      const [own, asked, other] = await page.evaluate((family) => {
        const pen = window.document.createElement("canvas").getContext("2d")!;
        return ["system-ui", `"${family}", monospace`, "monospace"].map((font) => {
          pen.font = `100px ${font}`;
          return pen.measureText("0 MB/s, 16 GiB").width;
        });
      }, family);
      await page.close();
      const packages = "fonts-open-sans, fonts-dejavu-core and fonts-roboto-unhinted";
      if (asked === other) throw new Error(`the font ${family} is missing: install the Debian packages ${packages}`);
      if (own !== asked) throw new Error(`the browser does not take ${family} for the font of the system`);
      await use();
    },
    { scope: "worker", auto: true },
  ],
  errors: [
    async ({ page }, use) => {
      const errors: string[] = [];
      page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
      page.on("pageerror", (error) => errors.push(String(error)));
      await use(errors);
      expect(errors).toEqual([]);
    },
    { auto: true },
  ],
  open: async ({ page, errors }, use, info) => {
    let url = "";
    page.on("request", (request) => {
      if (request.url() !== url && !/^(data|blob):/.test(request.url())) errors.push(`asked for ${request.url()}`);
    });
    await use(async (of) => {
      url = pageWith(of, info.outputPath("page.html"));
      await page.goto(url);
      await drawn(page);
    });
  },
});

/** The card of a chart. */
export const cardOf = (page: Page, title: string): Locator => page.getByRole("region", { name: title, exact: true });

/** Unfolds all parts of the page, and waits for their charts. */
export async function unfoldAll(page: Page): Promise<void> {
  await page.locator("details").evaluateAll((all) => all.forEach((one) => ((one as HTMLDetailsElement).open = true)));
  await drawn(page);
}

/** Waits until all charts are drawn, which follow the words of the page. */
async function drawn(page: Page): Promise<void> {
  await page.waitForFunction(() =>
    [...window.document.querySelectorAll(".picture")].every(
      (picture) => picture.querySelector("canvas")?.clientWidth === picture.clientWidth,
    ),
  );
}

/** The share of a chart's pixels that are drawn, in all of its layers. */
export async function inked(picture: Locator): Promise<number> {
  return picture.locator("canvas").evaluateAll((layers) => {
    const shares = (layers as HTMLCanvasElement[]).map((canvas) => {
      const { data } = canvas.getContext("2d")!.getImageData(0, 0, canvas.width, canvas.height);
      let drawn = 0;
      for (let at = 3; at < data.length; at += 4) if (data[at]) drawn += 1;
      return drawn / (data.length / 4);
    });
    return shares.reduce((sum, share) => sum + share, 0);
  });
}

/** What the page offers for download after a click on a button of this name. */
export async function saved(page: Page, button: string): Promise<{ name: string; content: Buffer }> {
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: button, exact: true }).click();
  const file = await download;
  return { name: file.suggestedFilename(), content: readFileSync(await file.path()) };
}

export interface Text {
  text: string;
  left: number;
  right: number;
  top: number;
  bottom: number;
}

interface Drawing {
  width: number;
  height: number;
  texts: Text[];
}

/** The texts of every chart and drawing that is shown, with their boxes within it, by the title. */
export async function textsOf(page: Page): Promise<Record<string, Drawing>> {
  return page.evaluate(async () => {
    // What would be saved is looked at instead.
    const [make, click] = [URL.createObjectURL, HTMLAnchorElement.prototype.click];
    const files: Blob[] = [];
    URL.createObjectURL = (blob) => `data:,${files.push(blob as Blob)}`;
    HTMLAnchorElement.prototype.click = () => {};
    const buttons = [...window.document.querySelectorAll<HTMLButtonElement>("button[aria-label$=' as SVG']")];
    for (const button of buttons) button.click();
    [URL.createObjectURL, HTMLAnchorElement.prototype.click] = [make, click];
    const holder = window.document.createElement("div");
    window.document.body.append(holder);
    // Firefox draws the same letters in boxes that are taller by a pixel above and one below.
    const around = navigator.userAgent.includes("Firefox") ? 1 : 0;
    const drawings: [string, Drawing][] = [];
    for (const [at, { ariaLabel }] of buttons.entries()) {
      holder.innerHTML = await files[at]!.text();
      const frame = holder.firstElementChild!.getBoundingClientRect();
      const texts = [...holder.querySelectorAll("text")].map((element): Text => {
        const box = element.getBoundingClientRect();
        const [left, right] = [box.left - frame.left, box.right - frame.left];
        const [top, bottom] = [box.top - frame.top + around, box.bottom - frame.top - around];
        return { text: element.textContent!.trim(), left, right, top, bottom };
      });
      const title = ariaLabel!.slice("Save ".length, -" as SVG".length);
      drawings.push([title, { width: frame.width, height: frame.height, texts: texts.filter(({ text }) => text !== "") }]);
    }
    holder.remove();
    return Object.fromEntries(drawings);
  });
}

/** Pixels by which the box of a text is larger than its letters: a line of a font is taller than they are. */
const SLACK = { across: 1, down: 2 };

/** What is wrong with the texts of the charts of a page: those that cover another, and those that leave their chart. */
export async function textFaults(page: Page): Promise<string[]> {
  return Object.entries(await textsOf(page)).flatMap(([title, { width, height, texts }]) => {
    if (texts.length === 0) return [`${title}: no text`];
    return texts.flatMap((one, index) => {
      const over = Math.max(-one.left, one.right - width) - SLACK.across;
      const beyond = Math.max(-one.top, one.bottom - height) - SLACK.down;
      const covered = texts.slice(index + 1).filter((other) => {
        const across = Math.min(one.right, other.right) - Math.max(one.left, other.left);
        const down = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
        return across > SLACK.across && down > SLACK.down;
      });
      const faults = covered.map(({ text }) => `${title}: "${one.text}" covers "${text}"`);
      return over > 0 || beyond > 0 ? [...faults, `${title}: "${one.text}" leaves the chart`] : faults;
    });
  });
}

/** Whatever is wider than the window, if only as a part of the page. */
export async function clipped(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const { document, innerWidth } = window;
    const wide = document.documentElement.scrollWidth;
    const beyond = [...document.querySelectorAll("main *")].filter((element) => {
      // What scrolls in its own box, or is only read out, may be wider than the page.
      if (element.closest("[role=region] > *, .unseen, svg, [role=img] > *")) return false;
      const { left, right, width } = element.getBoundingClientRect();
      return width > 0 && (left < -0.5 || right > innerWidth + 0.5);
    });
    const told = beyond.map(({ tagName, className }) => `${tagName} ${String(className)} is clipped`);
    return wide > innerWidth ? [`the page is ${wide} pixels wide`, ...told] : told;
  });
}

/** What stands in the way of people. */
export async function violations(page: Page): Promise<string[]> {
  // A page without frames is done in one piece, which is four times as fast.
  const rules = { "label-content-name-mismatch": { enabled: true } };
  const axe = new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ["violations"], rules });
  return (await axe.analyze()).violations.map(({ id, nodes }) => `${id} at ${nodes.map(({ target }) => target.join(" ")).join(", ")}`);
}
