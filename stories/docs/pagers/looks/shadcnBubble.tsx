import type { ComponentProps, ReactNode } from 'react';

// Stands for `npx shadcn add bubble`.

export function Bubble({
  variant = 'default',
  ...props
}: ComponentProps<'div'> & { variant?: 'default' | 'muted' }): ReactNode {
  return <div data-slot="bubble" data-variant={variant} {...props} />;
}

export function BubbleContent(props: ComponentProps<'div'>): ReactNode {
  return <div data-slot="bubble-content" {...props} />;
}
