import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { useChat } from '@ai-sdk/react';
import {
  ActionBarPrimitive,
  AssistantRuntimeProvider,
  ComposerPrimitive,
  MessagePrimitive,
  ThreadPrimitive,
  useAuiState,
} from '@assistant-ui/react';
import { useAISDKRuntime } from '@assistant-ui/react-ai-sdk';
import { ContextEngineProvider, role, useFragments } from 'contextree';
import { BranchPicker, useContextChat } from 'contextree/ai';
import { createLocalTransport } from 'contextree/ai/local';

const transport = createLocalTransport({
  model: createOpenAICompatible({
    name: 'endpoint',
    baseURL: import.meta.env.VITE_BASE_URL ?? 'http://localhost:11434/v1',
  }).chatModel(import.meta.env.VITE_MODEL ?? 'llama3.2'),
  maxRetries: 0,
});

export function App() {
  return (
    <ContextEngineProvider chatId="guide" userId="me">
      <Chat />
    </ContextEngineProvider>
  );
}

function Chat() {
  useFragments(role('You are a concise tutor.'));
  // A message of its own for each of ours: the picker asks for it by its id.
  const runtime = useAISDKRuntime(useChat(useContextChat({ transport })), { joinStrategy: 'none' });
  return (
    <AssistantRuntimeProvider runtime={runtime}>
      <ThreadPrimitive.Root>
        <ThreadPrimitive.Viewport>
          <ThreadPrimitive.Messages components={{ Message: ThreadMessage, EditComposer: EditMessage }} />
        </ThreadPrimitive.Viewport>
        <ComposerPrimitive.Root>
          <ComposerPrimitive.Input aria-label="Message" />
          <ComposerPrimitive.Send>Send</ComposerPrimitive.Send>
          <ComposerPrimitive.Cancel>Stop</ComposerPrimitive.Cancel>
        </ComposerPrimitive.Root>
      </ThreadPrimitive.Root>
    </AssistantRuntimeProvider>
  );
}

function ThreadMessage() {
  const id = useAuiState(({ message }) => message.id);
  const isMine = useAuiState(({ message }) => message.role === 'user');
  return (
    <MessagePrimitive.Root asChild>
      <article aria-label={isMine ? 'You' : 'Assistant'}>
        <MessagePrimitive.Parts />
        <MessagePrimitive.Error />
        {/* In place of `BranchPickerPrimitive`, which knows the versions of this visit only. */}
        <BranchPicker messageId={id} />
        <ActionBarPrimitive.Root>
          {isMine ? (
            <ActionBarPrimitive.Edit>Edit</ActionBarPrimitive.Edit>
          ) : (
            <ActionBarPrimitive.Reload>Try again</ActionBarPrimitive.Reload>
          )}
        </ActionBarPrimitive.Root>
      </article>
    </MessagePrimitive.Root>
  );
}

function EditMessage() {
  return (
    <ComposerPrimitive.Root>
      <ComposerPrimitive.Input aria-label="Edited text" />
      <ComposerPrimitive.Send>Send edit</ComposerPrimitive.Send>
      <ComposerPrimitive.Cancel>Cancel</ComposerPrimitive.Cancel>
    </ComposerPrimitive.Root>
  );
}
