import { streamText } from 'ai';
import { toPrompt } from 'contextree/ai/local';
import { model } from './model.ts';

export async function POST(request: Request) {
  const { system, messages } = await request.json();
  const result = streamText({
    model,
    ...(await toPrompt({ systemPrompt: system, messages })),
  });
  return result.toUIMessageStreamResponse();
}
