/** A call of a tool, of whichever tool and version of the AI SDK. */
export interface ToolPart {
  readonly type: string;
  readonly toolCallId: string;
  readonly state: string;
  readonly preliminary?: boolean;
  readonly approval?: { readonly id: string };
}

/** Whether a part is a call of a tool. */
export function isToolPart(part: { readonly type: string }): part is ToolPart {
  return part.type === 'dynamic-tool' || part.type.startsWith('tool-');
}

/** Whether a call of a tool waits for its result, or for leave. */
export function isWaiting({ state }: ToolPart): boolean {
  return state === 'input-available' || state === 'approval-requested';
}
