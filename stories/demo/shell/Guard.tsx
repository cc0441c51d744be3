import { Component, type ReactNode } from 'react';

/**
 * An error boundary for a part of the page. Without it one message that fails to render would take the whole page down, again
 * after each reload.
 */
export class Guard extends Component<GuardProps, { readonly error: unknown; readonly failed: boolean }> {
  override state: { readonly error: unknown; readonly failed: boolean } = { error: undefined, failed: false };

  static getDerivedStateFromError(error: unknown): { readonly error: unknown; readonly failed: true } {
    return { error, failed: true };
  }

  override render(): ReactNode {
    const { error, failed } = this.state;
    return failed ? this.props.renderFailure(error) : this.props.children;
  }
}

interface GuardProps {
  readonly children: ReactNode;
  /** What stands in its place. */
  readonly renderFailure: (error: unknown) => ReactNode;
}
