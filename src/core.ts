// What contextree is, without React, in reading order. Servers and workers import this entry; `index.ts` adds the hooks.

// Every failure is one of these.
export { ContextError, isContextError } from './errors.ts';
export type { CallerErrorCode, ContextErrorCode, ContextErrorOptions, WorldErrorCode } from './errors.ts';

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

// The vocabulary of a prompt.
export {
  alias,
  analogy,
  clarification,
  correction,
  example,
  explain,
  glossary,
  guardrail,
  hint,
  identity,
  persona,
  policy,
  preference,
  principle,
  quirk,
  role,
  styleGuide,
  term,
  workflow,
} from './fragment/builders.ts';
export type { FragmentText } from './fragment/builders.ts';

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

// How large a prompt is for a model, and what it costs.
export { estimate } from './engine/estimate.ts';
export { loadModels, registerModel } from './tokens/models.ts';
export type { LoadModelsOptions, ModelEntry } from './tokens/catalogue.ts';
export type { ModelInfo, ModelPrices } from './tokens/prices.ts';
export type { BatchTokenizer } from './tokens/count.ts';
export type { HiddenMark } from './tokens/hidden.ts';
export type { EstimateResult, FragmentShare, Limits, Share } from './tokens/estimate.ts';
export type { Spending, TokensByKind } from './tokens/spending.ts';
export { estimateTokens } from './tokens/tokenizer.ts';
export type { Tokenizer } from './tokens/tokenizer.ts';

// The conversation as a graph.
export type { Branch, Chat, Checkpoint, Fork, MessageNode, MessageStatus, NodeInfo } from './graph/graph.ts';
export type { Finding, FindingKind } from './graph/verify.ts';
export { visualizeGraph } from './graph/visualize.ts';
export type { GraphData, GraphNode } from './graph/visualize.ts';

// Where it is kept.
export { InMemoryContextStore } from './store/memory.ts';
export { IndexedDBContextStore } from './store/indexeddb/store.ts';
export type { IndexedDBOptions } from './store/indexeddb/store.ts';
export type { DataLoss, Restored } from './store/loss.ts';
export type { JournalFigures, StorageFigures } from './store/figures.ts';
export type {
  AppendOptions,
  AppendResult,
  BranchInfo,
  Change,
  ChatFilter,
  ChatInfo,
  ChatRecords,
  CheckpointInfo,
  ConflictPolicy,
  ContextStore,
  DraftOptions,
  Persistence,
  SearchOptions,
  SearchResult,
  StoreNotice,
  StoreOp,
} from './store/store.ts';

// The engine: one chat, as one tab works on it.
export { ContextEngine } from './engine/engine.ts';
export type {
  AttachedChat,
  BranchOption,
  ContextEngineOptions,
  ContinueOptions,
  MessageContent,
  ResolveOptions,
  ResolveResult,
  SaveResult,
} from './engine/engine.ts';
export type { Versions } from './engine/history.ts';
export type { ContextSnapshot, EstimateOptions, FragmentSnapshot, InspectOptions } from './engine/inspect.ts';
export type { Repair } from './engine/repair.ts';
export { maskSecrets } from './engine/maskSecrets.ts';
export type { ContextEvent, EngineState, SaveState } from './engine/state.ts';
