import type { ComponentProps, ReactNode } from 'react';

// Stands for `npx shadcn add button`.

export function Button({
  variant = 'default',
  size = 'default',
  ...props
}: ComponentProps<'button'> & { variant?: 'default' | 'ghost'; size?: 'default' | 'sm' }): ReactNode {
  return <button data-variant={variant} data-size={size} {...props} />;
}
