// What is fetched as soon as the first rows are there, in one piece: what a person does with them and with the panel, and
// what all views but the graph look like.
export { logOf } from './events.ts';
export { FieldUnder } from './FieldUnder.tsx';
export { graphKeys } from './graphKeys.ts';
export { Engines, FileNote } from './Header.tsx';
export { keepFocus } from './keepFocus.ts';
export { MenuItems } from './MenuItems.tsx';
export { openWindow } from './openWindow.ts';
export { Resizer } from './Resizer.tsx';
export { viewCss } from './viewCss.ts';
export { CheckpointName } from './views/CheckpointName.tsx';
export { Finder } from './views/Finder.tsx';
export { Keys } from './views/Keys.tsx';
