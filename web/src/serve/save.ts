/** Saves a view as one HTML file that needs no server: the page itself, with what it shows in place of the server. */

import type { Labeled } from "../Document";
import { fileName, saveText } from "../save";
import { driveHistory } from "./api";
import type { DriveSummary, SavedHistory } from "./api";

/** The block by which the page knows that it has a server. */
const SERVED = /<script type="application\/json" id="likenew-server">true<\/script>/;

async function savePage(id: string, data: unknown, title: string): Promise<void> {
  const page = await (await fetch(window.location.pathname)).text();
  // Without any <, nothing inside can end the block.
  const json = JSON.stringify(data).replaceAll("<", "\\u003c");
  const block = `<script type="application/json" id="${id}">${json}</script>`;
  saveText(fileName(title, "html"), page.replace(SERVED, () => block), "text/html");
}

export const saveDocuments = (documents: Labeled[], title: string): Promise<void> =>
  savePage("likenew-documents", documents, title);

/** Drives with all of their checks. */
export async function saveHistory(drives: DriveSummary[], title: string): Promise<void> {
  const checked = drives.filter(({ check_count }) => check_count > 0);
  const each = await Promise.all(checked.map(async ({ key }) => [key, await driveHistory(key)] as const));
  const data: SavedHistory = { history: { drives: checked, damaged: [] }, drives: Object.fromEntries(each) };
  await savePage("likenew-history", data, title);
}
