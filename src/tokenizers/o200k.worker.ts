// The Worker started by o200k-worker.ts. Its table is imported at once: bundlers split no worker further.
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { serve } from './thread.ts';

serve(countTokens);
