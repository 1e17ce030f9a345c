import { readdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { DbStats } from '../../../../src/core/steps/records/stats.ts';
import { createGate } from '../../../cli/support/gate.ts';
import { startSite } from '../../../cli/support/local-site.ts';
import { afterThisTest } from '../../../support/ends.ts';
import { workDir } from '../../../support/work-dir.ts';
import { json, type Running, start } from '../../support/binary.ts';

const NETWORK = ['--allow', '127.0.0.1', '--delay', '0'];

/** A crawl that waits for its first page, told to stop by the signal. */
async function stoppedBy(signal: NodeJS.Signals) {
  const gate = createGate();
  const site = await startSite({ pages: 3, gate });
  afterThisTest(() => site.close());
  gate.closeAfter(0);
  const cwd = workDir();
  const crawl = start(['crawl', `${site.origin}/`, ...NETWORK], { cwd });
  await site.seen(1);
  crawl.child.kill(signal);
  await hintOf(crawl);
  return { crawl, gate, site, cwd };
}

const hintOf = ({ child, finished }: Running): Promise<void> =>
  new Promise((resolve, reject) => {
    let said = '';
    child.stderr?.on('data', (text: string) => {
      said += text;
      if (said.includes('second signal')) resolve();
    });
    void finished.then(({ code, stderr }) => reject(new Error(`ended with ${code}: ${stderr}`)));
  });

it.each(['SIGINT', 'SIGTERM'] as const)('%s ends a crawl after the pages in flight', async (signal) => {
  const { crawl, gate, site } = await stoppedBy(signal);
  gate.open();
  expect((await crawl.finished).code).toBe(11);
  expect(site.log).toEqual(['/']);
});

it('the second signal ends it at once: exit code 13, and the state is still good', async () => {
  const { crawl, cwd } = await stoppedBy('SIGINT');
  crawl.child.kill('SIGINT');
  expect((await crawl.finished).code).toBe(13);
  expect(readdirSync(cwd)).toEqual(['crawldb']);
  expect(await json<DbStats>(['readdb', '--stats'], { cwd })).toMatchObject({ urls: 1 });
});
