import type { UIMessage } from 'ai';
import { BranchPicker } from 'contextree/ai';
import type { ReactNode } from 'react';
import {
  Message,
  MessageAction,
  MessageActions,
  MessageContent,
  MessageResponse,
  MessageToolbar,
} from './looks/aiElementsMessage.tsx';

/** A message in the components of AI Elements, with its versions beside its actions. */
export function ElementsMessage({ message, onRetry }: ElementsMessageProps): ReactNode {
  return (
    <Message from={message.role}>
      <MessageContent>
        {message.parts.map(
          (part, i) => part.type === 'text' && <MessageResponse key={i}>{part.text}</MessageResponse>,
        )}
      </MessageContent>
      <MessageToolbar>
        <BranchPicker
          messageId={message.id}
          className="flex items-center gap-1 text-sm tabular-nums"
          buttonClassName="size-8 rounded-md hover:bg-accent aria-disabled:opacity-50"
        />
        <MessageActions>
          <MessageAction label="Retry" tooltip="Another answer" onClick={onRetry}>
            <span aria-hidden="true">↻</span>
          </MessageAction>
        </MessageActions>
      </MessageToolbar>
    </Message>
  );
}

interface ElementsMessageProps {
  readonly message: UIMessage;
  readonly onRetry: () => void;
}
