import { Component, type ReactNode } from 'react';

/**
 * Keeps what fails to be shown in its place. Without it one message that can't be shown would take the whole page
 * along, and a reload would meet the same message again.
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
