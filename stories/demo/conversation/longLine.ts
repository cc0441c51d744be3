/**
 * Sets the text of a box with a very long line anew, after the box has its full height. Chromium keeps an inserted text in one
 * piece, which each key then lays out from its beginning to its end; a text that is set is cut into pieces, and a key takes a
 * third of the time. The price is that the browser can't undo the insertion.
 */
export function breakLongLine(box: HTMLTextAreaElement): void {
  const { value, selectionStart, selectionEnd, scrollTop } = box;
  if (value.split('\n').every((line) => line.length < LONG_LINE)) return;
  box.value = '';
  box.value = value;
  box.setSelectionRange(selectionStart, selectionEnd);
  box.scrollTop = scrollTop;
}

/** From how many code units on a line is cut. */
const LONG_LINE = 20_000;
