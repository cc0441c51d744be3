import type { UIMessage } from 'ai';
import { createContext, use, type ComponentProps, type ReactNode } from 'react';

// Stands for `@assistant-ui/react`: as much of it as a message needs. There, the runtime provides the message; here,
// `OneMessage` does.

interface Scope {
  readonly message: UIMessage;
  readonly reload: () => void;
}

const Scoped = createContext<Scope | null>(null);

/** Stands for what `ThreadPrimitive.Messages` does for each message of the runtime. */
export function OneMessage({ children, ...scope }: Scope & { readonly children: ReactNode }): ReactNode {
  return <Scoped value={scope}>{children}</Scoped>;
}

function useScope(): Scope {
  const scope = use(Scoped);
  if (scope === null) throw new Error('Render this inside a message.');
  return scope;
}

export function useAuiState<T>(select: (state: { readonly message: UIMessage }) => T): T {
  return select(useScope());
}

export const MessagePrimitive = { Root, Parts };
export const ActionBarPrimitive = { Root, Reload };

function Root(props: ComponentProps<'div'>): ReactNode {
  return <div {...props} />;
}

function Parts(): ReactNode {
  return useScope().message.parts.map((part, i) => part.type === 'text' && <p key={i}>{part.text}</p>);
}

function Reload(props: ComponentProps<'button'>): ReactNode {
  const { reload } = useScope();
  return <button type="button" onClick={reload} {...props} />;
}
