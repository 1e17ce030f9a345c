import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { workDir } from '../../../support/work-dir.ts';
import { startHosts, type WatchedHosts } from './watched-hosts.ts';

export const PARTITIONS = 4;
const HOSTS = 6;
/** Of each host its first page, six others, six that the host before links to, and one that is gone. */
export const URLS = HOSTS * 14;

/** Options of workers that crawl the watched hosts. */
export const NETWORK = ['--allow', '127.0.0.1', '--delay', '40ms', '-D', 'fetch.maxCrawlDelay=1s', '--quiet'];

/** Options of a spread crawl in a store. */
export const spreadAt = (dir: string, store: string, name: string): string[] => [
  ...['--dir', dir, '-D', `cluster.store=${store}`, '-D', `cluster.name=${name}`],
  ...['-D', 'cluster.lease=2s', '-D', `cluster.partitions=${PARTITIONS}`],
];

interface Server {
  readonly url: string;
  stop(): Promise<unknown>;
}

export interface SpreadPlace {
  /** URL of the store. */
  readonly url: string;
  readonly hosts: WatchedHosts;
  /** A new file with the first pages of the hosts. */
  seeds(): string;
}

/** A store and hosts to crawl, while the tests of a `describe` run. */
export function spreadPlace(open: () => Promise<Server>): SpreadPlace {
  let server: Server;
  let hosts: WatchedHosts;
  beforeAll(async () => {
    server = await open();
    hosts = await startHosts(HOSTS, 20);
  }, 60_000);
  afterAll(async () => {
    await hosts?.close();
    await server?.stop();
  });
  return {
    get url() {
      return server.url;
    },
    get hosts() {
      return hosts;
    },
    seeds() {
      const file = join(workDir(), 'seeds.txt');
      writeFileSync(file, hosts.origins.map((origin) => `${origin}/\n`).join(''));
      return file;
    },
  };
}
