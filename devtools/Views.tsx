import { watchSize } from './resized.ts';
import type { ContextEngine } from 'contextree';
import {
  type DragEvent,
  type ReactNode,
  type RefObject,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { Dressed, useTools } from './Dressed.tsx';
import { Guard } from './Guard.tsx';
import { useLive } from './follow.ts';
import { keys } from './keys.ts';
import { Menu } from './Menu.tsx';
import { recall, remember } from './memory.ts';
import { OfEach } from './OfEach.tsx';
import { useRecording } from './recording.ts';
import type { SessionCopy } from './sessionCopy.ts';
import { type Sight, type ViewName, type ViewProps, VIEWS } from './view.ts';
import { Graph } from './views/Graph.tsx';

interface ViewsProps extends Pick<ViewProps, 'modelId' | 'tokenizer' | 'run'> {
  /** The engine to show; default: the provider's. */
  readonly engine?: ContextEngine | undefined;
  /** Several engines, to choose from. */
  readonly engines?: readonly ContextEngine[] | undefined;
  /** Whether focus goes to the tabs as they appear. */
  readonly takesFocus?: boolean;
  /** What to show at the end of the header. */
  readonly children?: ReactNode;
}

/** The views of one engine, which share the selected messages. Each has an error boundary of its own. */
export function Views({
  engine,
  engines = [],
  modelId,
  tokenizer,
  run,
  takesFocus = false,
  children,
}: ViewsProps): ReactNode {
  const id = useId();
  const [tab, setTab] = useState(rememberedTab);
  const [picked, setPicked] = useState<ContextEngine>();
  const [sight, setSight] = useState<Sight>({});
  const [copy, setCopy] = useState<SessionCopy>({});
  useEffect(() => () => copy.engine?.dispose(), [copy.engine]);
  const tools = useTools();
  const onDrag = (event: DragEvent): void => tools?.openDropped(event, setCopy);
  const chosen = engines.find((one) => one === picked) ?? engines[0];
  const list = useRef<HTMLDivElement>(null);
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => tools?.keepFocus(place.current), [tools]);
  const select = (name: ViewName): void => {
    setTab(name);
    remember({ tab: name });
    tabIn(list.current, name)?.focus();
  };
  const look = (at: Sight): void => setSight((before) => ({ ...before, ...at }));
  const props: TabProps = {
    tab,
    modelId,
    tokenizer,
    run,
    sight,
    onLook: look,
    onOpen: (name, at) => {
      if (at) look(at);
      select(name);
    },
    onCopy: setCopy,
    onCloseCopy: copy.engine && (() => setCopy({})),
  };
  /** Where no view used Escape for a field or a menu of its own, it ends the selection. */
  const follow = sight.node !== undefined && (() => look({ node: undefined }));
  return (
    <div
      ref={place}
      className="views"
      role="presentation"
      onDragOver={onDrag}
      onDrop={onDrag}
      onKeyDown={keys({ Escape: follow })}
    >
      <header className="bar">
        {engines.length > 1 && tools?.enginePicker(engines, chosen, setPicked)}
        <Tabs id={id} tab={tab} onSelect={select} list={list} takesFocus={takesFocus} />
        {children}
      </header>
      {copy.failure !== undefined && noteOf(copy.failure, () => setCopy({ ...copy, failure: undefined }))}
      <div className="view" role="tabpanel" id={`${id}view`} aria-labelledby={`${id}${tab}`}>
        <Guard key={tab} renderFailure={failed}>
          <OfEach engine={copy.engine ?? chosen ?? engine}>
            {(one, key) => <ViewOf key={key} {...props} engine={one} />}
          </OfEach>
        </Guard>
      </div>
    </div>
  );
}

interface TabsProps {
  readonly id: string;
  readonly tab: ViewName;
  readonly onSelect: (name: ViewName) => void;
  readonly list: RefObject<HTMLDivElement | null>;
  readonly takesFocus: boolean;
}

