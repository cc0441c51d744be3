/** The optional columns of the graph, in order. */
export const COLUMNS = ['time', 'tokens', 'cost', 'duration', 'model'] as const;

export type ColumnName = (typeof COLUMNS)[number];
