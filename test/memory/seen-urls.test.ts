import { seenUrlsContract } from '../contracts/seen-urls.contract.ts';
import { createMemorySeenUrls } from './seen-urls.ts';

seenUrlsContract('memory', (hasMany) => createMemorySeenUrls({ hasMany }));
