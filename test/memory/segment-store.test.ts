import { describe, expect, it } from 'vitest';
import { segmentStoreContract } from '../contracts/segment-store.contract.ts';
import { createMemoryRobotsStore } from './robots-store.ts';
import { createMemorySegmentStore } from './segment-store.ts';

segmentStoreContract('memory', async () => {
  const store = createMemorySegmentStore();
  return { store, reopen: () => store, end: async () => undefined };
});

describe('memory: robots store', () => {
  it('keeps an entry per origin', async () => {
    const store = createMemoryRobotsStore();
    const entry = { text: 'User-agent: *', status: 200, fetchedAt: 5, usableAt: 5 };
    await store.save('https://a.example', entry);
    expect(await store.load('https://a.example')).toEqual(entry);
    expect(await store.load('http://a.example')).toBeUndefined();
  });
});
