import { useChatNotices } from './useChatNotices.ts';
import { useDeletedElsewhere } from './useDeletedElsewhere.ts';
import type { Standing } from './useStanding.ts';

/** What other tabs do to this chat, told in notices. Loaded when the page is idle: nothing of it is on the first screen. */
export function ChatNotices({ standing }: { readonly standing: Standing }): null {
  useChatNotices(standing);
  useDeletedElsewhere();
  return null;
}
