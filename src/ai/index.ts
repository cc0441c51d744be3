/** `contextree/ai`: the AI SDK's `useChat`, on a tree. */
export { useContextChat, type UseContextChatOptions } from './useContextChat.ts';
export { BranchPicker, type BranchPickerLabels, type BranchPickerProps } from '../react/BranchPicker.tsx';
export { createContextChats, type ContextChats, type ContextChatsOptions } from './contextChats.ts';
export type { ContextChat, ContextChatOptions } from './contextChat.ts';
export { withContext, type FollowingChat, type WithContextOptions } from './withContext.ts';
export type { PrepareRequest, RequestNote, RequestParts, ResolvedRequest } from './transport.ts';
export {
  toPrompt,
  toSimpleMessages,
  type ModelPrompt,
  type Resolved,
  type SimpleMessage,
  type ToPromptOptions,
} from './prompt.ts';
