/** Downloads a text as a file. The window is the one with the pressed button: browsers allow a download only there. */
export function download({ document }: Window, what: string, text: string, ending = 'json'): void {
  const url = URL.createObjectURL(new Blob([text]));
  const link = document.createElement('a');
  link.href = url;
  const now = new Date().toISOString().slice(0, 16).replace(':', '');
  link.download = `contextree-${what}-${now}.${ending}`;
  link.click();
  // Some browsers begin to read the URL a while later.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
