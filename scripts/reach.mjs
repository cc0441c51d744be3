import { root } from './entries.mjs';

/**
 * A source, and all modules that it imports at once, or later too: for the bundles that put together what is loaded together.
 * @param {string} source path below the root
 * @param {import('vite').Rolldown.ChunkingContext} graph
 * @param {'later too'} [later]
 * @returns {Set<string>}
 */
export function reach(source, graph, later) {
  const modules = new Set([`${root}/${source}`]);
  for (const module of modules) {
    const { importedIds = [], dynamicallyImportedIds = [] } = graph.getModuleInfo(module) ?? {};
    for (const to of later ? [...importedIds, ...dynamicallyImportedIds] : importedIds) modules.add(to);
  }
  return modules;
}
