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

// The room that the devtools will take if they were open, before the first paint: as `placeOf` of devtools/dock.ts has it.
try {
  const { isOpen, side, width, height } = JSON.parse(localStorage.getItem('contextree:devtools') ?? '{}');
  const isWide = innerWidth >= 1152;
  const edge = isWide ? (side ?? 'right') : side === 'bottom' ? side : 'top';
  const size = edge.endsWith('t')
    ? Math.min(innerWidth - 560, Math.max(320, width ?? 420))
    : Math.min(Math.floor(innerHeight / 2), Math.max(120, height ?? 360));
  if (isOpen) document.documentElement.style.setProperty(`--contextree-inset-${edge}`, `${size}px`);
} catch {
  // Nothing is remembered, or it is damaged.
}

const app = document.currentScript?.dataset.app ?? '';
const begin = () => import(app);
if (app)
  addEventListener('DOMContentLoaded', () =>
    isFirst && !document.hidden ? requestAnimationFrame(() => setTimeout(begin)) : begin(),
  );
