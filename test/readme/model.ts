import type { LanguageModel } from 'ai';
import { createDemoModel } from '../../stories/demo/model.ts';

/** The model of the README's route: the demo's, which needs no network. */
export const model: LanguageModel = createDemoModel({ speed: 0 });
