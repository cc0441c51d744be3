import { useBranches, useChats, useCheckpoint, useEngine, useEngineState } from 'contextree';
import {
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
  type KeyboardEvent,
  type ReactNode,
} from 'react';
import { flushSync } from 'react-dom';
import { goToChat } from '../address.ts';
import { labelOn } from '../conversation/branchTree.ts';
import { beginSideQuestion } from '../conversation/ByTheWay.tsx';
import { focusComposer } from '../conversation/focusBranch.ts';
import { forgetAside } from '../conversation/useFork.ts';
import { plainText } from '../stored.ts';
import { plural } from '../quantities.ts';
import { UNTITLED } from '../titles.ts';
import { Icon, type IconName } from '../ui/Icon.tsx';
import { pressable } from './pressed.ts';
import { showMessage } from './showMessage.ts';
import { useAttempt } from './useAttempt.ts';
import { useNextSteps } from './nextSteps.ts';
import { useTellDone } from './useUndo.ts';
import { useWorkspace } from './Workspace.ts';

/**
 * The command palette: type a few letters of a name, and press Enter. The nearest results come first: actions, this chat's
 * branches, checkpoints and messages, then other chats.
 */
export function Palette({ canChange, onClose }: PaletteProps): ReactNode {
  const dialog = useRef<HTMLDialogElement>(null);
  const [query, setQuery] = useState('');
  const [place, setPlace] = useState(0);
  const listId = useId();
  const attempt = useAttempt();
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const fitting = useCommands(canChange).filter(({ kind, name }) =>
    words.every((word) => `${kind} ${name}`.toLowerCase().includes(word)),
  );
  const found = [...(query === '' ? firstOfEach(fitting) : fitting), ...useFoundMessages(query)];
  const chosen = Math.min(place, found.length - 1);

  useLayoutEffect(() => {
    const element = dialog.current;
    element?.showModal();
    return () => element?.close();
  }, []);
  const run = (command: Command | undefined): void => {
    if (!command) return;
    // What had the focus has it again before a command moves it.
    flushSync(onClose);
    attempt(async () => command.run());
  };
  const press = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) setPlace((chosen + step + found.length) % Math.max(1, found.length));
    else if (event.key === 'Enter' && !event.nativeEvent.isComposing) run(found[chosen]);
    else return;
    event.preventDefault();
  };
  return (
    <dialog
      ref={dialog}
      className="palette"
      aria-label="Command palette"
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <input
        role="combobox"
        aria-label="Find"
        aria-expanded="true"
        aria-controls={listId}
        aria-activedescendant={found.length > 0 ? `${listId}-${chosen}` : undefined}
        aria-autocomplete="list"
        autoComplete="off"
        dir="auto"
        placeholder="Chats, branches, messages, actions"
        value={query}
        onChange={(event) => {
          setQuery(event.target.value);
          setPlace(0);
        }}
        onKeyDown={press}
      />
      <div id={listId} role="listbox" aria-label="Results" className="palette-results">
        {found.map((command, i) => (
          // oxlint-disable-next-line jsx-a11y/click-events-have-key-events -- the textbox has the keys
          <div
            key={command.id}
            ref={i === chosen ? bringIntoView : null}
            id={`${listId}-${i}`}
            role="option"
            tabIndex={-1}
            aria-selected={i === chosen}
            onClick={() => run(command)}
          >
            <Icon name={icons[command.kind]} />
            <span dir="auto">{command.name}</span> <small>{command.about ?? command.kind}</small>
          </div>
        ))}
      </div>
      {found.length === 0 && <p className="nothing">Nothing is called that here.</p>}
    </dialog>
  );
}

function bringIntoView(option: HTMLElement | null): void {
  option?.scrollIntoView({ block: 'nearest' });
}

type Kind = 'Action' | 'Branch' | 'Checkpoint' | 'Chat' | 'Message';

interface Command {
  readonly id: string;
  readonly kind: Kind;
  readonly name: string;
  readonly about?: string;
  readonly run: () => unknown;
}

const icons: Readonly<Record<Kind, IconName>> = {
  Action: 'play',
  Branch: 'branch',
  Checkpoint: 'flag',
  Chat: 'aside',
  Message: 'file',
};

