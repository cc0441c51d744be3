/**
 * Whether this is a development build. Bundlers write the answer in; a page without a bundler, where `process` is not
 * defined, counts as production.
 */
export function inDevelopment(): boolean {
  try {
    return process.env.NODE_ENV !== 'production';
  } catch {
    return false;
  }
}
