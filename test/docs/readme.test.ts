import { createServer } from 'node:http';
import { expect, it } from 'vitest';
import { served } from '../cli/support/served.ts';
import { run } from '../support/program.ts';
import { workDir } from '../support/work-dir.ts';
import { consoleCommands, docs, missingLine } from './doc-blocks.ts';

const WORDS =
  'the harbour opens again after long works and ferries leave every hour from pier two tickets are sold on board ' +
  'dogs travel free of charge in summer';

/** So many words, in an order of its own for each step. */
function words(count: number, step: number): string {
  const all = WORDS.split(' ');
  return Array.from({ length: count }, (_, i) => all[(i * step) % all.length]).join(' ');
}

function page(title: string, text: string): string {
  const links = ['', 'news', 'prices', 'staff', 'history', 'old-contact'].map(
    (name) => `<a href="/${name}">${name}</a>`,
  );
  return `<!doctype html><html lang="en"><head><title>${title}</title></head><body><main><h1>${title}</h1><p>${text}</p></main><nav>${links.join(' ')}</nav></body></html>`;
}

let isLater = false;
const PAGES: Readonly<Record<string, () => string | null>> = {
  '/': () => page('Harbour', words(80, 5)),
  '/history': () => page('History of the harbour', words(120, 7)),
  '/news': () => page('News', `${isLater ? 'The bridge is closed on Monday. ' : ''}${words(90, 11)}`),
  '/prices': () =>
    page(
      'Prices',
      `${words(60, 4)} ${
        isLater
          ? 'Day tickets cost nine euros since March, and children under six travel free with an adult.'
          : 'Day tickets cost eight euros.'
      }`,
    ),
  '/staff': () => (isLater ? null : page('Staff', words(70, 13))),
  '/old-contact': () => (isLater ? '/contact' : page('Contact', words(50, 8))),
  '/contact': () => (isLater ? page('Contact', words(50, 8)) : null),
};

const site = served(
  createServer((request, response) => {
    const body = PAGES[request.url ?? '']?.() ?? null;
    if (body === '/contact') response.writeHead(301, { location: body }).end();
    else if (body === null) response.writeHead(404).end();
    else response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(body);
  }),
);

it('README begins with what the program prints about a site that has changed', async () => {
  const readme = docs.find(({ name }) => name === 'README.md');
  const block = readme?.blocks.find(({ text }) => text.startsWith('$ incrawl crawl'));
  if (block === undefined) throw new Error('README shows no crawl');
  const cwd = workDir();
  for (const { command, expected } of consoleCommands(block)) {
    const args = command.replaceAll('https://example.org', site.origin).split(' ').slice(1);
    const network = args[0] === 'crawl' ? ['--allow', '127.0.0.1', '--delay', '0'] : [];
    const { code, output } = await run([...args, ...network], { cwd });
    const said = output.replaceAll(site.origin, 'https://example.org');
    const shown = expected.map((line) => line.replace(/\d{4}-\d\d-\d\d \d\d:\d\d/, '...'));
    expect(missingLine(said, shown), said).toBeNull();
    expect(code, said).toBe(0);
    isLater = true;
  }
});
