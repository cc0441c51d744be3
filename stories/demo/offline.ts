/**
 * Lets the app open with the network off, after one visit: `public/sw.js` keeps its files, and gives them when no
 * network does. A browser that refuses (a private window, an address without TLS) runs the app as it always did.
 *
 * Some seconds later than the page: to read all files would take the processor from what the first visit opens with.
 */
export function keepForOffline(): void {
  setTimeout(() => void keepAll().catch(() => {}), 4000);
}

async function keepAll(): Promise<void> {
  // Absent where the page is not a secure context, whatever the types say.
  const workers: ServiceWorkerContainer | undefined = navigator.serviceWorker;
  if (workers === undefined) return;
  await workers.register('./sw.js', { updateViaCache: 'none' });
  const { active } = await workers.ready;
  active?.postMessage('keep all', []);
}
