// The code that is loaded as soon as the first rows are there, in one piece: the views beside the graph, the actions on rows and
// on the panel, and their styles. One file, because the views share most of their parts: in many files each view would wait for
// its own when it is first shown, and all of them together would weigh more.
export { FieldUnder } from './FieldUnder.tsx';
export { Engines, FileNote } from './Header.tsx';
export { MenuItems } from './MenuItems.tsx';
export { Resizer } from './Resizer.tsx';
export { logOf } from './events.ts';
export { graphKeys } from './graphKeys.ts';
export { keepFocus } from './keepFocus.ts';
export { openWindow } from './openWindow.ts';
export { openCopy } from './sessionCopy.ts';
export { viewCss } from './viewCss.ts';
export { endSelection, openDropped } from './viewEvents.ts';
export { CheckpointName } from './views/CheckpointName.tsx';
export { Checkpoints } from './views/Checkpoints.tsx';
export { Cells, Heads } from './views/Columns.tsx';
export { Compare } from './views/Compare.tsx';
export { Cost } from './views/Cost.tsx';
export { Finder } from './views/Finder.tsx';
export { Fragments } from './views/Fragments.tsx';
export { Keys } from './views/Keys.tsx';
export { Log } from './views/Log.tsx';
export { Node } from './views/Node.tsx';
export { Prompt } from './views/Prompt.tsx';
export { Run } from './views/Run.tsx';
export { Snapshot } from './views/Snapshot.tsx';
export { Storage } from './views/Storage.tsx';
