import type { UIMessage } from 'ai';
import type { ComponentProps, ReactNode } from 'react';

// Stands for `npx ai-elements add message`: the same names and props, without Tailwind, Radix and Streamdown.

export function Message({ from, ...props }: ComponentProps<'div'> & { from: UIMessage['role'] }): ReactNode {
  return <div data-from={from} {...props} />;
}

export function MessageContent(props: ComponentProps<'div'>): ReactNode {
  return <div {...props} />;
}

export function MessageResponse({ children }: { readonly children: string }): ReactNode {
  return <p>{children}</p>;
}

export function MessageToolbar(props: ComponentProps<'div'>): ReactNode {
  return <div {...props} />;
}

export function MessageActions(props: ComponentProps<'div'>): ReactNode {
  return <div {...props} />;
}

export function MessageAction({ tooltip, label, ...props }: MessageActionProps): ReactNode {
  return <button type="button" aria-label={label ?? tooltip} title={tooltip} {...props} />;
}

interface MessageActionProps extends ComponentProps<'button'> {
  tooltip?: string;
  label?: string;
}
