import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { prepare, run } from '../../support/program.ts';
import { workDir } from '../../support/work-dir.ts';
import { type ChangingSite, startChangingSite } from '../support/changing-site.ts';

const WORDS = 'Words enough for the content of a page, which says something, and then something else again.';
const PAGE = `<title>T</title><meta property="og:type" content="article"><nav><a href="/a">A page of it</a></nav><main><h1>Mills</h1>${`<p>${WORDS}</p>`.repeat(5)}</main><div class="comments"><p>A comment.</p></div><footer>Imprint</footer>`;
const cwd = workDir();
let site: ChangingSite;

beforeAll(async () => {
  site = await startChangingSite({ '/': PAGE });
  await prepare(['crawl', `${site.origin}/`, '--allow', '127.0.0.1', '--delay', '0', '--rounds', '1', '--quiet'], {
    cwd,
  });
});
afterAll(() => site.close());

async function exported(file: string, ...flags: string[]): Promise<string> {
  const { code } = await run(['export', '-o', file, ...flags], { cwd });
  expect(code).toBe(0);
  return readFileSync(join(cwd, file), 'utf8');
}

it('--whole writes all but the navigation, as Markdown and as text', async () => {
  const main = await exported('main.md', '--format', 'markdown');
  const whole = await exported('whole.md', '--format', 'markdown', '--whole');
  expect(main).toMatch(/^---\n[\s\S]*\n---\n\n# Mills\n/);
  expect(whole.trimEnd()).toBe(`${main.trimEnd()}\n\nA comment.`);
  const texts = [];
  for (const flags of [[], ['--whole']]) {
    const { text } = JSON.parse(await exported('pages.jsonl', '--force', ...flags)) as { text: string };
    texts.push(text);
  }
  expect(texts[1]).toBe(`${texts[0]}\nA comment.`);
  expect(texts[1]).not.toContain('Imprint');
});
