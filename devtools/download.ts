/** Gives a text to the person as a file. The window is the one that shows the button: only there a click may do that. */
export function download({ document }: Window, name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // Some browsers begin to read it a while later.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
