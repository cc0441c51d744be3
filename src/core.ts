// The package without React, in reading order. Servers and workers import this entry; `index.ts` adds the hooks.

// Every failure is one of these.
export { ContextError, isContextError } from './errors.ts';
export type { ContextErrorCode } from './errors.ts';

// Fragments: what a prompt is made of.
export {
  fragment,
  getFragmentData,
  isFragment,
  isFragmentObject,
  isLazyFragment,
  isMessageFragment,
  LAZY_ID,
} from './fragment/fragment.ts';
export type {
  ContextFragment,
  FragmentCodec,
  FragmentData,
  FragmentType,
  LazyConfig,
  LazyFragment,
  LazyValue,
  LoadContext,
} from './fragment/fragment.ts';

// The vocabulary of a prompt: `role`, `hint`, `guardrail` and the others.
export * from './fragment/builders.ts';

// Messages as fragments.
export {
  assistant,
  assistantText,
  lastAssistantMessage,
  message,
  toMessageFragment,
  user,
} from './fragment/message.ts';
export type { MessageOptions } from './fragment/message.ts';

// Fragments as plain data, to be stored or sent.
export { encodeSerializedValue, fromFragment, toFragment } from './fragment/serialize.ts';
export type { RegistryEntry, SerializedFragment, SerializeOptions } from './fragment/serialize.ts';

// Fragments as text.
export { render, XmlRenderer } from './render/xml.ts';
export { MarkdownRenderer } from './render/markdown.ts';
export { TomlRenderer } from './render/toml.ts';
export { ToonRenderer } from './render/toon.ts';
export type { ContextRenderer, GroupOptions } from './render/renderer.ts';

// The size of a prompt for a model, and its cost; `contextree/tokens` has prices and tokenizers.
export { estimate } from './engine/estimate.ts';
export type { EstimateResult } from './tokens/estimate.ts';

// The conversation as a graph.
export type { MessageStatus } from './graph/graph.ts';
export type { NodeInfo } from './graph/messages.ts';
export type { Finding } from './graph/verify.ts';
export { visualizeGraph } from './graph/visualize.ts';
export type { GraphData, GraphNode } from './graph/visualize.ts';

// Stores; authors of stores import `contextree/store`.
export { InMemoryContextStore } from './store/memory.ts';
export { IndexedDBContextStore } from './store/indexeddb/store.ts';
export type { IndexedDBOptions } from './store/indexeddb/store.ts';
export type { ChatRow, ContextStore, SearchOptions, SearchResult, StorageFigures } from './store/store.ts';

// The engine: one chat, as one tab works on it.
export { ContextEngine } from './engine/engine.ts';
export type {
  ContextEngineOptions,
  MessageContent,
  ResolveOptions,
  ResolveResult,
  SaveResult,
} from './engine/options.ts';
export type { CallFacts } from './engine/calls.ts';
export type { Comparison } from './engine/compare.ts';
export type { Operation } from './engine/history.ts';
export type { PastGraph } from './engine/past.ts';
export type { ContextSnapshot, EstimateOptions, InspectOptions } from './engine/inspect.ts';
export type { Repair } from './engine/repair.ts';
export { maskSecrets } from './secrets/maskSecrets.ts';
export type {
  BranchInfo,
  Chat,
  CheckpointInfo,
  ContextEvent,
  EngineState,
  SaveState,
  Versions,
} from './engine/state.ts';
