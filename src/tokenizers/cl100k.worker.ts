// The Worker started by cl100k-worker.ts. Its table is imported at once: bundlers split no worker further.
import { countTokens } from 'gpt-tokenizer/encoding/cl100k_base';
import { serve } from './thread.ts';

serve(countTokens);
