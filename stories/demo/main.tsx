import { IndexedDBContextStore } from 'contextree';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createAnswers } from './answers.ts';
import { App } from './App.tsx';
import { keepForOffline } from './offline.ts';
import { createSettings } from './settings/settings.ts';
import './styles/index.css';

const speed = new URLSearchParams(location.search).get('speed');
const settings = createSettings();
const store = new IndexedDBContextStore('contextree', { journal: true });
const transport = createAnswers(settings, speed === null ? {} : { speed: Number(speed) });

const root = document.querySelector('#root');
if (root === null) throw new Error('index.html has no element with the id "root".');
createRoot(root).render(
  <StrictMode>
    <App store={store} transport={transport} settings={settings} />
  </StrictMode>,
);
keepForOffline();
