// The examples' own text, so that what is shown is what is called.
const files = import.meta.glob<string>('./examples.ts', { query: '?raw', import: 'default', eager: true });
const source = Object.values(files).join('');

/** An example as it stands in the file. */
export function codeOf(name: string): string {
  const start = source.indexOf(`\n  ${name}: () =>`);
  const call = source.slice(source.indexOf('=>', start) + 2);
  const end = call.search(/,\n {2}(?=\w+: \(\) =>)|,\n\} satisfies/);
  return call
    .slice(0, end)
    .trim()
    .replaceAll(/\n {4}/g, '\n');
}
