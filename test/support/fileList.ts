/** Files as a file input holds them, and a function that empties the input. */
export interface PickedFiles {
  readonly list: FileList;
  readonly empty: () => void;
}

/** In happy-dom a file list is an array, which the AI SDK would take for parts of a message: a stand-in is used there. */
export function picked(...files: readonly File[]): PickedFiles {
  const { items, files: list } = transferOf(files);
  if (!Array.isArray(list)) return { list, empty: () => items.clear() };
  const own: PropertyDescriptorMap = Object.getOwnPropertyDescriptors<object>([...files]);
  const standIn = Object.create(FileList.prototype, {
    ...own,
    [Symbol.iterator]: { value: Array.prototype[Symbol.iterator] },
  }) as FileList & { length: number };
  return { list: standIn, empty: () => (standIn.length = 0) };
}

function transferOf(files: readonly File[]): DataTransfer {
  const transfer = new DataTransfer();
  for (const file of files) transfer.items.add(file);
  return transfer;
}
