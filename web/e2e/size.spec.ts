import { statSync } from "node:fs";

import { labeled } from "../test/documents";
import { BUNDLE } from "./build";
import { expect, pageWith, test } from "./fixtures";

test("the page and a report of a check are small files", { tag: "@journey" }, () => {
  expect(statSync(BUNDLE).size).toBeLessThanOrEqual(900 * 1024);
  const path = test.info().outputPath("report.html");
  pageWith([labeled("check", "check-slow")], path);
  expect(statSync(path).size).toBeLessThanOrEqual(1024 * 1024);
});
