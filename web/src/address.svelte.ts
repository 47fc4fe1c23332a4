/** The part of the page that its address names now, and how the page goes there. */

import { partOf, toPart } from "./address";

class Address {
  hash = $state.raw(window.location.hash);
  /** Counts up when the same part is asked for again. */
  visits = $state(0);

  constructor() {
    window.addEventListener("hashchange", () => this.read());
  }

  get part(): string {
    void this.visits;
    return partOf(this.hash);
  }

  to(id: string): string {
    return toPart(this.hash, id);
  }

  read(): void {
    this.hash = window.location.hash;
    this.visits += 1;
  }
}

export const address = new Address();

/** Brings an element into view, and to who uses a keyboard, whenever the address names it. */
export const named = (id: string) => (element: HTMLElement) => {
  if (address.part !== id) return;
  element.tabIndex = -1;
  element.scrollIntoView();
  element.focus({ preventScroll: true });
};
