/** Whether the page is dark: as the reader chose, or like the system, but never when printed. */

import { flushSync } from "svelte";

import type { THEMES } from "./wording";

export type ThemeName = keyof typeof THEMES;

/** Where the choice is kept; the head of `index.html` reads it before anything is drawn. */
const KEPT = "likenew-theme";

const dark = window.matchMedia("(prefers-color-scheme: dark)");
const print = window.matchMedia("print");
const { dataset } = window.document.documentElement;

class Theme {
  #choice = $state<ThemeName>("system");
  #systemIsDark = $state(dark.matches);
  /** Whether the page is laid out for paper, where nothing can be unfolded. */
  paper = $state(print.matches);
  dark = $derived(!this.paper && (this.#choice === "system" ? this.#systemIsDark : this.#choice === "dark"));

  constructor() {
    const { theme } = dataset;
    this.#choice = theme === "light" || theme === "dark" ? theme : "system";
    const lay = (paper: boolean) => (this.paper = paper);
    // Paper takes what is on the page when the event ends.
    window.addEventListener("beforeprint", () => flushSync(() => lay(true)));
    window.addEventListener("afterprint", () => lay(print.matches));
    print.addEventListener("change", () => lay(print.matches));
    dark.addEventListener("change", () => (this.#systemIsDark = dark.matches));
  }

  get choice(): ThemeName {
    return this.#choice;
  }

  set choice(name: ThemeName) {
    this.#choice = name;
    dataset["theme"] = name;
    try {
      window.localStorage.setItem(KEPT, name);
    } catch {
      // Without storage, the choice lasts as long as the page.
    }
  }
}

export const theme = new Theme();
