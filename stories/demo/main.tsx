// First, as it says.
import { declareTrusted } from './trusted.ts';
import { IndexedDBContextStore } from 'contextree';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './App.tsx';
import { FIRST_CHAT } from './firstKeys.ts';
import { createLateAnswers } from './lateAnswers.ts';
import { createLosses } from './losses.ts';
import { keepForOffline } from './offline.ts';
import { createSettings } from './settings/settings.ts';
import type { FirstChat } from './shell/useFirstVisit.ts';
import './styles/index.css';

declareTrusted();

const speed = new URLSearchParams(location.search).get('speed');
const settings = createSettings();
const losses = createLosses();
const store = new IndexedDBContextStore('contextree', { onDataLoss: losses.tell });
const transport = createLateAnswers(async () => {
  const { createAnswers } = await import('./answers.ts');
  return createAnswers(settings, speed === null ? {} : { speed: Number(speed) });
});

// Tests, and whoever likes, begin with an empty chat.
const isEmpty = new URLSearchParams(location.search).has('empty');
const firstChat: FirstChat = {
  id: FIRST_CHAT,
  records: async () => (await import('./firstChat.ts')).firstChat(Date.now()),
};

const root = document.querySelector('#root');
if (root === null) throw new Error('index.html has no element with the id "root".');
createRoot(root).render(
  <StrictMode>
    <App
      store={store}
      transport={transport}
      settings={settings}
      losses={losses}
      {...(isEmpty ? {} : { firstChat })}
    />
  </StrictMode>,
);
keepForOffline();
