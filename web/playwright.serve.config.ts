import base from "./playwright.config";

/** The served page, by the program that LIKENEW names. */
export default { ...base, testDir: "e2e-serve", timeout: 120_000 };
