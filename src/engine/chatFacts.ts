import type { Mark } from '../graph/graph.ts';
import {
  chatFacts,
  checkpointsOf,
  markId,
  marksOfKind,
  subjectOf,
  sumOf,
  type Checkpoint,
} from '../graph/marks.ts';
import { keepSame, sameJson } from '../graph/same.ts';
import type { Chat, CheckpointInfo, EngineState } from './state.ts';
import type { Writer } from './writer.ts';

/** What the marks of a chat say of it as a whole: title, metadata, usage, checkpoints, queued questions. */
export class ChatFacts {
  readonly #writer: Writer;
  /** What the marks said when one changed last: most writes change none. */
  #said = { marked: -1, facts: chatFacts([]), hasCheckpoints: false };

  constructor(writer: Writer) {
    this.#writer = writer;
  }

  slices(before: EngineState): Partial<EngineState> {
    const chat = this.#chat();
    const infos = this.checkpoints().map((one) => this.checkpointInfo(one));
    return {
      chat: sameJson(before.chat, chat) ? before.chat : chat,
      checkpoints: keepSame(before.checkpoints, infos),
    };
  }

  /** The chat's row; null for a chat to which nothing was ever saved. */
  #chat(): Chat | null {
    const { desk, replica } = this.#writer;
    const { title, metadata, beginning } = this.#marks().facts;
    if (!beginning) return null;
    const { userId, createdAt } = beginning;
    return {
      id: desk.chatId,
      userId,
      ...(title === undefined ? {} : { title }),
      ...(Object.keys(metadata).length > 0 ? { metadata } : {}),
      createdAt,
      updatedAt: Math.max(createdAt, replica.chat.updatedAt),
      messageCount: replica.messageCount,
    };
  }

  async updateChat(updates: {
    readonly title?: string | null;
    readonly metadata?: Readonly<Record<string, unknown>>;
  }): Promise<void> {
    const { title, metadata = {} } = updates;
    const fields = Object.entries(metadata).filter(([, value]) => value !== undefined);
    await this.#write(() => [
      ...(title === undefined ? [] : [[markId.title, title] as const]),
      ...fields.map(([name, value]) => [markId.field(name), value] as const),
    ]);
  }

  async trackUsage(usage: Readonly<Record<string, unknown>>): Promise<void> {
    const { replica } = this.#writer;
    const id = markId.usage(replica.by);
    await this.#write(() => [[id, sumOf(replica.chat.marks.get(id)?.value ?? {}, usage)]]);
  }

  /** Saves fields of a named record beside the chat; null removes a field. */
  async keepFields(name: string, fields: Readonly<Record<string, unknown>>): Promise<void> {
    const all = Object.entries(fields);
    await this.#write(() => all.map(([field, value]) => [markId.waiting(`${name} ${field}`), value]));
  }

  /** The fields of a named record, saved here or in another tab. */
  async readFields(name: string): Promise<Record<string, unknown>> {
    await this.#writer.others.pull();
    const marks = marksOfKind(this.#writer.replica.chat, 'waiting').filter(({ value }) => value !== null);
    const own = marks.filter((mark) => subjectOf(mark).startsWith(`${name} `));
    return Object.fromEntries(own.map((mark) => [subjectOf(mark).slice(name.length + 1), mark.value]));
  }

  async #write(says: () => readonly (readonly [id: string, value: unknown])[]): Promise<void> {
    const { replica } = this.#writer;
    const written = await this.#writer.inTurn(async () => {
      const { chat, marks } = this.#writer.chatOf(null);
      const ends = this.#writer.emptyMain(chat);
      const made: Mark[] = says().map(([id, value]) => replica.mark(id, value, chat));
      return this.#writer.commit({ ends, marks: [...marks, ...made] });
    });
    await written.saved;
  }

  #marks() {
    const { chat, marked } = this.#writer.replica;
    if (this.#said.marked === marked) return this.#said;
    const said: [id: string, value: unknown][] = [];
    for (const [id, { value }] of chat.marks) said.push([id, value]);
    const hasCheckpoints = marksOfKind(chat, 'checkpoint').length > 0;
    return (this.#said = { marked, facts: chatFacts(said), hasCheckpoints });
  }

  /** Live checkpoints, newest first. */
  checkpoints(): readonly Checkpoint[] {
    return this.#marks().hasCheckpoints ? checkpointsOf(this.#writer.replica.chat).toReversed() : [];
  }

  checkpointInfo({ id, name, key, createdAt }: Checkpoint): CheckpointInfo {
    return { id, name, messageId: this.#writer.replica.idOf(key), messageKey: key, createdAt };
  }
}
