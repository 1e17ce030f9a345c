import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Step } from '../../../bench/histories/history.ts';
import type { Variant } from '../../../bench/histories/served-site.ts';
import { type SiteServer, serveHistory } from '../../../bench/histories/site-server.ts';
import { DAY_S, madeHistory, START_S } from './made-history.ts';

const first = { 'index.html': '<body>start</body>', 'a/index.html': 'a', 'a/b.HTML': 'b', 'only/c.pdf': 'c' };
const history = madeHistory([first, { ...first, 'a/index.html': 'changed' }]);
const deployedAt = START_S - 3_600;
const utc = (seconds: number): string => new Date(1_000 * seconds).toUTCString();
const servers = new Map<Variant, SiteServer>();

async function get(path: string, headers: Record<string, string> = {}, variant: Variant = 'honest', method = 'GET') {
  const { origin } = servers.get(variant) as SiteServer;
  return await fetch(origin + path, { method, headers, redirect: 'manual' });
}

const show = (step: number): void => {
  for (const server of servers.values()) server.show(history.steps[step] as Step);
};

beforeAll(async () => {
  for (const variant of ['honest', 'deploy', 'dynamic'] as const) {
    servers.set(variant, await serveHistory(history, variant, '127.0.0.1', 0));
  }
  show(0);
});
afterAll(async () => {
  for (const server of servers.values()) await server.close();
});

describe('the server of a history', () => {
  it('answers as nginx: validators, type, and the time of the recorded day', async () => {
    const { status, headers } = await get('/');
    expect(status).toBe(200);
    expect(Object.fromEntries(headers)).toMatchObject({
      date: utc(START_S),
      'last-modified': utc(deployedAt),
      etag: `"${deployedAt.toString(16)}-12"`,
      'content-type': 'text/html',
      'content-length': '18',
    });
    expect((await get('/a/b.HTML')).headers.get('content-type')).toBe('text/html');
    expect((await get('/only/c.pdf')).headers.get('content-type')).toBe('application/pdf');
  });

  it('a folder is asked for with its slash, a missing file is a 404, a folder without index a 403', async () => {
    const moved = await get('/a?x=1');
    expect(moved.status).toBe(301);
    expect(moved.headers.get('location')).toBe(`${servers.get('honest')?.origin}/a/?x=1`);
    expect(await (await get('/a/')).text()).toBe('a');
    const answers = ['/none', '/none/', '/robots.txt', '/only/', '/%ff'].map(async (path) => (await get(path)).status);
    expect(await Promise.all(answers)).toEqual([404, 404, 404, 403, 400]);
  });

  it('a 304 needs the very same date, and each condition that is given', async () => {
    const etag = `"${deployedAt.toString(16)}-12"`;
    const statusFor = async (headers: Record<string, string>) => (await get('/', headers)).status;
    expect(await statusFor({ 'if-modified-since': utc(deployedAt) })).toBe(304);
    expect(await statusFor({ 'if-modified-since': utc(deployedAt + 60) })).toBe(200);
    expect(await statusFor({ 'if-none-match': `"x", W/${etag}` })).toBe(304);
    expect(await statusFor({ 'if-none-match': etag, 'if-modified-since': utc(deployedAt - 60) })).toBe(200);
    expect(await statusFor({ 'if-none-match': '"x"', 'if-modified-since': utc(deployedAt) })).toBe(200);
  });

  it('a HEAD has no body, another method is refused, and the log has them all', async () => {
    servers.get('honest')?.takeLog();
    const head = await get('/', {}, 'honest', 'HEAD');
    expect([head.headers.get('content-length'), await head.text()]).toEqual(['18', '']);
    expect((await get('/', {}, 'honest', 'POST')).status).toBe(405);
    expect(servers.get('honest')?.takeLog()).toMatchObject([
      { method: 'HEAD', uri: '/', status: 200 },
      { method: 'POST', uri: '/', status: 405 },
    ]);
  });

  it('dynamic pages have no validators, and are never the same', async () => {
    const { headers } = await get('/', {}, 'dynamic');
    expect([headers.get('etag'), headers.get('last-modified')]).toEqual([null, null]);
    expect(headers.get('cache-control')).toBe('no-store');
    const bodies = await Promise.all([1, 2].map(async () => (await get('/', {}, 'dynamic')).text()));
    expect(bodies[0]).toMatch(
      /<p>Page served at 2026-01-01T00:00:00\+00:00, request [0-9a-f]{32}<\/p><\/div><\/body>$/,
    );
    expect(bodies[0]).not.toBe(bodies[1]);
    expect((await get('/', { 'if-modified-since': utc(deployedAt) }, 'dynamic')).status).toBe(200);
  });

  it('a deploy dates all files anew, or the changed one alone', async () => {
    show(1);
    const dated = async (path: string, variant: Variant) => (await get(path, {}, variant)).headers.get('last-modified');
    expect(await dated('/', 'honest')).toBe(utc(deployedAt));
    expect(await dated('/a/', 'honest')).toBe(utc(deployedAt + DAY_S));
    expect(await dated('/', 'deploy')).toBe(utc(deployedAt + DAY_S));
  });
});
