const DAY = /(?<=.)[-@]20\d\d(-?)(?:0[1-9]|1[0-2])\1(?:0[1-9]|[12]\d|3[01])$/;

/** A model's id without the day of its snapshot: `openai:gpt-4o` for `openai:gpt-4o-2024-08-06`. */
export function undated(modelId: string): string {
  return modelId.replace(DAY, '');
}

/** The last piece of a model's id: providers, gateways and apps prefix names in their ways. */
export function bareName(modelId: string): string {
  return modelId.slice(Math.max(modelId.lastIndexOf(':'), modelId.lastIndexOf('/')) + 1);
}

/** What all snapshots of a model have in common, whoever provides them. */
export function familyOf(modelId: string): string {
  return undated(bareName(modelId)).toLowerCase();
}
