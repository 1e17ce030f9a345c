/** The programming interface: opens a crawl on a state directory and runs its steps. The only module that knows every room. */
import { createHash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createFileRobotsStore } from './adapters/files/robots-store.ts';
import { createFileSegmentStore } from './adapters/files/segment-store.ts';
import { createHostLanes } from './adapters/http/host-lanes.ts';
import { createRobots } from './adapters/http/robots.ts';
import { openLevelCrawlDb } from './adapters/leveldb/crawl-db.ts';
import { createSeenUrls } from './adapters/leveldb/seen-urls.ts';
import { loadForMainThread, urlChainOf, type WiredPlugins } from './crawler/plugins.ts';
import { recover } from './crawler/recover.ts';
import { systemClock } from './crawler/system-clock.ts';
import type { CrawlerOptions, Crawler } from './crawler/types.ts';
import { CrawlerOnDisk } from './crawler/crawler-on-disk.ts';
export type * from './crawler/types.ts';
