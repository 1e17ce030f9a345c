import { objectStoreContract } from '../contracts/objects/object-store.contract.ts';
import { createMemoryObjectStore } from './object-store.ts';

objectStoreContract('memory', async () => createMemoryObjectStore());
