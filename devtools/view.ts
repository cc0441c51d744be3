import type { ContextEngine, EngineState, InspectOptions } from 'contextree';
import type { ShowCopy } from './sessionCopy.ts';

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

/** The messages that all views show, by their keys. */
export interface Sight {
  /** The selected message; undefined while the views follow what the app shows. */
  readonly node?: string | undefined;
  /** The message marked for comparison. */
  readonly against?: string | undefined;
}

/** How the panel may call models. */
export interface RunSettings {
  /** The models to choose from, as `body` and the transport name them. Default: the app's own. */
  readonly models?: readonly string[] | undefined;
  /** The fields of the request's body that choose a model. Default: `{ model }`. */
  readonly body?: ((model: string) => object) | undefined;
}

/** The props of every view: an engine and its state as of the last frame, and the links to other views. */
export interface ViewProps {
  readonly engine: ContextEngine;
  readonly state: EngineState;
  /** The model whose prices and limits to show. */
  readonly modelId?: string | undefined;
  /** The tokenizer to use instead of the estimate. */
  readonly tokenizer?: InspectOptions['tokenizer'];
  /** How models may be called. */
  readonly run?: RunSettings | undefined;
  /** Only messages that this engine knows. */
  readonly sight: Sight;
  /** Selects or marks a message in every view; `undefined` as a value clears it. */
  readonly onLook: (at: Sight) => void;
  /** Shows another view, at other messages if given; the focus goes to its tab. */
  readonly onOpen: (view: ViewName, at?: Sight) => void;
  /** Shows the chat of a session file in place of this one, read-only. */
  readonly onCopy: ShowCopy;
}
