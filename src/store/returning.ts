/**
 * Calls back when a person comes back to the page: to its tab, to its window, or to it in the history, where it was frozen
 * meanwhile. Returns how to stop listening. Where there is no page, nothing is ever heard.
 */
export function onReturning(hear: () => void): () => void {
  if (typeof document === 'undefined') return () => {};
  const look = (event: Event): void => {
    // A page that is shown for the first time has not been away.
    const isFirst = event.type === 'pageshow' && !(event as PageTransitionEvent).persisted;
    if (!isFirst && document.visibilityState === 'visible') hear();
  };
  const events = ['visibilitychange', 'focus', 'pageshow'];
  for (const event of events) window.addEventListener(event, look);
  return () => {
    for (const event of events) window.removeEventListener(event, look);
  };
}
