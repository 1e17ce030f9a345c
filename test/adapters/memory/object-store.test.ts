import { createMemoryObjectStore } from '../../../src/adapters/memory/object-store.ts';
import { objectStoreContract } from '../../contracts/objects/object-store.contract.ts';

objectStoreContract('memory', async () => createMemoryObjectStore());
