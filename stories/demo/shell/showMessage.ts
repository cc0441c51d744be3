import type { ContextEngine } from 'contextree';

/** Shows a message on the most recently used branch that holds it, and scrolls it into view. */
export async function showMessage(engine: ContextEngine, key: string): Promise<void> {
  const isShown = engine.state.getState().messages.some(({ id }) => engine.node(id)?.key === key);
  if (!isShown) await engine.selectSibling(key);
  const id = engine.node(key)?.id ?? '';
  // It is on the page a few frames later.
  for (let frames = 0; frames < 30; frames += 1) {
    await new Promise((resolve) => requestAnimationFrame(resolve));
    const article = document.querySelector(`[data-message="${CSS.escape(id)}"]`);
    if (!article || frames < 3) continue;
    article.scrollIntoView({ block: 'center' });
    return;
  }
}
