/**
 * Calls back when the page may be about to go: the person leaves, reloads or closes it, or turns to another tab or app, which
 * on a phone is often the last event that a page gets. Returns a function that stops listening. Outside of a page it never
 * calls back.
 */
export function onLeaving(hear: () => void): () => void {
  if (typeof window === 'undefined') return () => {};
  const events = ['pagehide', 'visibilitychange'];
  for (const event of events) window.addEventListener(event, hear);
  return () => {
    for (const event of events) window.removeEventListener(event, hear);
  };
}
