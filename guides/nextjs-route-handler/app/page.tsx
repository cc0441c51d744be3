import { Chat } from './Chat.tsx';

// Rendered on the server, where no conversation is: the browser reads it when the page is there.
export default function Page() {
  return <Chat />;
}
