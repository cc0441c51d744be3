/** Calls a function now, and whenever an element is resized, until the result is called. */
export function watchSize(element: HTMLElement | null, look: () => void): (() => void) | undefined {
  look();
  if (!element || typeof ResizeObserver === 'undefined') return undefined;
  const observer = new ResizeObserver(look);
  observer.observe(element);
  return () => observer.disconnect();
}
