import { createMemorySeenUrls } from '../../../src/adapters/memory/seen-urls.ts';
import { seenUrlsContract } from '../../contracts/seen-urls.contract.ts';

seenUrlsContract('memory', (hasMany) => createMemorySeenUrls({ hasMany }));
