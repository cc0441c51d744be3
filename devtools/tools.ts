// The code that is loaded as soon as the first rows are there, in one piece: the views beside the graph, the actions on rows and
// on the panel, and their styles. One file, because the views share most of their parts: in many files each view would wait for
// its own when it is first shown, and all of them together would weigh more. The order is that in which they compress best, found
// by trying: gzip looks back 32 kB.
export { logOf } from './events.ts';
export { Run } from './views/Run.tsx';
export { Prompt } from './views/Prompt.tsx';
export { openDropped } from './sessionCopy.ts';
export { Storage } from './views/Storage.tsx';
export { graphKeys } from './graphKeys.ts';
export { Node } from './views/Node.tsx';
export { enginePicker } from './Header.tsx';
export { Fragments } from './views/Fragments.tsx';
export { Compare } from './views/Compare.tsx';
export { Cost } from './views/Cost.tsx';
export { CheckpointName } from './views/CheckpointName.tsx';
export { keepFocus } from './keepFocus.ts';
export { Resizer } from './Resizer.tsx';
export { viewCss } from './viewCss.ts';
export { MenuItems } from './MenuItems.tsx';
export { Snapshot } from './views/Snapshot.tsx';
export { keysHelp } from './views/Keys.tsx';
export { Checkpoints } from './views/Checkpoints.tsx';
export { Cells, columnHeads } from './views/Columns.tsx';
export { Log } from './views/Log.tsx';
export { Finder } from './views/Finder.tsx';
export { openWindow } from './openWindow.ts';
