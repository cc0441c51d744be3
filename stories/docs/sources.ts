const files = import.meta.glob<string>(['../../test/apps/*App.tsx', './pagers/*.tsx'], {
  query: '?raw',
  import: 'default',
  eager: true,
});

/** A file as it stands, so that what is shown is what runs. */
export function sourceOf(path: string): string {
  const text = files[path];
  if (text === undefined) throw new Error(`No file ${path} is shown in these pages.`);
  return text.trimEnd();
}
