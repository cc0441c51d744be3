import type { UIMessage } from 'ai';
import { useEffect, useRef } from 'react';
import { useAnnounce } from '../shell/Announcer.tsx';
import { saysSomething } from './Parts.tsx';

/** Announces an answer once, when it is complete: word by word it would be noise. */
export function useReadAtEnd(writing: UIMessage | undefined, shown: readonly UIMessage[]): void {
  const announce = useAnnounce();
  const reading = useRef<string>(undefined);
  const id = writing?.id;
  const last = shown.at(-1);
  useEffect(() => {
    if (id !== undefined) {
      reading.current = id;
      return;
    }
    if (last !== undefined && last.id === reading.current && saysSomething(last))
      announce(renderedText(last.id));
    reading.current = undefined;
  }, [id, last, announce]);
}

/** What stands on the page, without the marks of its Markdown. One block does not run into the next. */
function renderedText(messageId: string): string {
  const body = document.querySelector<HTMLElement>(`[data-message="${CSS.escape(messageId)}"] .message-body`);
  return `Assistant: ${body?.innerText.replaceAll(/\s+/g, ' ') ?? ''}`;
}
