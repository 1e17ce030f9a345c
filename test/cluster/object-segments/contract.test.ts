import { join } from 'node:path';
import { segmentStoreContract } from '../../contracts/segment-store.contract.ts';
import { createMemoryObjectStore } from '../../memory/object-store.ts';
import { temporaryFolders } from '../../store/files/temporary-folder.ts';
import { storesOn } from './stores-on.ts';

const newFolder = temporaryFolders();

const storeOn = storesOn(() => join(newFolder(), 'spool'));

segmentStoreContract('objects in memory', async () => {
  const objects = createMemoryObjectStore();
  return { store: storeOn(objects), reopen: () => storeOn(objects), end: async () => undefined };
});
