// The views of what is kept, fetched together: who looks at one of them looks at the next, and they share most of their parts.
export { Checkpoints } from './Checkpoints.tsx';
export { Fragments } from './Fragments.tsx';
export { Log } from './Log.tsx';
export { Snapshot } from './Snapshot.tsx';
export { Storage } from './Storage.tsx';
