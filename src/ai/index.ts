/** `contextree/ai`: the AI SDK's `useChat`, on a tree. */
export { useContextChat, type UseContextChatOptions } from './useContextChat.ts';
export { BranchPicker, type BranchPickerLabels, type BranchPickerProps } from '../react/BranchPicker.tsx';
export { createContextChats, type ContextChats, type ContextChatsOptions } from './contextChats.ts';
export type {
  ContextChat,
  ContextChatOptions,
  PrepareRequest,
  RequestNote,
  RequestParts,
  ResolvedRequest,
} from './contextChat.ts';
export { withContext } from './withContext.ts';
export type { Told } from '../record/record.ts';
export * from './prompt.ts';
