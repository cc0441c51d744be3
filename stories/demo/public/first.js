// Before anything is painted: shows the picture of the first chat (first.html) where this looks like a first visit. The app
// takes it away as soon as it shows a chat of its own, see shell/firstPicture.ts.
let isKnown = false;
try {
  isKnown = /^demo:/m.test([...Object.keys(localStorage), ...Object.keys(sessionStorage)].join('\n'));
} catch {
  // A browser that refuses both knows nobody.
}
const isAddressed = !/^(#(\/(chat\/?)?)?)?$/.test(location.hash) || /[?&]empty\b/.test(location.search);
if (!isKnown && !isAddressed) document.documentElement.dataset.first = '';
