// The views of stored data, loaded together: a person who opens one often opens the next, and they share most of their parts.
export { Checkpoints } from './Checkpoints.tsx';
export { Fragments } from './Fragments.tsx';
export { Log } from './Log.tsx';
export { Snapshot } from './Snapshot.tsx';
export { Storage } from './Storage.tsx';
