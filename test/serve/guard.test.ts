import { Hono } from 'hono';
import { describe, expect, it } from 'vitest';
import { guard, isLoopback, steeringGuard } from '../../src/serve/guard.ts';

const app = (token: string | null, host = '127.0.0.1'): Hono => {
  const hono = new Hono();
  hono.use(guard({ token, host }));
  hono.get('/', (c) => c.text('read'));
  return hono;
};
const statusOf = async (hono: Hono, headers: Record<string, string>): Promise<number> =>
  (await hono.request('http://served.test/', { headers })).status;

describe('without a token', () => {
  it.each([
    ['127.0.0.1:7380', 200],
    ['127.1.2.3', 200],
    ['LOCALHOST:80', 200],
    ['[::1]:7380', 200],
    ['attacker.test:7380', 421],
    ['localhost.attacker.test', 421],
    ['127.0.0.1.attacker.test', 421],
    ['attacker.test:127', 421],
    ['', 421],
  ])('the name %j is answered with %i', async (host, status) => {
    expect(await statusOf(app(null), { host })).toBe(status);
  });

  it('the address that it listens on is one of its names', async () => {
    expect(await statusOf(app(null, '127.0.0.9'), { host: '127.0.0.9:1' })).toBe(200);
    expect([isLoopback('0.0.0.0'), isLoopback('::1'), isLoopback('10.0.0.1')]).toEqual([false, true, false]);
  });
});

describe('with a token', () => {
  const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`;
  it.each([
    ['Bearer secret:with:colons', 200],
    ['bearer secret:with:colons', 200],
    [basic('anybody:secret:with:colons'), 200],
    [basic(':secret:with:colons'), 200],
    [basic('secret:with'), 401],
    ['Bearer secret', 401],
    ['Bearer', 401],
    ['Digest secret:with:colons', 401],
    ['', 401],
  ])('%j is answered with %i, whatever the name', async (authorization, status) => {
    const hono = app('secret:with:colons', '0.0.0.0');
    expect(await statusOf(hono, { host: 'crawler.example', authorization })).toBe(status);
  });

  it.each(['four words of text', 'geheime Wörter'])('%j may be a token', async (token) => {
    // As Node reads what a client sends.
    const authorization = `Bearer ${Buffer.from(token).toString('latin1')}`;
    expect(await statusOf(app(token), { authorization })).toBe(200);
    expect(await statusOf(app(token), { authorization: basic(`me:${token}`) })).toBe(200);
    expect(await statusOf(app(token), { authorization: 'Bearer four' })).toBe(401);
  });
});

describe('commands', () => {
  const hono = new Hono();
  hono.use(steeringGuard({ names: ['Crawl.example.org'] }));
  hono.all('/', (c) => c.text('done'));
  const ask = async (headers: Record<string, string>, method = 'POST'): Promise<number> =>
    (await hono.request('http://served.test/', { method, headers })).status;
  const page = { host: '127.0.0.1:7380', origin: 'http://127.0.0.1:7380', 'sec-fetch-site': 'same-origin' };
  const program = { host: '127.0.0.1:7380', authorization: 'Bearer 0123456789abcdef' };

  it.each<[string, Record<string, string>, number]>([
    ['a page of this server', page, 200],
    ['one that sends no Sec-Fetch-Site', { host: page.host, origin: page.origin }, 200],
    ['one that sends no Origin', { host: page.host, 'sec-fetch-site': 'same-origin' }, 200],
    ['a page by a name that is listed', { host: 'crawl.example.org', origin: 'https://crawl.example.org' }, 200],
    ['a page by another address', { host: '[fd00::1]:80', origin: 'http://[fd00::1]:80' }, 200],
    ['a program with a bearer token', program, 200],
    ['another origin', { ...page, origin: 'http://attacker.test' }, 403],
    ['another port', { ...page, origin: 'http://127.0.0.1:80' }, 403],
    ['no origin of a sandboxed page', { ...page, origin: 'null' }, 403],
    ['another site', { ...page, 'sec-fetch-site': 'cross-site' }, 403],
    ['a sibling of the same site', { host: page.host, 'sec-fetch-site': 'same-site' }, 403],
    ['another site that names the origin alone', { host: page.host, origin: 'https://attacker.test' }, 403],
    ['a bearer token sent by a page of another site', { ...program, origin: 'http://attacker.test' }, 403],
    ['stored credentials alone', { host: page.host, authorization: 'Basic OjAxMjM0NTY3ODlhYmNkZWY=' }, 403],
    ['a name pointed here', { ...page, host: 'attacker.test:7380', origin: 'http://attacker.test:7380' }, 421],
    ['a name like an address', { ...program, host: '127.0.0.1.attacker.test' }, 421],
    ['no name', { ...program, host: '' }, 421],
  ])('%s', async (_, headers, status) => {
    expect(await ask(headers)).toBe(status);
  });

  it.each(['GET', 'PUT', 'OPTIONS'])('%s is not the method of a command', async (method) => {
    expect(await ask(page, method)).toBe(405);
  });
});
