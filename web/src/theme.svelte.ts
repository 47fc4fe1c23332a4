/** Whether the page is dark now: as the reader's system says, but never on paper. */

const dark = window.matchMedia("(prefers-color-scheme: dark)");
const print = window.matchMedia("print");

class Theme {
  dark = $state(false);

  constructor() {
    const update = () => {
      this.dark = dark.matches && !print.matches;
    };
    dark.addEventListener("change", update);
    print.addEventListener("change", update);
    update();
  }
}

export const theme = new Theme();
