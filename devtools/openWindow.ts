/** An opened window, and how to close it. */
export interface Opened {
  readonly window: Window;
  readonly close: () => void;
}

/**
 * Opens a window: Document Picture-in-Picture, which stays in front, where the browser has it, else a popup. Rejects where it is
 * refused. `gone` is called after it was closed.
 */
export async function openWindow(gone: () => void): Promise<Opened> {
  const own = await request();
  if (!own) throw new Error('The browser blocked the window. Allow pop-ups for this site, then try again.');
  const { document } = own;
  document.title = 'contextree devtools';
  document.body.style.margin = '0';
  const close = (): void => {
    own.removeEventListener('pagehide', gone);
    window.removeEventListener('pagehide', close);
    own.close();
  };
  own.addEventListener('pagehide', gone);
  window.addEventListener('pagehide', close);
  return { window: own, close };
}

const SIZE = { width: 640, height: 720 };

async function request(): Promise<Window | null> {
  const { documentPictureInPicture } = window as {
    readonly documentPictureInPicture?: { requestWindow(size: typeof SIZE): Promise<Window> };
  };
  if (documentPictureInPicture) return documentPictureInPicture.requestWindow(SIZE);
  return window.open('', 'contextree-devtools', `popup,width=${SIZE.width},height=${SIZE.height}`);
}
