/**
 * Buttons of the page that can be pressed by a name: each one is a way of its own, through a menu where it stands behind one.
 */
export function pressable(title: string): readonly Pressable[] {
  const ways = [
    ['Checkpoint here'],
    ['Compare versions'],
    ['Checkpoints'],
    [`Chat actions: ${title}`, `Rename chat: ${title}`],
    ['Model settings'],
    ['Data', 'Export my data'],
    ['Data', 'Import'],
    ['Keyboard'],
    ['Open contextree devtools'],
  ];
  return ways.flatMap((way) =>
    buttonCalled(way[0] as string) ? [{ name: nameOf(way), press: () => pressAll(way) }] : [],
  );
}

/** Something to press. */
export interface Pressable {
  /** What it is called. */
  readonly name: string;
  readonly press: () => Promise<void>;
}

function nameOf(way: readonly string[]): string {
  return (way.at(-1) as string).split(':', 1)[0] as string;
}

async function pressAll(way: readonly string[]): Promise<void> {
  for (const name of way) {
    buttonCalled(name)?.click();
    // What it opened is there with the next frame.
    await new Promise((resolve) => requestAnimationFrame(resolve));
  }
}

/** The last button of a name that can be pressed: of the actions of messages that is the last message's. */
function buttonCalled(name: string): HTMLElement | undefined {
  const devtools = document.querySelector('.devtools-place')?.firstElementChild?.shadowRoot;
  return [document, devtools]
    .flatMap((root) => [...(root?.querySelectorAll('button') ?? [])])
    .findLast(
      (button) =>
        !button.disabled && (button.getAttribute('aria-label') ?? button.textContent).trim() === name,
    );
}
