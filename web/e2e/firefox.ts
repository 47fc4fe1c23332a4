/** Debian's Firefox lacks the one command by which Playwright sets a color scheme, and says so in place of starting: its project sets a preference. */

import { createRequire } from "node:module";

const { ws } = createRequire(import.meta.url)("playwright-core/lib/utilsBundle") as { ws: typeof WebSocket };

interface Socket {
  emit: (event: string, data: Buffer, binary: boolean) => void;
}

const { send } = ws.prototype;
ws.prototype.send = function (this: WebSocket & Socket, data: string, ...rest: []) {
  const { id, method } = JSON.parse(data) as { id: number; method: string };
  if (method !== "emulation.setMediaFeaturesOverride") return send.call(this, data, ...rest);
  setImmediate(() => this.emit("message", Buffer.from(JSON.stringify({ type: "success", id, result: {} })), false));
};
