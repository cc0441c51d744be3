import type { FunctionComponent } from 'react';
import {
  type ContextDevtoolsPanelProps,
  type ContextDevtoolsProps,
  EmbeddedDevtools,
  FloatingDevtools,
} from './Launcher.tsx';

export type { ContextDevtoolsPanelProps, ContextDevtoolsProps, DevtoolsButtonPosition } from './Launcher.tsx';
export type { DevtoolsPosition } from './Panel.tsx';
export type { DevtoolsTheme } from './Shadow.tsx';

// A guest leaves when the house is sold: bundlers put NODE_ENV in its place, see that the first way is taken, and
// drop the second with all that it imports. For that, no module of this folder does anything when it is loaded.
declare const process: { readonly env: { readonly NODE_ENV?: string } };

/** A button that opens the devtools of a chat. Nothing in production builds; see `contextree/devtools/production`. */
export const ContextDevtools: FunctionComponent<ContextDevtoolsProps> =
  process.env.NODE_ENV === 'production' ? () => null : FloatingDevtools;

/** The devtools inside a page, always open. Nothing in production builds. */
export const ContextDevtoolsPanel: FunctionComponent<ContextDevtoolsPanelProps> =
  process.env.NODE_ENV === 'production' ? () => null : EmbeddedDevtools;
