/**
 * What the style sheets of apps may do to all of their elements, by name; the devtools look the same under each of them. What
 * turns or fades `html` or `body` does so to all that is in the window.
 * @type {Readonly<Record<string, string>>}
 */
export const HOSTILE = {
  unset: '*, ::before, ::after { all: unset !important; }',
  inherited: `html { font: 40px/3 cursive !important; letter-spacing: .4em; word-spacing: 2em; text-transform: uppercase;
    text-align: right; color: red !important; cursor: none; direction: rtl; visibility: hidden; white-space: pre; }`,
  tags: `div, span, button, input, ul, li, table, td { display: none !important; position: static !important;
    margin: 20px !important; border: 4px dotted lime !important; float: left; }
    ::before { content: 'app' !important; position: fixed !important; inset: 0 !important; background: lime !important; }`,
  preflight: `*, ::before, ::after { box-sizing: content-box !important; border: 0 solid; padding: 1em;
    outline: none !important; }
    body *, body ::before { transition: all 9s !important; animation: fade 1s infinite alternate !important;
    opacity: .2 !important; transform: scale(.5) !important; filter: invert(1) !important; }
    @keyframes fade { to { opacity: .5; rotate: 9deg; } }`,
};
