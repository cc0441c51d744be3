import { InMemoryContextStore } from '../../src/store/memory.ts';
import { storeSuite } from '../support/storeSuite.ts';

storeSuite('InMemoryContextStore', async () => new InMemoryContextStore());
