/** Whether the page is dark: like the reader's system, but never when printed. */

import { flushSync } from "svelte";

const dark = window.matchMedia("(prefers-color-scheme: dark)");
const print = window.matchMedia("print");

class Theme {
  dark = $state(false);
  /** Whether the page is laid out for paper, where nothing can be unfolded. */
  paper = $state(false);

  constructor() {
    const lay = (paper: boolean) => {
      this.paper = paper;
      this.dark = dark.matches && !paper;
    };
    // Paper takes what is on the page when the event ends.
    window.addEventListener("beforeprint", () => flushSync(() => lay(true)));
    window.addEventListener("afterprint", () => lay(print.matches));
    for (const query of [dark, print]) query.addEventListener("change", () => lay(print.matches));
    lay(print.matches);
  }
}

export const theme = new Theme();
