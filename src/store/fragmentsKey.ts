/** The key of the value under which an engine keeps the fragments of a chat, when it is told to. */
export function fragmentsKey(chatId: string): string {
  return `contextree:fragments:${chatId}`;
}
