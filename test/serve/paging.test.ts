import { Hono } from 'hono';
import { describe, expect, it } from 'vitest';
import type { HostView } from '../../src/crawler/index.ts';
import { hostsPage } from '../../src/serve/pages/lists.ts';
import { listPage, ROWS } from '../../src/serve/paging.ts';

async function ask(path: string, total: number): Promise<{ rows: number[]; links: string }> {
  const app = new Hono();
  async function* numbers(limit: number): AsyncGenerator<number> {
    for (let i = 0; i < Math.min(limit, total); i++) yield i;
  }
  app.get('/list', async (c) => {
    const { rows, links } = await listPage(c, numbers);
    return c.json({ rows, links: String(links ?? '') });
  });
  return (await app.request(path)).json() as Promise<{ rows: number[]; links: string }>;
}

describe('pages of a list', () => {
  it.each([
    ['/list', 0, [], []],
    ['/list', ROWS, [0, ROWS - 1], []],
    ['/list', ROWS + 1, [0, ROWS - 1], ['next 2']],
    ['/list?page=2', ROWS + 1, [ROWS, ROWS], ['prev 1']],
    ['/list?page=2', 3 * ROWS, [ROWS, 2 * ROWS - 1], ['prev 1', 'next 3']],
    ['/list?page=9', 5, [], ['prev 8']],
    ['/list?page=-1', 5, [0, 4], []],
    ['/list?page=1e3', 5, [], ['prev 499']],
    ['/list?page=%3Cscript%3E', 5, [0, 4], []],
  ])('%s of %i rows', async (path, total, ends, wanted) => {
    const { rows, links } = await ask(path, total);
    expect(rows.length === 0 ? [] : [rows[0], rows.at(-1)]).toEqual(ends);
    expect([...links.matchAll(/rel="(\w+)" href="[^"]*page=(\d+)"/g)].map(([, rel, page]) => `${rel} ${page}`)).toEqual(
      wanted,
    );
  });

  it('keeps what else was asked, and is inert', async () => {
    const { links } = await ask('/list?host=a.example&x=%22%3E%3Cb%3E', ROWS + 1);
    expect(links).toContain('href="/list?host=a.example&amp;x=%22%3E%3Cb%3E&amp;page=2"');
  });
});

describe('the page of hosts', () => {
  it('shows the largest hosts, and says when not all were read', () => {
    const hosts = Array.from(
      { length: ROWS + 1 },
      (_, i) => ({ host: `h${i}.example`, urls: i, byState: {} }) as unknown as HostView,
    );
    const [whole, cut] = [String(hostsPage(hosts, false)), String(hostsPage(hosts, true))];
    expect(whole).toContain('Hosts, at most 200, by number of URLs');
    expect(whole.indexOf('h200.example')).toBeLessThan(whole.indexOf('h199.example'));
    expect(whole).not.toContain('h0.example');
    expect(cut).toContain('Hosts, at most 200 of the first 201, by number of URLs');
  });
});
