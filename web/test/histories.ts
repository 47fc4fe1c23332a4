/** Drives over time for tests: made up, so that what they hold is known. */

import type { Change, Check, CheckMetric, DriveHistory, MetricHistory } from "../src/serve/answers";
import type { SavedView } from "../src/serve/file";

const UNITS: Record<string, string> = { random_read: "1/s", random_write: "1/s", random_read_qd32: "1/s" };

/** Its values in each check; none where another number of bytes was written. */
type Values = (number | null)[];

const REFERENCES: Record<string, [string, number]> = {
  sequential_read: ["advertised", 560e6],
  sustained_write: ["baseline", 450e6],
};

const startedAt = (at: number): string => `2026-0${Math.floor(at / 4) + 1}-${String((at % 4) * 7 + 3).padStart(2, "0")}T10:20:00.000Z`;
const runOf = (at: number): string => `${startedAt(at).replaceAll(":", "-")}-check-dev-sda`;

function change(at: number, ratio: number, ratio_low: number, ratio_high: number): Change {
  return { since: startedAt(at), ratio, ratio_low, ratio_high };
}

/** A drive with these values of each metric, checked every week of four months. */
export function drive(
  values: Record<string, Values>,
  changes: Record<string, Change[]> = {},
  news: DriveHistory["news"] = [{ standing: "unknown", sentence: "Checked once, so there is nothing to compare with yet." }],
): DriveHistory {
  const count = Object.values(values)[0]?.length ?? 0;
  const baselineOf = (metric: string): number => values[metric]?.find((value) => value !== null) ?? 1;
  const checkOf = (at: number): Check => {
    const metrics = Object.entries(values).map(([metric, all]): CheckMetric => {
      const value = all[at] ?? null;
      const per_s = value ?? baselineOf(metric) / 3;
      const [reference, reference_per_s] = REFERENCES[metric] ?? [null, null];
      return {
        metric,
        unit: UNITS[metric] ?? "bytes/s",
        per_s,
        low_per_s: per_s * 0.98,
        high_per_s: per_s * 1.02,
        reference,
        reference_per_s,
        percent_of_baseline: value === null ? null : (100 * value) / baselineOf(metric),
      };
    });
    const isSlow = Object.values(changes).some((all) => all.some(({ since, ratio }) => since <= startedAt(at) && ratio < 1));
    return {
      run: runOf(at),
      started_at: startedAt(at),
      standing: isSlow ? "problem" : "good",
      summary: isSlow
        ? "Writes are slow: sustained writes run at 180 MB/s, 40% of its baseline (450 MB/s)."
        : "As fast as its baseline: 540 MB/s read, 500 MB/s write.",
      metrics,
    };
  };
  const metrics = Object.entries(values).map(([metric, all]): MetricHistory => {
    const [baseline, now] = [baselineOf(metric), all.at(-1) ?? 0];
    return {
      metric,
      unit: UNITS[metric] ?? "bytes/s",
      baseline_per_s: baseline,
      now_per_s: now,
      percent_of_baseline: (100 * now) / baseline,
      percent_of_baseline_each: all.flatMap((value) => (value === null ? [] : [(100 * value) / baseline])),
      changes: changes[metric] ?? [],
    };
  });
  return {
    archive: ".",
    key: "0123456789abcdef0123456789abcdef",
    name: "Example 870 (/dev/sda)",
    title: `Example 870 (/dev/sda), 466 GiB: ${count} checks since 2026-01-03`,
    about: `466 GiB · ${count} checks since 2026-01-03`,
    news,
    access: "device",
    model: "Example 870",
    capacity_bytes: 500_107_862_016,
    target: "/dev/sda",
    first_at: startedAt(0),
    last_at: startedAt(count - 1),
    check_count: count,
    last_check: runOf(count - 1),
    last_check_at: startedAt(count - 1),
    standing: "good",
    summary: "As fast as new.",
    metrics,
    checks: Array.from({ length: count }, (_, at) => checkOf(at)),
  };
}

/** Values around a level, and from a check on around another one. */
function levels(count: number, level: number, from = count, after = 1): Values {
  return Array.from({ length: count }, (_, at) => level * (1 + 0.01 * ((at * 7) % 3)) * (at < from ? 1 : after));
}

/** A drive whose writes fell much and whose reads fell a little on one day, and whose random reads gained on another. */
export function fallen(): DriveHistory {
  const count = 16;
  const values = {
    sequential_read: levels(count, 540e6, 9, 0.86),
    sequential_write: levels(count, 500e6),
    sustained_write: levels(count, 450e6, 9, 0.4).map((value, at) => (at === 1 ? null : value)),
    random_read: levels(count, 9000, 5, 1.2),
    random_write: levels(count, 21_000),
    random_read_qd32: levels(count, 88_000),
  };
  const changes = {
    sequential_read: [change(9, 0.86, 0.83, 0.88)],
    sustained_write: [change(9, 0.4, 0.38, 0.42)],
    random_read: [change(5, 1.2, 1.17, 1.23)],
  };
  return drive(values, changes, [
    { standing: "problem", sentence: "Sustained writes are 60% slower (58–62%) since 2026-03-10." },
    { standing: "good", sentence: "4K random reads are 20% faster (17–23%) since 2026-02-10." },
    { standing: "problem", sentence: "Sequential reads are 14% slower (12–17%) since 2026-03-10." },
  ]);
}

/** The page of these drives, as likenew writes it. */
export function pageOf(drives: DriveHistory[]): SavedView {
  const answers = Object.fromEntries(drives.map((one) => [`/api/history/${one.key}`, one]));
  const place = drives.length === 1 ? `#/history/${drives[0]?.key}` : "#/history";
  return { place, answers: { ...answers, "/api/history?limit=500": { drives, count: drives.length, unknown_drives: [], damaged: [] } } };
}
