import { defineConfig } from "@playwright/test";

/** An installed browser; the tests never download one. */
const executablePath = process.env["CHROMIUM"] ?? "/usr/bin/chromium";

export default defineConfig<object, { family: string }>({
  testDir: "e2e",
  globalSetup: "./e2e/build.ts",
  outputDir: "test-results",
  fullyParallel: true,
  workers: "100%",
  timeout: 30_000,
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
    { name: "narrow font", grep: /@fonts/, use: { family: "Roboto Condensed" } },
    // Measures time, so that it waits for all others; a busy machine is given more than one try.
    { name: "speed", testMatch: "speed.spec.ts", fullyParallel: false, retries: 2, dependencies: ["page", "wide font", "narrow font"] },
  ],
});
