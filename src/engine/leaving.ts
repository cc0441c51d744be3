/**
 * Calls back when the page may be about to go: it is left, reloaded or closed, or the person turns to another tab or
 * app, which on a phone is the last that many a page ever hears. Returns how to stop listening. Where there is no page,
 * nothing is ever heard.
 */
export function onLeaving(hear: () => void): () => void {
  if (typeof window === 'undefined') return () => {};
  const events = ['pagehide', 'visibilitychange'];
  for (const event of events) window.addEventListener(event, hear);
  return () => {
    for (const event of events) window.removeEventListener(event, hear);
  };
}
