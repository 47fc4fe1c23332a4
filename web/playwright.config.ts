import { existsSync } from "node:fs";

import { defineConfig } from "@playwright/test";
import type { Project } from "@playwright/test";

/** Installed browsers; the tests never download one. */
const executablePath = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
const FIREFOX = process.env["FIREFOX"] ?? "/usr/bin/firefox-esr";

/** Journeys in Firefox, which takes its theme when it starts. */
const inFirefox = (theme: "light" | "dark", grep: RegExp): Project => ({
  name: `firefox ${theme}`,
  grep,
  use: {
    browserName: "firefox",
    channel: "moz-firefox",
    launchOptions: {
      executablePath: FIREFOX,
      firefoxUserPrefs: { "layout.css.prefers-color-scheme.content-override": theme === "dark" ? 0 : 1 },
    },
  },
});
const hasFirefox = existsSync(FIREFOX);
if (!hasFirefox && !process.env["TEST_WORKER_INDEX"]) console.log(`${FIREFOX} is missing: no journey goes through Firefox`);
const ofFirefox = (...projects: Project[]): Project[] => (hasFirefox ? projects : []);

export const servedInFirefox = ofFirefox(inFirefox("light", /@journey/));

export default defineConfig<object, { family: string }>({
  testDir: "e2e",
  globalSetup: "./e2e/build.ts",
  outputDir: "test-results",
  snapshotPathTemplate: "{testDir}/pictures/{arg}{ext}",
  fullyParallel: true,
  workers: "100%",
  timeout: 120_000,
  reporter: "list",
  use: {
    // Nothing depends on the reader's language or time.
    locale: "de-DE",
    timezoneId: "Pacific/Chatham",
    launchOptions: { executablePath, args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"] },
  },
  projects: [
    { name: "page", testIgnore: "speed.spec.ts" },
    { name: "wide font", grep: /@fonts/, use: { family: "DejaVu Sans" } },
    ...ofFirefox(inFirefox("light", /light @journey/), inFirefox("dark", /dark @journey/)),
    { name: "narrow font", grep: /@fonts/, use: { family: "Roboto Condensed" } },
    // Measures time, so that it waits for all others; a busy machine is given more than one try.
    { name: "speed", testMatch: "speed.spec.ts", fullyParallel: false, retries: 2, dependencies: ["page", "wide font", "narrow font"] },
  ],
});
