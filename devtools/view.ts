import type { ContextEngine, EngineState, InspectOptions } from 'contextree';

/** All views of the panel, in the order of their tabs. */
export const VIEWS = [
  'Graph',
  'Prompt',
  'Cost',
  'Compare',
  'Log',
  'Run',
  'Storage',
  'Fragments',
  'Checkpoints',
  'Snapshot',
] as const;

export type ViewName = (typeof VIEWS)[number];

/** The messages that all views look at, by their keys. */
export interface Sight {
  /** The message that is selected; undefined while the views follow what the app shows. */
  readonly node?: string | undefined;
  /** The message that was marked, for others to be compared with. */
  readonly against?: string | undefined;
}

/** How the panel may ask models again. */
export interface RunSettings {
  /** Models to choose from, as `body` and the transport know them. Default: the one that the app asks. */
  readonly models?: readonly string[] | undefined;
  /** What goes into the body of the request so that this model is asked. Default: `{ model }`. */
  readonly body?: ((model: string) => object) | undefined;
}

/** What every view is given: an engine and its state as of the last frame, and what the other views need of it. */
export interface ViewProps {
  readonly engine: ContextEngine;
  readonly state: EngineState;
  /** Whose prices and limits to show. */
  readonly modelId?: string | undefined;
  /** What counts tokens, instead of the estimate. */
  readonly tokenizer?: InspectOptions['tokenizer'];
  /** How models may be asked again. */
  readonly run?: RunSettings | undefined;
  /** Messages that the engine knows: a key of another chat is none. */
  readonly sight: Sight;
  /** Selects or marks a message in every view; `undefined` as a value takes it back. */
  readonly onLook: (at: Sight) => void;
  /** Shows another view, at other messages where they are named; the focus goes to its tab. */
  readonly onOpen: (view: ViewName, at?: Sight) => void;
  /** Shows the chat of a session file in the place of this one, read-only. */
  readonly onFile: (file: Blob) => void;
}
