/** `likenew serve` with a data home of its own. */

import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { mkdtempSync, mkdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { Page } from "@playwright/test";

import { expect, test as base } from "../e2e/fixtures";

export class Server {
  private constructor(
    readonly url: string,
    /** A folder to measure. */
    readonly folder: string,
    /** What programs beside it have in their environment, so that they share its runs. */
    readonly env: NodeJS.ProcessEnv,
    private readonly root: string,
    private readonly child: ChildProcess,
  ) {}

  /** `before` are words in front of the program, such as of one that changes what it sees. */
  static async start(before: (root: string) => string[] = () => []): Promise<Server> {
    const program = process.env["LIKENEW"];
    if (!program) throw new Error("set LIKENEW to the likenew program that is to be tested");
    const root = mkdtempSync(join(tmpdir(), "likenew-page-"));
    const folder = join(root, "folder");
    const session = join(root, "session");
    [folder, session].forEach((path) => mkdirSync(path, { mode: 0o700 }));
    const env = {
      ...process.env,
      XDG_DATA_HOME: join(root, "data"),
      XDG_RUNTIME_DIR: session,
      LIKENEW_LOCK_DIR: join(root, "locks"),
    };
    const [first = program, ...words] = [...before(root), program, "serve", "--listen", "127.0.0.1:0"];
    const child = spawn(first, words, { env, stdio: ["ignore", "pipe", "inherit"] });
    const url = await new Promise<string>((resolve, reject) => {
      let text = "";
      child.stdout.on("data", (chunk: Buffer) => {
        text += chunk.toString();
        const found = /Open (\S+)/.exec(text)?.[1];
        if (found) resolve(found);
      });
      child.on("exit", (code) => reject(new Error(`likenew serve ended with code ${code}: ${text}`)));
    });
    return new Server(url, folder, env, root, child);
  }

  /** Starts a run, as the page does, and waits for its end. */
  async measure(command: string, target: string): Promise<void> {
    const { origin, hash } = new URL(this.url);
    const headers = { authorization: `Bearer ${hash.slice(1)}`, "content-type": "application/json" };
    const post = async (path: string, body: unknown): Promise<{ id: number }> =>
      (await (await fetch(origin + path, { method: "POST", headers, body: JSON.stringify(body) })).json()) as { id: number };
    const estimate = await post("/api/estimate", { command, target });
    const { id } = await post("/api/jobs", { estimate: estimate.id });
    // The events end with the run.
    await (await fetch(`${origin}/api/jobs/${id}/events`, { headers })).text();
  }

  /** Runs likenew as a terminal does, and waits for its end. */
  async terminal(...words: string[]): Promise<void> {
    const child = spawn(process.env["LIKENEW"] ?? "", words, { env: this.env, stdio: "ignore" });
    await new Promise((resolve) => child.on("exit", resolve));
  }

  /** The address of a view. */
  at(place: string): string {
    return new URL(place, this.url).href;
  }

  /** Leaves without a word. */
  async kill(): Promise<void> {
    await this.end("SIGKILL");
  }

  async stop(): Promise<void> {
    await this.end("SIGINT");
  }

  private async end(signal: NodeJS.Signals): Promise<void> {
    const ended = new Promise((resolve) => this.child.on("exit", resolve));
    this.child.kill(signal);
    await ended;
    rmSync(this.root, { recursive: true, force: true });
  }
}

/** Agrees to what a run costs, which is said before that can be done. */
export async function startsAtItsCost(page: Page): Promise<void> {
  await expect(page.getByRole("status", { name: "What it costs" })).toContainText(/takes .+\./);
  await page.getByRole("button", { name: "Start" }).click();
}

/** Each worker has a server with one run, of a drive that is slow. */
export const test = base.extend<object, { server: Server }>({
  server: [
    // Playwright finds out by its braces that the fixture needs no other.
    async ({}, use) => {
      const server = await Server.start();
      await server.measure("check", "sim:tiny-flash?state=used");
      await use(server);
      await server.stop();
    },
    { scope: "worker" },
  ],
});
