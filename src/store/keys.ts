/** The key of the value under which an engine keeps the fragments of a chat, when it is told to. */
export function fragmentsKey(chatId: string): string {
  return `contextree:fragments:${chatId}`;
}

/** The key of the value that tells where the answers of a chat went on that were let go on. */
export function goingOnKey(chatId: string): string {
  return `contextree:going-on:${chatId}`;
}

/** The key of the value that has the questions of a chat which wait for their turn. */
export function queuedKey(chatId: string): string {
  return `contextree:queued:${chatId}`;
}

/** The keys of all values that go with a chat. */
export function keysOf(chatId: string): string[] {
  return [fragmentsKey, goingOnKey, queuedKey].map((keyOf) => keyOf(chatId));
}
