import type { Labeled } from "../src/Document";
import { labeled } from "../test/documents";
import { packed, queue } from "../test/packed";
import { cardOf, expect, inked, saved, test, textsOf } from "./fixtures";

const SCATTER = "Latency of each I/O";
const DISTRIBUTION = "Distribution of latencies";

/** A benchmark of which every I/O is known. */
const recorded = (label: string, count = 50_000, keptOf = 1): Labeled => ({
  ...labeled(label, "bench-new"),
  samples: packed(queue(count), keptOf),
});

test("every I/O is drawn over time and by latency, after the chart of the answer", async ({ page, open }) => {
  await open([recorded("one")]);
  await expect.poll(() => inked(cardOf(page, SCATTER))).toBeGreaterThan(0.05);
  await expect.poll(() => inked(cardOf(page, DISTRIBUTION))).toBeGreaterThan(0.01);
  const tops = await Promise.all(
    ["Speed of each test", SCATTER, DISTRIBUTION].map(async (title) => (await cardOf(page, title).boundingBox())!.y),
  );
  expect(tops).toEqual(tops.toSorted((one, other) => one - other));
  await expect(cardOf(page, SCATTER).getByRole("img")).toHaveAccessibleDescription(
    /^[23]\d,\d{3} reads: p50 8\d µs, p99 \d+ µs, slowest [\d.]+ ms at [\d.]+ m?s\. [12]\d,\d{3} writes: p50 2\d µs/,
  );
  await expect(cardOf(page, DISTRIBUTION).getByRole("img")).toHaveAccessibleDescription(
    /^read: p50 8\d µs, p99 \d+ µs, p99\.9 [\d.]+ \S+, p99\.99 [\d.]+ ms, max [\d.]+ ms\. write: p50 2\d µs/,
  );
  await expect(cardOf(page, SCATTER).getByRole("button", { name: "Log" })).toHaveAttribute("aria-pressed", "true");
  await expect(page.getByText("All of the slowest 1%")).toHaveCount(0);
});

test("keys, wheel and strip zoom until single I/Os stand apart", async ({ page, open }) => {
  await open([recorded("one")]);
  const card = cardOf(page, SCATTER);
  const all = card.getByRole("button", { name: "Show all" });
  await card.getByRole("img").focus();
  for (let press = 0; press < 10; press++) await page.keyboard.press("+");
  await expect(all).toBeVisible();
  // The ticks of a thousandth of the time differ from each other.
  await expect
    .poll(async () => {
      const texts = (await textsOf(page))[SCATTER]!.texts.flatMap(({ text }) => /^[\d.]{5,} ms$/.exec(text) ?? []);
      return texts.length > 2 && new Set(texts).size === texts.length;
    })
    .toBe(true);
  await card.getByRole("img").focus();
  await page.keyboard.press("0");
  await expect(all).toHaveCount(0);
  const box = (await card.getByRole("img").boundingBox())!;
  await page.mouse.move(box.x + box.width / 2, box.y + 120);
  await page.keyboard.down("Control");
  await page.mouse.wheel(0, -300);
  await page.keyboard.up("Control");
  await expect(all).toBeVisible();
  await all.click();
  await expect(all).toHaveCount(0);
  const y = box.y + box.height - 13;
  await page.mouse.move(box.x + box.width * 0.4, y);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.6, y, { steps: 5 });
  await page.mouse.up();
  await expect(all).toBeVisible();
});

test("pointer and arrow keys say time and latency of an I/O", async ({ page, open }) => {
  await open([recorded("one")]);
  const picture = cardOf(page, SCATTER).getByRole("img");
  await picture.focus();
  await page.keyboard.press("ArrowRight");
  await expect(page.getByRole("status").getByText(/^read, time [\d.]+ (µs|ms): [\d.]+ µs$/)).toBeVisible();
  const { width, height } = (await picture.boundingBox())!;
  await expect
    .poll(async () => {
      for (let step = 0; step < 30; step++) {
        await picture.hover({ position: { x: width / 2, y: height - 100 - 5 * step } });
        if (await picture.getByText(/^time \d{3}\.\d\d ms (read|write) [\d.]+ (µs|ms)$/).isVisible()) return true;
      }
      return false;
    })
    .toBe(true);
});

test("the table has the slowest hundred I/Os, and the chart is saved", async ({ page, open }) => {
  await open([recorded("one")]);
  const card = cardOf(page, SCATTER);
  expect((await saved(page, `Save ${SCATTER} as PNG`)).name).toBe("latency-of-each-i-o.png");
  await card.getByRole("button", { name: "Table" }).click();
  await expect(card.getByText("The slowest 100 of 50,000 I/Os.")).toBeVisible();
  await expect(card.locator("tbody tr")).toHaveCount(100);
  const latencies = (await card.locator("tbody td:nth-child(3)").allTextContents()).map(
    (text) => Number.parseFloat(text) * (text.endsWith("ms") ? 1000 : 1),
  );
  expect(latencies).toEqual(latencies.toSorted((one, other) => other - one));
  await cardOf(page, DISTRIBUTION).getByRole("button", { name: "Table" }).click();
  await expect(cardOf(page, DISTRIBUTION).locator("tbody tr")).toHaveCount(6);
});

test("I/Os that were left out are told, and damaged ones do not break the page", async ({ page, open }) => {
  await open([recorded("one", 5000, 12)]);
  await expect(cardOf(page, SCATTER).getByText(/^All of the slowest 1% .* one in 12 of the others\./)).toBeVisible();
  const broken = recorded("one", 5000);
  broken.samples!.data = broken.samples!.data.slice(0, 400);
  await open([broken]);
  await expect(page.getByText("The recorded I/Os cannot be shown: their data is damaged.")).toBeVisible();
  await expect(cardOf(page, "Speed of each test").getByRole("img")).toBeVisible();
  await expect(cardOf(page, SCATTER)).toHaveCount(0);
  await open([{ ...labeled("one", "bench-new"), samples: packed({ read: [], write: [] }) }]);
  await expect(page.getByText("This run recorded no I/Os.")).toBeVisible();
  await open([{ ...labeled("one", "bench-new"), samples: packed({ read: [{ start: 0, latency: 81e3 }] }) }]);
  await expect(page.getByText("1 read: p50 81 µs, slowest 81 µs at 0 ns.")).toBeVisible();
});

test("two runs stand side by side, and zoom together", async ({ page, open }) => {
  await page.setViewportSize({ width: 1600, height: 900 });
  await open([recorded("new"), recorded("used", 20_000)]);
  const [one, two] = [cardOf(page, `${SCATTER} · new`), cardOf(page, `${SCATTER} · used`)];
  await expect.poll(() => inked(two)).toBeGreaterThan(0.01);
  expect((await one.boundingBox())!.y).toBe((await two.boundingBox())!.y);
  await one.getByRole("button", { name: "Zoom in" }).click();
  await expect(two.getByRole("button", { name: "Show all" })).toBeVisible();
  await expect(cardOf(page, DISTRIBUTION)).toHaveCount(1);
  await expect(page.getByText("new: read: p50")).toBeVisible();
});
