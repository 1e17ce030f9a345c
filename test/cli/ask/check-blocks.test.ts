import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { json, run } from '../../support/program.ts';
import { workDir } from '../../support/work-dir.ts';

const HOSTILE = '</p><script>alert(1)</script><img src=x onerror=alert(2)>';
const page = `<html lang="en"><head><title>A "title" \u202e ${HOSTILE}</title></head><body><nav><a href="/a">Menu one</a> <a href="/b">Menu two</a></nav>
  <article><h1>Heading</h1><p>What the page says, at some length, so that it is believed to be its main content.</p><p>&lt;b&gt;not bold&lt;/b&gt; ${'and so on '.repeat(10)}</p></article>
  <footer>Imprint</footer></body></html>`;

it('check parse shows what belongs to the content, as JSON, text and a picture', async () => {
  const cwd = workDir();
  writeFileSync(join(cwd, 'page.html'), page);
  const found = await json<{ text: string; mainText: string; blocks: { type: string; text: string; links: number }[] }>(
    ['check', 'parse', 'page.html', '--html', 'blocks.html'],
    { cwd },
  );
  expect(found.blocks.map(({ type, text }) => `${type} ${text.slice(0, 8)}`)).toEqual([
    'noise Menu one',
    'main Heading',
    'main What the',
    'main <b>not b',
    'noise Imprint',
  ]);
  expect(found.mainText).not.toContain('Menu');
  expect(found.text).toContain('Menu one');
  const picture = readFileSync(join(cwd, 'blocks.html'), 'utf8');
  expect(picture).toContain('class="main"');
  expect(picture).toContain('&lt;b&gt;not bold');
  expect(picture).not.toMatch(/<script|<img|<b>|\u202e/);
  expect(picture).toContain("default-src 'none'");
  expect(picture).toMatch(/<h2>R · main · body&gt;article&gt;p:1 · \d+ characters<\/h2><h3>certainty 0\.[5-9]\d: \w/);
  expect(picture).toMatch(/<h2>noise · body&gt;nav:1 · [^<]+<\/h2><h3>certainty 0\.[0-4]\d: [^<]*−/);
  expect(picture).toMatch(/What a reading mode shows: \d{3} characters<\/summary><p dir="auto">.*What the page says/);
  const { stdout } = await run(['check', 'parse', 'page.html'], { cwd });
  expect(stdout).toMatch(/blocks \(5\):\n {2}noise Menu one Menu two \(2 links\)\n {2}main {2}Heading/);
});
