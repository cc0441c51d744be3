import type { UIMessage } from 'ai';
import { BranchPicker } from 'contextree/ai';
import type { ReactNode } from 'react';
import { Bubble, BubbleContent } from './looks/shadcnBubble.tsx';
import { Button } from './looks/shadcnButton.tsx';
import { Message, MessageContent, MessageFooter } from './looks/shadcnMessage.tsx';

/** A message in the components of shadcn/ui, with its versions in the footer. */
export function ChatMessage({ message, onRetry }: ChatMessageProps): ReactNode {
  const isMine = message.role === 'user';
  return (
    <Message align={isMine ? 'end' : 'start'}>
      <MessageContent>
        <Bubble variant={isMine ? 'default' : 'muted'}>
          <BubbleContent>
            {message.parts.map((part) => (part.type === 'text' ? part.text : ''))}
          </BubbleContent>
        </Bubble>
        <MessageFooter>
          <BranchPicker
            messageId={message.id}
            className="flex items-center gap-1"
            buttonClassName="size-8 rounded-md hover:bg-accent aria-disabled:opacity-50"
            icons={{ previous: '←', next: '→' }}
          />
          <Button type="button" variant="ghost" size="sm" onClick={onRetry}>
            Try again
          </Button>
        </MessageFooter>
      </MessageContent>
    </Message>
  );
}

interface ChatMessageProps {
  readonly message: UIMessage;
  readonly onRetry: () => void;
}
