import { svelte } from "@sveltejs/vite-plugin-svelte";
import { viteSingleFile } from "vite-plugin-singlefile";
import { defineConfig } from "vitest/config";

// A single file without references, because it is opened from disk, offline.
export default defineConfig({
  plugins: [svelte({ configFile: false }), viteSingleFile({ removeViteModuleLoader: true })],
  build: { chunkSizeWarningLimit: 1500, license: { fileName: "licenses.md" } },
  // The tests share no state, so they need no process of their own.
  test: { include: ["test/**/*.test.ts"], pool: "threads", isolate: false },
});
