// What a docked panel does once it is there: it is resized, and gives way to who types under it.
export { FieldUnder } from './FieldUnder.tsx';
export { Resizer } from './Resizer.tsx';
