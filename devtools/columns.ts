/** What a person may have beside each message of the graph, in order. */
export const COLUMNS = ['time', 'tokens', 'cost', 'duration', 'model'] as const;

export type ColumnName = (typeof COLUMNS)[number];
