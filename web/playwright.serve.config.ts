import base, { servedInFirefox } from "./playwright.config";

/** The served page, which is built into the program that LIKENEW names, and waits for what that measures. */
export default {
  ...base,
  testDir: "e2e-serve",
  globalSetup: [],
  projects: [{ name: "served" }, ...servedInFirefox],
  timeout: 120_000,
  expect: { timeout: 100_000 },
};
