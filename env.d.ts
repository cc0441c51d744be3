// What the package asks of a bundler: to fill in the mode. Stated here instead of through Node's types, so that
// nothing else of Node can slip into code that runs in browsers.
declare const process: { readonly env: { readonly NODE_ENV?: string } };
