/** A short message that goes away by itself. */
export class Message {
  text = $state("");
  #timer = 0;

  show(text: string): void {
    window.clearTimeout(this.#timer);
    this.text = text;
    this.#timer = window.setTimeout(() => (this.text = ""), 2000);
  }
}
