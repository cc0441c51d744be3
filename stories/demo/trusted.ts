import { config } from 'zod/v4/core';

// Set before a schema of the AI SDK is made, so that checking the chunks of an answer generates no code.
config({ jitless: true });

/**
 * The values that this app passes to the browser as code or as HTML, on a site that requires Trusted Types
 * (`require-trusted-types-for 'script'`): the URL of its service worker, and single character references, which the Markdown
 * parser lets the browser decode. Everything else is refused.
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
