// What a person may do with the graph, once it shows: in one piece, because most of it is small.
export { graphKeys } from '../graphKeys.ts';
export { CheckpointName } from './CheckpointName.tsx';
export { Finder } from './Finder.tsx';
export { Keys } from './Keys.tsx';
