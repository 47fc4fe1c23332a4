import { defineConfig } from "@playwright/test";

/** An installed browser; the tests never download one. */
const executablePath = process.env["CHROMIUM"] ?? "/usr/bin/chromium";

export default defineConfig({
  testDir: "e2e",
  outputDir: "test-results",
  workers: 1,
  timeout: 30_000,
  reporter: "list",
  use: {
    launchOptions: { executablePath, args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"] },
  },
});
