/**
 * Keeps the focus inside an element: when the focused element is removed or disabled, the nearest focusable one beside it takes
 * the focus. A person with a keyboard then goes on from there, and not from the top of the page. Of several that are as near, it
 * is the one that had the focus before: the button that opened a field. Call the result to stop.
 */
export function keepFocus(place: HTMLElement | null): (() => void) | undefined {
  if (!place) return undefined;
  const kept = new AbortController();
  const { signal } = kept;
  /** The element with the last focus, and its ancestors, from the inside out; empty after the person left. */
  let path: readonly Element[] = [];
  /** The element that had the focus before that. */
  let before: Element | undefined;
  const note = (event: FocusEvent): void => {
    const all = event.composedPath() as Element[];
    [before] = path;
    path = all.slice(0, all.indexOf(place));
  };
  const leave = (): void => {
    const [last] = path;
    // A removed element may report the loss of focus before it is gone.
    setTimeout(() => {
      if (last && last === path[0] && !isGone(last) && !last.matches(':focus')) path = [];
    });
  };
  const look = (): void => {
    const [last] = path;
    if (!last || !isGone(last)) return;
    const { activeElement } = place.getRootNode() as Document | ShadowRoot;
    const isLost = activeElement === null || activeElement === last || activeElement.matches('body');
    if (isLost) nextTo(path, place, before)?.focus();
  };
  const observer = new MutationObserver(look);
  observer.observe(place, { childList: true, subtree: true, attributeFilter: ['disabled'] });
  place.addEventListener('focusin', note, { signal });
  place.addEventListener('focusout', leave, { signal });
  return () => {
    kept.abort();
    observer.disconnect();
  };
}

function isGone(element: Element): boolean {
  return !element.isConnected || element.matches(':disabled');
}

function nextTo(path: readonly Element[], place: Element, before?: Element): HTMLElement | undefined {
  for (const element of [...path, place]) {
    const inside = place.contains(element) ? [...element.querySelectorAll<HTMLElement>(FOCUSABLE)] : [];
    const next = inside.find((one) => one === before) ?? inside[0];
    if (next) return next;
  }
  return undefined;
}

const FOCUSABLE = ':is(button, input, select, textarea, [tabindex="0"]):not(:disabled, [tabindex="-1"])';
