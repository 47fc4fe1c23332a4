/** Whether the page is dark: like the reader's system, but never when printed. */

const dark = window.matchMedia("(prefers-color-scheme: dark)");
const print = window.matchMedia("print");

class Theme {
  dark = $state(false);
  /** Whether the page is laid out for paper, where nothing can be unfolded. */
  paper = $state(false);

  constructor() {
    const update = () => {
      this.paper = print.matches;
      this.dark = dark.matches && !print.matches;
    };
    dark.addEventListener("change", update);
    print.addEventListener("change", update);
    update();
  }
}

export const theme = new Theme();
