// The one door to the library that compares lists: what is imported through it is what is used of it, where a whole
// library would come with an `import()` of its own.
export { diffArrays } from 'diff';
