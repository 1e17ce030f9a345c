import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { json, run } from '../../support/program.ts';
import { workDir } from '../../support/work-dir.ts';
import { type ChangingSite, startChangingSite } from '../support/changing-site.ts';

let site: ChangingSite;
beforeAll(async () => {
  site = await startChangingSite({ '/a': '<title>a</title><p>the page a', '/b': '<title>b</title><p>the page b' });
});
afterAll(() => site?.close());

const NETWORK = ['--allow', '127.0.0.1', '--delay', '0'];

it('a list is fetched step by step, without a crawl db before it', async () => {
  const cwd = workDir();
  writeFileSync(join(cwd, 'urls.txt'), `${site.origin}/a\n${site.origin}/b\nno url\n`);
  const dry = await run(['generate', '--from', 'urls.txt', '--dry-run'], { cwd });
  expect(dry.stdout).toContain('Would select 2 URLs of 1 host, out of 2 listed.');
  expect(dry.stderr).toContain('urls.txt:3:');
  const { segment, ...made } = await json(['generate', '--from', 'urls.txt'], { cwd });
  expect(made).toMatchObject({ selected: 2, list: { urls: 2, errors: [{ line: 3 }] } });
  expect(await json(['readdb', '--stats'], { cwd })).toMatchObject({ urls: 0 });
  await json(['fetch', '--parse', ...NETWORK], { cwd });
  expect(await json(['updatedb'], { cwd })).toMatchObject({ segment, applied: 2, new: 2 });
  expect(await json(['readdb', '--stats'], { cwd })).toMatchObject({ urls: 2, byStatus: { fetched: 2 } });
  expect(await json(['state', 'verify', '--deep'], { cwd })).toMatchObject({ findings: [] });
  // What is known and not due is fetched as well.
  const again = await json(['generate', '--from', '-'], { cwd, input: `${site.origin}/a\n` });
  expect(again).toMatchObject({ selected: 1 });
  expect(await json(['readdb', '--stats'], { cwd })).toMatchObject({ leased: 1 });
});

it('pages of a list stay, though no page links to them', async () => {
  const cwd = workDir();
  writeFileSync(join(cwd, 'urls.txt'), `${site.origin}/a\n${site.origin}/b\n`);
  await json(['generate', '--from', 'urls.txt'], { cwd });
  await json(['fetch', '--parse', ...NETWORK], { cwd });
  expect(await json(['updatedb', '--orphans', 'mark'], { cwd })).toMatchObject({ applied: 2, orphans: 0 });
  expect(await json(['readdb', '--stats'], { cwd })).toMatchObject({ byStatus: { fetched: 2 } });
  expect((await run(['explain', `${site.origin}/b`], { cwd })).stdout).toContain('It entered by a list');
});

it('options of the selection do not go with a list', async () => {
  const cwd = workDir();
  const { code, stderr } = await run(['generate', '--from', '-', '--top-n', '5'], { cwd, input: '' });
  expect([code, stderr]).toEqual([2, expect.stringContaining('--top-n')]);
  expect((await run(['generate', '--filter'], { cwd })).code).toBe(2);
});
