/** Downloads a text as a file. The window is the one with the pressed button: browsers allow a download only there. */
export function download({ document }: Window, name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // Some browsers begin to read the URL a while later.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
