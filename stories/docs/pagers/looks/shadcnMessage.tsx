import type { ComponentProps, ReactNode } from 'react';

// Stands for `npx shadcn add message`.

export function Message({
  align = 'start',
  ...props
}: ComponentProps<'div'> & { align?: 'start' | 'end' }): ReactNode {
  return <div data-slot="message" data-align={align} {...props} />;
}

export function MessageContent(props: ComponentProps<'div'>): ReactNode {
  return <div data-slot="message-content" {...props} />;
}

export function MessageFooter(props: ComponentProps<'div'>): ReactNode {
  return <div data-slot="message-footer" {...props} />;
}
