import { isFileUIPart, type FileUIPart, type UIMessage } from 'ai';
import {
  useCallback,
  useEffect,
  useEffectEvent,
  useImperativeHandle,
  useLayoutEffect,
  useRef,
  useState,
  type ClipboardEvent,
  type KeyboardEvent,
  type ReactNode,
  type Ref,
} from 'react';
import { plainText } from '../stored.ts';
import { directionOf } from '../ui/direction.ts';
import { Icon } from '../ui/Icon.tsx';
import { late } from '../ui/late.tsx';
import { adoptText, joined, keepUnsentText, takeLostText, typedText } from '../unsent.ts';
import type { UnsentFile } from '../unsentFiles.ts';
import { AttachedFiles } from './AttachedFiles.tsx';
import { AttachFile } from './AttachFile.tsx';
import { filesIn, useFileDrop } from './useFileDrop.ts';
import { useAttachments } from './useAttachments.ts';
import { useIsOpening } from './useFork.ts';
import { useSentBefore } from './useSentBefore.ts';

const LongText = late(async () => (await import('./LongText.tsx')).LongText);

/**
 * The box for the next message.
 *
 * The textbox is never removed: not while an answer streams, not when its chat was deleted. Enter sends, also while an answer
 * streams: the question is queued. Shift+Enter breaks the line; while an input method composes, its Enter is its own. Send and
 * Stop are one button with another word, so that a person who is on it with the keyboard stays there. Files come by the button,
 * by pasting and by dropping them anywhere on the page; they wait above the text. A long pasted text is offered as a file, and
 * becomes one where a line of it is so long that the browser would lay it out anew, and slowly, for each letter.
 *
 * The textbox holds its text itself, and React knows only what the page shows of it (whether there is any, its direction): with
 * a book in the box, a letter takes no longer than in an empty one.
 */
export function Composer({
  chatId,
  isNew,
  streaming,
  canSend,
  isAside,
  isHeldUp,
  onSend,
  onStop,
  ref,
}: ComposerProps): ReactNode {
  const [first] = useState(() => typedText(chatId));
  const [shape, setShape] = useState(() => shapeOf(first));
  // The text in the box now, also between two presses in one task: sent text must not be sent again.
  const inBox = useRef(first);
  const textbox = useRef<HTMLTextAreaElement>(null);
  const [pasted, setPasted] = useState<Pasted>();
  const isOpening = useIsOpening();
  const wanted = useRef(false);
  useEffect(() => {
    if (isNew) focusQuietly(textbox.current);
  }, [isNew]);
  useLayoutEffect(() => {
    const box = textbox.current;
    if (wasInBox && document.activeElement === document.body) focusQuietly(box);
    return () => {
      wasInBox = document.activeElement === box;
    };
  }, []);
  const attachments = useAttachments(chatId);
  const { attach } = attachments;
  const isDropping = useFileDrop(attach);

  // What the person typed, and what is put there for them.
  const keep = useCallback(
    (next: string): void => {
      inBox.current = next;
      setShape((before) => sameShape(before, shapeOf(next)));
      if (next.length < LONG_TEXT) setPasted((before) => (before?.file ? before : undefined));
      keepUnsentText(chatId, next);
    },
    [chatId],
  );
  const write = useCallback(
    (next: string): void => {
      if (textbox.current) textbox.current.value = next;
      keep(next);
    },
    [keep],
  );
  useImperativeHandle(
    ref,
    () => ({
      focus: () => focusQuietly(textbox.current),
      giveBack: (question) => {
        write(joined([plainText(question), inBox.current]));
        void filesOf(question).then(attach);
        textbox.current?.focus();
      },
    }),
    [write, attach],
  );
  const fateOf = useSentBefore();
  useEffect(() => {
    const lost = fateOf === undefined ? '' : takeLostText(chatId, fateOf);
    if (lost !== '') write(joined([lost, inBox.current]));
  }, [chatId, fateOf, write]);
  useEffect(() => {
    let isHere = true;
    void adoptText(chatId, (all) => isHere && write(all));
    return () => {
      isHere = false;
    };
  }, [chatId, write]);

  const sendNow = (): void => {
    const words = inBox.current.trim();
    const files = attachments.release();
    if (words === '' && files.length === 0) return;
    write('');
    onSend(words, files);
  };
  // Sends files that were attached a moment ago, too.
  const send = (): void => {
    if (!canSend) return;
    wanted.current = isOpening;
    if (isOpening) return;
    const reading = attachments.whenRead();
    if (reading === undefined) sendNow();
    else void reading.then(sendNow);
  };
  // What is sent while the place of a side question opens is for that place, and stays in the box if it does not open.
  useEffect(() => {
    if (isOpening || !wanted.current) return;
    wanted.current = false;
    if (isAside) send();
  });
  const isOffered = pasted && (!pasted.file || attachments.files.includes(pasted.file));
  const answerOffer = (act?: () => void): void => {
    act?.();
    setPasted(undefined);
    textbox.current?.focus();
  };
  const movePasted = ({ text, file }: Pasted): void => {
    if (!file) {
      write(inBox.current.replace(text, ''));
      void attach([asFile(text)]);
    } else if (textbox.current) {
      const { selectionStart, selectionEnd } = textbox.current;
      attachments.remove(file);
      textbox.current.setRangeText(text, selectionStart, selectionEnd, 'end');
      keep(textbox.current.value);
    }
  };
  const pasteFiles = (event: ClipboardEvent): void => {
    const files = filesIn(event.clipboardData);
    if (files.length === 0) return;
    event.preventDefault();
    void attach(files);
  };
  // A long text, however it comes: pasted, dropped, or written by a program.
  const bring = useEffectEvent((event: InputEvent): void => {
    const text = inTextbox(event.data ?? '');
    if (text.length < LONG_TEXT) return;
    if (text.split('\n').some((line) => line.length >= LONG_LINE)) {
      event.preventDefault();
      void attach([asFile(text)]).then(([file]) => file && setPasted({ text, file }));
    } else {
      setPasted({ text });
      // While the direction is `auto`, the browser reads the text once more to find it.
      (event.target as HTMLTextAreaElement).dir = directionOf(text);
    }
  });
  useEffect(() => {
    const box = textbox.current;
    const hear = (event: InputEvent): void => bring(event);
    box?.addEventListener('beforeinput', hear);
    return () => box?.removeEventListener('beforeinput', hear);
  }, []);
  const isEmpty = shape.isBlank && attachments.files.length === 0;
  const press = (event: KeyboardEvent): void => {
    if (!isPlainEnter(event)) return;
    event.preventDefault();
    send();
  };
  // The second click of a double click on Send must not stop the answer that the first one requested.
  const click = (presses: number): void => {
    if (!streaming) send();
    else if (presses < 2) onStop();
    textbox.current?.focus();
  };

  return (
    <form
      className="composer"
      data-dropping={isDropping || undefined}
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <AttachedFiles attachments={attachments} onLast={() => textbox.current?.focus()} />
      {isOffered && (
        <LongText
          length={pasted.text.length}
          isFile={pasted.file !== undefined}
          onMove={() => answerOffer(() => movePasted(pasted))}
          onKeep={() => answerOffer()}
        />
      )}
      <AttachFile onAttach={attach} />
      <textarea
        ref={textbox}
        id={MESSAGE_BOX}
        aria-label="Message"
        placeholder={isHeldUp ? 'Answer above first, or go on without it' : 'Ask anything'}
        rows={1}
        dir={shape.direction}
        data-long={shape.isLong || undefined}
        defaultValue={first}
        onChange={({ target }) => keep(target.value)}
        onKeyDown={press}
        onPaste={pasteFiles}
      />
      <button
        type="button"
        className="send"
        data-stop={streaming || undefined}
        disabled={!streaming && (!canSend || isEmpty)}
        onClick={(event) => click(event.detail)}
      >
        <Icon name={streaming ? 'stop' : 'up'} />
        <span>{streaming ? 'Stop' : 'Send'}</span>
      </button>
    </form>
  );
}

