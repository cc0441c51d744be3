import type { UIMessage } from 'ai';
import type { ComponentProps, ReactNode } from 'react';

// Stands for `npx ai-elements add message`: the same names and props, without Tailwind, Radix and Streamdown.

export function Message({ from, ...props }: ComponentProps<'div'> & { from: UIMessage['role'] }): ReactNode {
  return <div data-from={from} {...props} />;
}

export function MessageContent(props: ComponentProps<'div'>): ReactNode {
  return <div {...props} />;
}

export function MessageResponse({ children }: { readonly children?: string }): ReactNode {
  return <p>{children}</p>;
}

export function MessageToolbar(props: ComponentProps<'div'>): ReactNode {
  return <div {...props} />;
}

export function MessageActions(props: ComponentProps<'div'>): ReactNode {
  return <div {...props} />;
}

export function MessageAction({
  tooltip,
  label,
  variant = 'ghost',
  size = 'icon-sm',
  children,
  ...props
}: MessageActionProps): ReactNode {
  return (
    <button type="button" data-variant={variant} data-size={size} title={tooltip} {...props}>
      {children}
      <span className="sr-only">{label ?? tooltip}</span>
    </button>
  );
}

interface MessageActionProps extends ComponentProps<'button'> {
  tooltip?: string;
  label?: string;
  variant?: 'default' | 'ghost' | 'outline';
  size?: 'default' | 'sm' | 'icon' | 'icon-sm';
}