/** A tab for each view. Without enough room they scroll, and a menu beside them lists them all. */
function Tabs({ id, tab, onSelect, list, takesFocus }: TabsProps): ReactNode {
  const isCut = useIsCut(list);
  useLayoutEffect(() => revealTab(list.current, tab, isCut), [list, tab, isCut]);
  useEffect(() => {
    if (takesFocus) tabIn(list.current, rememberedTab())?.focus();
  }, [list, takesFocus]);
  const at = VIEWS.indexOf(tab);
  const to = (index: number) => (): void => onSelect(VIEWS.at(index % VIEWS.length) as ViewName);
  return (
    <>
      <div
        ref={list}
        className="tabs"
        role="tablist"
        aria-label="Views"
        tabIndex={-1}
        onKeyDown={keys({ ArrowRight: to(at + 1), ArrowLeft: to(at - 1), Home: to(0), End: to(-1) })}
      >
        {VIEWS.map((name) => (
          <button
            key={name}
            role="tab"
            id={`${id}${name}`}
            data-tab={name}
            aria-selected={name === tab}
            aria-controls={name === tab ? `${id}view` : undefined}
            tabIndex={name === tab ? 0 : -1}
            onClick={() => onSelect(name)}
          >
            {name}
          </button>
        ))}
      </div>
      {isCut && (
        <Menu
          label="All views"
          sign="»"
          groups={{
            Views: VIEWS.map((name) => ({
              label: name,
              isChosen: name === tab,
              run: () => onSelect(name),
            })),
          }}
        />
      )}
    </>
  );
}

/** Whether the tabs have too little room. The menu takes some of it, so it disappears at a larger width than it appears at. */
function useIsCut(list: RefObject<HTMLElement | null>): boolean {
  const [isCut, setCut] = useState(false);
  useLayoutEffect(() => {
    const element = list.current;
    return watchSize(element, () => setCut(element !== null && element.scrollWidth > element.clientWidth));
  }, [list]);
  return isCut;
}

function tabIn(list: HTMLElement | null, name: ViewName): HTMLElement | null {
  return list?.querySelector(`[data-tab="${name}"]`) ?? null;
}

/** Scrolls the tabs alone: `scrollIntoView()` would scroll the page around an embedded panel, too. */
function revealTab(list: HTMLElement | null, name: ViewName, isCut: boolean): void {
  const tab = tabIn(list, name);
  if (!isCut || !list || !tab) return;
  list.scrollLeft = tab.offsetLeft - list.offsetLeft - (list.clientWidth - tab.offsetWidth) / 2;
}

function rememberedTab(): ViewName {
  const { tab } = recall();
  return VIEWS.find((name) => name === tab) ?? 'Graph';
}

interface TabProps extends Omit<ViewProps, 'engine' | 'state'> {
  readonly tab: ViewName;
  /** Goes back to the app's chat from a session file. */
  readonly onCloseCopy: (() => void) | undefined;
}

function ViewOf({ tab, sight, onCloseCopy, ...rest }: TabProps & Pick<ViewProps, 'engine'>): ReactNode {
  const { engine } = rest;
  const state = useLive(engine);
  useEffect(() => {
    // The state reports a failed read.
    engine.ready().catch(() => undefined);
  }, [engine]);
  useRecording(engine);
  const props = { ...rest, state, sight: sightIn({ engine, revision: state.revision }, sight) };
  const key = `${engine.isReadOnly} ${engine.chatId}`;
  const title = state.chat?.title ?? engine.chatId;
  return (
    <>
      {engine.isReadOnly && noteOf(`Read-only copy of ${title}: nothing of it can be changed.`, onCloseCopy)}
      <Guard key={key} renderFailure={failed}>
        {tab === 'Graph' ? (
          <Graph {...props} />
        ) : (
          <Dressed meanwhile={<p className="words">Loading…</p>}>
            {({ [tab]: Shown }) => <Shown {...props} />}
          </Dressed>
        )}
      </Guard>
    </>
  );
}

/** Says that a copy is shown, or why a file can't be opened. */
function noteOf(text: string, onClose: (() => void) | undefined): ReactNode {
  return (
    <div className="bar warn" role="status">
      <span className="grow">{text}</span>
      {onClose && <button onClick={onClose}>Close</button>}
    </div>
  );
}

/** The known messages of a sight, at a revision: another revision may know others. */
function sightIn(
  { engine }: { readonly engine: ContextEngine; readonly revision: number },
  { node, against }: Sight,
): Sight {
  return { node: engine.node(node ?? '')?.key, against: engine.node(against ?? '')?.key };
}

function failed(error: Error, retry: () => void): ReactNode {
  return (
    <div className="words" role="alert">
      <p>This view stopped: {error.message}</p>
      <p>The app goes on as before.</p>
      <button onClick={retry}>Try again</button>
    </div>
  );
}