/** The id of the textbox: there is one on the page. */
export const MESSAGE_BOX = 'message-box';

/** From how many code units on a text that is pasted is offered as a file. */
const LONG_TEXT = 20_000;

/** From how many code units on a line makes a pasted text a file: with 500,000, a browser needs a seventh of a second a letter. */
const LONG_LINE = 100_000;

/** A long text that was pasted; with the file that it became, where it did. */
interface Pasted {
  readonly text: string;
  readonly file?: UnsentFile;
}

function asFile(text: string): File {
  return new File([text], 'Pasted text.txt', { type: 'text/plain' });
}

/** A pasted text as a textbox keeps it. */
function inTextbox(text: string): string {
  return text.replaceAll(/\r\n?/g, '\n');
}

/** What the page shows of the text in the box. */
interface Shape {
  readonly isBlank: boolean;
  readonly direction: ReturnType<typeof directionOf>;
  /** Whether the box is as high as it gets: measuring its words for each letter would cost more than the letter. */
  readonly isLong: boolean;
}

function shapeOf(text: string): Shape {
  return { isBlank: text.trim() === '', direction: directionOf(text), isLong: text.length > 5000 };
}

function sameShape(before: Shape, now: Shape): Shape {
  const isSame =
    before.isBlank === now.isBlank && before.direction === now.direction && before.isLong === now.isLong;
  return isSame ? before : now;
}

/** Whether the person left the previous chat from its box: then the box of a chat reached by Undo or Back takes the focus. */
let wasInBox = false;

/** The files of a question, as they were attached. */
function filesOf({ parts }: UIMessage): Promise<File[]> {
  return Promise.all(
    parts.filter(isFileUIPart).map(async ({ url, filename, mediaType }) => {
      const bytes = await (await fetch(url)).blob();
      return new File([bytes], filename ?? mediaType, { type: mediaType });
    }),
  );
}

/** Focuses a textbox, unless that opens a keyboard which covers what the person is about to read. */
function focusQuietly(textbox: HTMLElement | null): void {
  if (matchMedia('(pointer: fine)').matches) textbox?.focus();
}

/** Whether a key press means "send": Enter alone, and not the one that ends an input method's word. */
export function isPlainEnter(event: KeyboardEvent): boolean {
  return event.key === 'Enter' && !event.shiftKey && !isComposing(event);
}

/** Whether a key press belongs to an input method. Safari says so by the key code alone. */
export function isComposing(event: KeyboardEvent): boolean {
  return event.nativeEvent.isComposing || event.keyCode === 229;
}

/** What other components call on the composer. */
export interface ComposerHandle {
  readonly focus: () => void;
  /** Puts what was sent before what is in the box by now. */
  readonly giveBack: (question: UIMessage) => void;
}

interface ComposerProps {
  readonly chatId: string;
  /** Whether the chat begins here: the first question can be typed at once. */
  readonly isNew: boolean;
  /** Whether the shown branch streams: `Stop` stands in place of `Send`. */
  readonly streaming: boolean;
  readonly canSend: boolean;
  /** Whether the place of a side question is shown. */
  readonly isAside: boolean;
  /** Whether a tool waits for leave: what is sent goes on without it. */
  readonly isHeldUp: boolean;
  /** Takes the trimmed text, which may be empty where there are files. */
  readonly onSend: (text: string, files: readonly FileUIPart[]) => void;
  readonly onStop: () => void;
  readonly ref: Ref<ComposerHandle>;
}
