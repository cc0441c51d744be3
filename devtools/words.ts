// The only import of the library that compares lists, so that bundlers include only what is used of it.
export { diffArrays } from 'diff';
