import { ContextDevtools } from 'contextree/devtools';
import { createWorkerTokenizer } from 'contextree/tokenizers/o200k-worker';

const tokenizer = createWorkerTokenizer();

export const devtools = <ContextDevtools tokenizer={tokenizer} modelId="openai:gpt-4o" />;
