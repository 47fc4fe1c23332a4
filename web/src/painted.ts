/** Resolves when the next frame is painted. A page that is not on the screen has none. */
export function painted(): Promise<void> {
  return new Promise((resolve) => {
    if (window.document.hidden) resolve();
    else requestAnimationFrame(() => window.setTimeout(resolve));
  });
}
