// The code that is loaded as soon as the first rows are there, in one piece: the actions on rows and on the panel, and the
// styles of all views but the graph.
export { logOf } from './events.ts';
export { FieldUnder } from './FieldUnder.tsx';
export { graphKeys } from './graphKeys.ts';
export { Engines, FileNote } from './Header.tsx';
export { keepFocus } from './keepFocus.ts';
export { MenuItems } from './MenuItems.tsx';
export { openWindow } from './openWindow.ts';
export { Resizer } from './Resizer.tsx';
export { endSelection, openDropped } from './viewEvents.ts';
export { viewCss } from './viewCss.ts';
export { CheckpointName } from './views/CheckpointName.tsx';
export { Finder } from './views/Finder.tsx';
export { Keys } from './views/Keys.tsx';
