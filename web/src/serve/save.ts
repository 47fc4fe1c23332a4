/** Saves a view as one HTML file that needs no server: the page itself, with what it shows in place of the server. */

import type { Labeled } from "../Document";
import { fileName, saveText } from "../save";
import { heard } from "./file";
import type { SavedView } from "./file";
import { session } from "./session.svelte";

/** The block by which the page knows that it has a server. */
const SERVED = /<script type="application\/json" id="likenew-server">true<\/script>/;

async function savePage(id: string, data: unknown): Promise<void> {
  const page = await (await fetch(window.location.pathname)).text();
  // Without any <, nothing inside can end the block.
  const json = JSON.stringify(data).replaceAll("<", "\\u003c");
  const block = `<script type="application/json" id="${id}">${json}</script>`;
  saveText(fileName(session.title, "html"), page.replace(SERVED, () => block), "text/html");
}

export const saveDocuments = (documents: Labeled[]): Promise<void> => savePage("likenew-documents", documents);

/** The view that is shown, with what the server has answered it. */
export async function saveView(more: Partial<SavedView> = {}): Promise<void> {
  const known = heard();
  const answers = { ...known.answers, "/api/now": { running: session.running, change: "" } };
  const view: SavedView = {
    place: window.location.hash,
    saved_at: new Date().toISOString(),
    ...known,
    answers,
    ...more,
  };
  await savePage("likenew-view", view);
}
