import { readdirSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { startChangingSite } from '../../../cli/support/changing-site.ts';
import { workDir } from '../../../support/work-dir.ts';
import { json, run } from '../../support/binary.ts';

const page = (title: string): string => `<!doctype html><title>${title}</title><main><p>Words of a page.</p></main>`;

it('an export takes the pages that match; a mistake in the expression is told before anything is written', async () => {
  const cwd = workDir();
  const site = await startChangingSite({ '/a': page('Offer'), '/b': page('Other') });
  onTestFinished(() => site.close());
  await json(['crawl', ...['/a', '/b'].map((path) => site.origin + path), '--allow', '127.0.0.1', '--delay', '0'], {
    cwd,
  });
  const { stdout } = await run(['export', '--where', 'title ~ OFFER'], { cwd });
  expect(
    stdout
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { url: string }).url),
  ).toEqual([`${site.origin}/a`]);
  expect(await run(['export', '--where', 'titel ~ offer', '-o', 'pages.jsonl'], { cwd })).toEqual({
    code: 2,
    stdout: '',
    stderr: 'incrawl: where, column 1: there is no field "titel"; did you mean title?\n',
  });
  expect(readdirSync(cwd)).toEqual(['crawldb']);
});
