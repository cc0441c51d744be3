/** The key of the value under which an engine keeps the fragments of a chat, when it is told to. */
export function fragmentsKey(chatId: string): string {
  return `contextree:fragments:${chatId}`;
}

/** The key of the value that tells where the answers of a chat went on that were let go on. */
export function goingOnKey(chatId: string): string {
  return `contextree:going-on:${chatId}`;
}
