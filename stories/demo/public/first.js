// See shell/firstPicture.ts.
let isKnown = false;
try {
  isKnown = /^demo:/m.test([...Object.keys(localStorage), ...Object.keys(sessionStorage)].join('\n'));
} catch {
  // A browser that refuses both knows nobody.
}
const isAddressed = !/^(#(\/(chat\/?)?)?)?$/.test(location.hash) || /[?&]empty\b/.test(location.search);
const isFirst = !isKnown && !isAddressed;
if (isFirst) document.documentElement.dataset.first = '';

const app = document.currentScript?.dataset.app ?? '';
const begin = () => import(app);
if (app)
  addEventListener('DOMContentLoaded', () =>
    isFirst && !document.hidden ? requestAnimationFrame(() => setTimeout(begin)) : begin(),
  );
