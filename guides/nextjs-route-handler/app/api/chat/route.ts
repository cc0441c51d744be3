import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { streamText, type UIMessage } from 'ai';
import { toPrompt } from 'contextree/ai/local';

/** What the browser sends: its rendered prompt, where it has one, and the messages of the branch that is shown. */
interface Body {
  readonly system?: string;
  readonly messages: UIMessage[];
}

export async function POST(request: Request): Promise<Response> {
  const { system, messages } = (await request.json()) as Body;
  const provider = createOpenAICompatible({
    name: 'endpoint',
    baseURL: process.env['BASE_URL'] ?? 'https://api.openai.com/v1',
    ...(process.env['API_KEY'] && { apiKey: process.env['API_KEY'] }),
  });
  const result = streamText({
    model: provider.chatModel(process.env['MODEL'] ?? 'gpt-4.1-mini'),
    ...(await toPrompt({ systemPrompt: system, messages })),
    // A person who presses Stop stops the model, too.
    abortSignal: request.signal,
    maxRetries: 0,
  });
  return result.toUIMessageStreamResponse();
}