/** What stands there before anything is typed: not the whole of a long list. */
function firstOfEach(commands: readonly Command[]): readonly Command[] {
  return commands.filter(
    ({ kind }, i) =>
      kind === 'Action' || commands.slice(0, i).filter((other) => other.kind === kind).length < FEW,
  );
}

const FEW = 5;

function action(name: string, run: () => unknown, about?: string): Command {
  return { id: name, kind: 'Action', name, ...(about !== undefined && { about }), run };
}

function useCommands(canChange: boolean): readonly Command[] {
  const engine = useEngine();
  const { store, newChat } = useWorkspace();
  const { branches, switchBranch } = useBranches();
  const { checkpoints, restore } = useCheckpoint();
  const { undo, redo, toUndo, toRedo } = useNextSteps();
  const { chats } = useChats(store);
  const tellDone = useTellDone();
  const title = useEngineState((state) => state.chat?.title) ?? UNTITLED;
  const [pressed] = useState(() => pressable(title));
  return [
    action('New chat', () => newChat()),
    ...(canChange ? [action('By the way', () => beginSideQuestion(engine), 'A side question')] : []),
    ...(canChange && toUndo !== undefined ? [action('Undo', undo, toUndo)] : []),
    ...(canChange && toRedo !== undefined ? [action('Redo', redo, toRedo)] : []),
    ...(branches.length > 1 ? [action('Compare branches', openBranches, 'In their list')] : []),
    ...pressed.map(({ name, press }) => action(name, press)),
    ...branches
      .filter(({ isActive }) => !isActive)
      .map((branch) => ({
        id: branch.id,
        kind: 'Branch' as const,
        name: labelOn(branch),
        about: plural(branch.messageCount, 'message'),
        run: () => switchBranch(branch.id),
      })),
    ...checkpoints.map(({ id, name }) => ({
      id,
      kind: 'Checkpoint' as const,
      name,
      about: 'Restore',
      run: async () => {
        forgetAside(engine.chatId);
        await restore(name);
        tellDone({ text: `Back at “${name}”`, lasts: 10_000 });
      },
    })),
    ...chats
      .filter(({ id }) => id !== engine.chatId)
      .map(({ id, title }) => ({
        id: `chat ${id}`,
        kind: 'Chat' as const,
        name: title ?? UNTITLED,
        run: () => {
          focusComposer();
          goToChat(id);
        },
      })),
  ];
}

function openBranches(): void {
  document.querySelector<HTMLElement>('.branch-button')?.click();
}

/** The messages of this chat, on all of its branches, that hold these words. */
function useFoundMessages(query: string): readonly Command[] {
  const engine = useEngine();
  const [found, setFound] = useState<{ readonly query: string; readonly commands: readonly Command[] }>();
  const words = query.trim();
  useEffect(() => {
    if (words.length < 2) return undefined;
    let isGone = false;
    const look = async (): Promise<void> => {
      const results = await engine.store.searchMessages(engine.chatId, words, { limit: 8 });
      const commands = results.map(({ record: { key, role }, message }) => ({
        id: key,
        kind: 'Message' as const,
        name: around(words, plainText(message)),
        about: role === 'user' ? 'You' : 'Assistant',
        run: () => showMessage(engine, key),
      }));
      if (!isGone) setFound({ query: words, commands });
    };
    look().catch(() => {});
    return () => {
      isGone = true;
    };
  }, [engine, words]);
  return found && words.startsWith(found.query) && words.length > 1 ? found.commands : [];
}

/** A line of a text, from a little before the first of some words. */
function around(words: string, text: string): string {
  const line = text
    .replaceAll(/[*_`#|]+/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
  const at = line.toLowerCase().indexOf(words.split(/\s+/, 1)[0]?.toLowerCase() ?? '');
  return at > 40 ? `…${line.slice(line.indexOf(' ', at - 30) + 1, at + 90)}` : line.slice(0, 120);
}

interface PaletteProps {
  /** Whether the chat can be changed. */
  readonly canChange: boolean;
  readonly onClose: () => void;
}
