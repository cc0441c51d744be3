import type { ChatRow } from 'contextree';

/** Chats of one time, the last updated first. */
export interface Day {
  /** For example `Today` or `October 2026`. */
  readonly name: string;
  readonly chats: readonly ChatRow[];
}

/** A list of chats, the last updated first, by when something was last said in them. */
export function byDay(chats: readonly ChatRow[], now: number = Date.now()): readonly Day[] {
  const days: { name: string; chats: ChatRow[] }[] = [];
  for (const chat of chats) {
    const name = nameOf(chat.updatedAt, now);
    const last = days.at(-1);
    if (last?.name === name) last.chats.push(chat);
    else days.push({ name, chats: [chat] });
  }
  return days;
}

function nameOf(at: number, now: number): string {
  const days = Math.round((midnight(now) - midnight(at)) / DAY);
  if (days <= 0) return 'Today';
  if (days === 1) return 'Yesterday';
  if (days <= 7) return 'Last seven days';
  if (days <= 30) return 'Last thirty days';
  return new Date(at).toLocaleDateString('en', { month: 'long', year: 'numeric' });
}

const DAY = 24 * 60 * 60 * 1000;

/** The beginning of a day, by the person's clock. */
function midnight(at: number): number {
  return new Date(at).setHours(0, 0, 0, 0);
}
