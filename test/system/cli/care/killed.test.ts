import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { BackupSummary, VerifySummary } from '../../../../src/crawler/index.ts';
import { createGate } from '../../../cli/support/gate.ts';
import { startSite } from '../../../cli/support/local-site.ts';
import { workDir } from '../../../support/work-dir.ts';
import { json, run, start } from '../../support/binary.ts';

it('what a killed crawl leaves needs no repair, and goes on as a backup does that was made beside it', async () => {
  const gate = createGate();
  const site = await startSite({ pages: 4, gate });
  gate.closeAfter(3);
  const dir = join(workDir(), 'held');
  const network = ['--allow', '127.0.0.1', '--delay', '0'];
  const crawl = start(['crawl', `${site.origin}/`, ...network, '--dir', dir]);
  await site.seen(4);
  // Another process has it: it is asked, or read beside.
  expect((await run(['state', 'repair', '--dir', dir])).code).toBe(5);
  const folder = join(workDir(), 'backup');
  const { rows } = await json<BackupSummary>(['state', 'backup', folder, '--dir', dir]);
  expect(await json<VerifySummary>(['state', 'verify', '--deep', '--dir', dir])).toMatchObject({ sound: true });
  crawl.child.kill('SIGKILL');
  expect((await crawl.finished).code).toBeNull();
  gate.open();
  expect(await json<VerifySummary>(['state', 'verify', '--deep', '--dir', dir])).toMatchObject({ sound: true });

  const restored = join(workDir(), 'restored');
  expect(await json<BackupSummary>(['state', 'restore', folder, '--dir', restored])).toMatchObject({ rows });
  const ends = [dir, restored].map(async (each) => {
    expect(await run(['crawl', ...network, '--dir', each])).toMatchObject({ code: 0 });
    const records = await json<{ url: string; state: string }[]>(['readdb', '--dump', '--dir', each]);
    return records.map(({ url, state }) => `${url} ${state}`).sort();
  });
  const [killed, copied] = await Promise.all(ends);
  expect(copied).toEqual(killed);
  await site.close();
});
