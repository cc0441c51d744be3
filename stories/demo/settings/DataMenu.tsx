import { useEffect, useId, useRef, useState, type KeyboardEvent, type ReactNode } from 'react';
import { useNotices } from '../shell/Notices.tsx';
import { useAttempt } from '../shell/useAttempt.ts';
import { useWorkspace } from '../shell/Workspace.ts';
import { ConfirmDialog } from '../ui/ConfirmDialog.tsx';
import { Icon } from '../ui/Icon.tsx';
import { askToKeep, spaceInWords } from './space.ts';

/** What a person may do with their data: take it along and bring it back, keep it for good, or be rid of it. */
export function DataMenu({ onKeep, canExport }: DataMenuProps): ReactNode {
  const { store, clearAll } = useWorkspace();
  const { tell } = useNotices();
  const attempt = useAttempt();
  const [open, setOpen] = useState(false);
  const [clearing, setClearing] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const id = useId();

  const close = (): void => {
    setOpen(false);
    button.current?.focus();
  };
  const choose = (act: () => unknown) => () => {
    close();
    act();
  };
  const takeAlong = (): void =>
    attempt(async () => {
      const { downloadJson, exportData } = await import('./exportData.ts');
      const data = await exportData(store);
      downloadJson(`contextree-${data.exportedAt.slice(0, 10)}.json`, data);
    });
  const bringBack = (file: File): void => {
    onKeep();
    attempt(async () => {
      const { importData, importedInWords } = await import('./importData.ts');
      const imported = await importData(store, await file.text());
      tell({ key: 'import', text: importedInWords(imported), lasts: 15_000 });
    });
  };
  const keep = (): void => {
    onKeep();
    attempt(async () => tell({ key: 'keep', text: await askToKeep(store), lasts: 15_000 }));
  };

  return (
    <div className="menu-place">
      <button
        ref={button}
        type="button"
        className="row-button"
        aria-haspopup="menu"
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        onClick={() => setOpen(!open)}
      >
        <Icon name="data" />
        <span>Data</span>
      </button>
      {open && (
        <Menu id={id} onClose={close} onLeave={() => setOpen(false)}>
          {canExport && <Item onChoose={choose(takeAlong)}>Export my data</Item>}
          {canExport && <Item onChoose={choose(() => chooseFile(bringBack))}>Import</Item>}
          <Item onChoose={choose(keep)}>Keep my data</Item>
          <Item onChoose={choose(() => setClearing(true))}>Clear all data</Item>
        </Menu>
      )}
      {clearing && (
        <ConfirmDialog
          title="Clear all data"
          confirm="Clear all data"
          onConfirm={() => attempt(clearAll)}
          onClose={() => setClearing(false)}
        >
          <p>
            All chats with all their versions, unsent words and settings will be deleted from this browser, in
            all of its tabs. This cannot be undone.
          </p>
        </ConfirmDialog>
      )}
    </div>
  );
}

/** Lets the person choose a file. Nothing happens where they choose none. */
function chooseFile(take: (file: File) => void): void {
  const input = document.createElement('input');
  input.type = 'file';
  input.accept = 'application/json,.json';
  input.addEventListener('change', () => {
    const [file] = input.files ?? [];
    if (file) take(file);
  });
  input.click();
}

function Menu({ id, onClose, onLeave, children }: MenuProps): ReactNode {
  const place = useRef<HTMLDivElement>(null);
  const space = useSpace();
  useEffect(() => {
    place.current?.querySelector<HTMLElement>('[role=menuitem]')?.focus();
    const leave = (event: Event): void => {
      if (!place.current?.parentElement?.contains(event.target as Node)) onLeave();
    };
    document.addEventListener('pointerdown', leave);
    return () => document.removeEventListener('pointerdown', leave);
  }, [onLeave]);
  const press = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') onClose();
    else if (event.key === 'Tab') onLeave();
    else move(place.current, event);
  };
  return (
    <div ref={place} className="menu">
      <div id={id} role="menu" aria-label="Data" tabIndex={-1} onKeyDown={press}>
        {children}
      </div>
      {space.map((line) => (
        <p key={line} className="menu-note">
          {line}
        </p>
      ))}
    </div>
  );
}

function Item({
  onChoose,
  children,
}: {
  readonly onChoose: () => void;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <button type="button" role="menuitem" tabIndex={-1} onClick={onChoose}>
      {children}
    </button>
  );
}

/** Arrow keys, Home and End move between the items of a menu. */
function move(menu: HTMLElement | null, event: KeyboardEvent): void {
  const items = [...(menu?.querySelectorAll<HTMLElement>('[role=menuitem]') ?? [])];
  const at = items.indexOf(document.activeElement as HTMLElement);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  items.at(to % items.length)?.focus();
}

function useSpace(): readonly string[] {
  const { store } = useWorkspace();
  const [lines, setLines] = useState<readonly string[]>([]);
  useEffect(() => {
    let gone = false;
    void spaceInWords(store).then((lines) => gone || setLines(lines));
    return () => {
      gone = true;
    };
  }, [store]);
  return lines;
}

interface DataMenuProps {
  /** The browser is being asked: a drawer may close, and show what it says. */
  readonly onKeep: () => void;
  /** Whether the chats can be read. */
  readonly canExport: boolean;
}

interface MenuProps {
  readonly id: string;
  /** Closed with the keyboard: the focus goes back to the button. */
  readonly onClose: () => void;
  /** Closed by going elsewhere. */
  readonly onLeave: () => void;
  readonly children: ReactNode;
}
