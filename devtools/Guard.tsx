import { errorOf } from './reason.ts';
import { Component, type ReactNode } from 'react';

interface GuardProps {
  readonly children: ReactNode;
  /** Renders a replacement for children that failed. */
  readonly renderFailure: (error: Error, retry: () => void) => ReactNode;
}

/** An error boundary: the app around the devtools never unmounts because of them. */
export class Guard extends Component<GuardProps, { readonly error: Error | null }> {
  override state: { readonly error: Error | null } = { error: null };

  static getDerivedStateFromError(error: unknown): { readonly error: Error } {
    return { error: errorOf(error) };
  }

  override render(): ReactNode {
    const { error } = this.state;
    return error
      ? this.props.renderFailure(error, () => this.setState({ error: null }))
      : this.props.children;
  }
}
