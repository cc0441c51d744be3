import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

it('the app on contextree is the plain app but for one line and the provider around it', () => {
  const [plain, ours] = ['PlainApp', 'ContextApp'].map((name) =>
    readFileSync(`${import.meta.dirname}/${name}.tsx`, 'utf8')
      .split('\n')
      .map((line) => line.trim()),
  ) as [string[], string[]];
  expect(plain.filter((line) => !ours.includes(line))).toEqual([
    'return <Chat {...props} />;',
    'const chat = useChat({ ...init, experimental_throttle: throttle, resume });',
  ]);
  expect(ours.filter((line) => !plain.includes(line))).toEqual([
    "import { ContextEngineProvider } from 'contextree';",
    "import { useContextChat } from 'contextree/ai';",
    'return (',
    '<ContextEngineProvider chatId={props.chatId} userId="me" store={props.store}>',
    '<Chat {...props} />',
    '</ContextEngineProvider>',
    ');',
    'const chat = useChat({ ...useContextChat(init), experimental_throttle: throttle, resume });',
  ]);
});
