import {
  type Examination,
  examination,
  type ExaminedRecords,
  type ExamineOptions,
} from '../../src/graph/verify.ts';

/** What an examination says when it has taken all its steps. */
export function examine(records: ExaminedRecords, options: ExamineOptions): Examination {
  const steps = examination(records, options);
  for (let step = steps.next(); ; step = steps.next()) if (step.done) return step.value;
}
