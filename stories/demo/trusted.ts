import { config } from 'zod/v4/core';

// Said before a schema of the AI SDK is made: what checks the chunks of an answer makes no code of its own then.
config({ jitless: true });

/**
 * What this app hands to the browser as code or as HTML, where a site demands Trusted Types
 * (`require-trusted-types-for 'script'`): the address of its service worker, and a single character reference, which the
 * reader of Markdown has the browser decode. Nothing else passes.
 */
export function declareTrusted(): void {
  const { trustedTypes } = globalThis as { readonly trustedTypes?: TrustedTypes };
  trustedTypes?.createPolicy('default', {
    createScriptURL: (address) => (address === './sw.js' ? address : null),
    createHTML: (html) => (/^&\w+;$/.test(html) ? html : null),
  });
}

type Rule = (text: string) => string | null;

/** As much of the browser's Trusted Types as is used here. */
interface TrustedTypes {
  readonly createPolicy: (
    name: string,
    rules: { readonly createScriptURL: Rule; readonly createHTML: Rule },
  ) => unknown;
}
