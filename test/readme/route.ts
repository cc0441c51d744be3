import { convertToModelMessages, streamText } from 'ai';
import { model } from './model.ts';

export async function POST(request: Request) {
  const { system, messages } = await request.json();
  const result = streamText({
    model,
    instructions: system,
    messages: await convertToModelMessages(messages),
  });
  return result.toUIMessageStreamResponse();
}
