import { readFileSync, readdirSync } from "node:fs";

import { expect, test } from "vitest";

test("every picture of the documentation is drawn by `npm run pictures`", () => {
  const specs = ["e2e/page.spec.ts", "e2e-serve/serve.spec.ts"].map((path) => readFileSync(path, "utf8"));
  const drawing = specs.flatMap((text) => text.split(/^test\(/m)).filter((body) => body.includes('{ tag: "@picture" }'));
  for (const name of readdirSync("../docs/images"))
    expect(drawing.filter((body) => body.includes(`"../docs/images/${name}"`)), name).toHaveLength(1);
});
