import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run as runHere } from '../../../support/program.ts';
import { workDir } from '../../../support/work-dir.ts';
import { NO_POSTGRES, type PostgresServer, startPostgres } from '../../cluster/postgres/postgres-server.ts';
import { start } from '../../support/binary.ts';
import { type Shop, serving, shop } from './apps.ts';
import { noBrowser } from './browser.ts';

const PAGES = 6;
const missing = noBrowser ?? NO_POSTGRES;

describe.skipIf(missing !== null)(`rendering by workers of one crawl${missing === null ? '' : ` (${missing})`}`, () => {
  let server: PostgresServer;
  const closers: (() => Promise<unknown>)[] = [];
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(async () => {
    for (const close of closers) await close();
    await server.stop();
  });

  it('each page is rendered by one of them, whose browser ends with it', async () => {
    const sites: Shop[] = [];
    const origins: string[] = [];
    for (let i = 0; i < 3; i++) {
      const site = shop(PAGES, 'application');
      const { origin, close } = await serving(site.answer);
      sites.push(site);
      origins.push(origin);
      closers.push(close);
    }
    const dir = join(workDir(), 'shared');
    const cluster = { store: server.url, name: 'rendered', lease: '2s', partitions: '2', partitionsAtOnce: '1' };
    const keys = Object.entries(cluster).flatMap(([key, value]) => ['-D', `cluster.${key}=${value}`]);
    const where = ['--dir', dir, ...keys];
    const settings = ['--allow', '127.0.0.1', '--delay', '0', '--quiet', '-D', 'render.mode=auto', '--json'];
    const first = start(['work', ...origins.map((origin) => `${origin}/`), ...where, ...settings]);
    let hasEnded = false;
    void first.finished.then(() => {
      hasEnded = true;
    });
    // One that came before the seeds would find nothing to do.
    while (!hasEnded && sites.every(({ asked }) => asked.length === 0)) await new Promise((end) => setTimeout(end, 20));
    const second = start(['work', ...where, ...settings]);
    for (const { code, stdout, stderr } of await Promise.all([first.finished, second.finished])) {
      expect([code, stderr]).toEqual([0, expect.not.stringContaining('error')]);
      expect(JSON.parse(stdout)).toMatchObject({ stoppedBy: 'nothing-due' });
    }
    const { stdout } = await runHere(['readdb', '--where', 'rendered', '--format', 'jsonl', ...where]);
    expect(stdout.trim().split('\n')).toHaveLength(PAGES * origins.length);
    for (const { asked } of sites) {
      expect(asked.filter((path) => path !== '/sitemap.xml' && !path.startsWith('/app.'))).toHaveLength(2 * PAGES);
    }
    expect(readdirSync(join(dir, 'browsers'))).toEqual([]);
  }, 180_000);
});
