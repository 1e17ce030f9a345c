import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { CrawlSummary, RecordView } from '../../../src/crawler/index.ts';
import { json, run } from '../../support/program.ts';
import { workDir } from '../../support/work-dir.ts';
import { served } from '../support/served.ts';

const heard: (string | undefined)[] = [];
const site = served(
  createServer((request, response) => {
    if (request.url === '/robots.txt') return response.writeHead(404).end();
    heard.push(request.headers.authorization);
    if (request.headers.authorization === undefined) return response.writeHead(401).end('who are you?');
    return response.setHeader('content-type', 'text/html').end('<p>members only</p>');
  }),
);

const WITHHELD =
  'status 401; its credentials were withheld, as they are not sent over http: ' +
  '"secretsOverHttp: true" in its entry of "hosts:" sends them';

describe('credentials for an http URL', () => {
  const env = { SITE_PASSWORD: 'secret' };
  const host = (): string => site.origin.slice('http://'.length);
  const configured = (more = ''): string => {
    const cwd = workDir();
    const credentials = 'credentials: { basic: { user: reader, password: { env: SITE_PASSWORD } } }';
    const general = 'fetch:\n  delay: 0\nhttp:\n  allowAddresses: [127.0.0.1]\n';
    writeFileSync(
      join(cwd, 'incrawl.yaml'),
      `${general}hosts:\n  - { match: "${host()}", ${credentials}, cookies: true${more} }\n`,
    );
    return cwd;
  };

  it('are withheld, and the failure, explain, fetch and config say so, and what sends them', async () => {
    const cwd = configured();
    heard.length = 0;
    const { stdout } = await run(['crawl', `${site.origin}/`], { cwd, env });
    expect(new Set(heard)).toEqual(new Set([undefined]));
    expect(stdout).toContain(`http-client-error 401, such as ${site.origin}/ (${WITHHELD})`);
    expect((await run(['explain', `${site.origin}/`], { cwd, env })).stdout).toContain(WITHHELD);
    await run(['due', 'touch', '--all'], { cwd, env });
    await run(['generate'], { cwd, env });
    expect((await run(['fetch'], { cwd, env })).stdout).toContain(WITHHELD);
    const { stdout: settings } = await run(['config', '--origin', `${site.origin}/`], { cwd, env });
    expect(settings.split('\n')[1]).toBe(
      'Not sent, as the URL is http: credentials, cookies. "secretsOverHttp: true" in hosts[0] sends them.',
    );
    expect(settings).toMatch(/^credentials +withheld: /m);
    expect(settings).toMatch(/^cookies +withheld: true/m);
    const secure = await run(['config', '--origin', `https://${host()}/`], { cwd, env });
    expect(secure.stdout).not.toMatch(/Not sent|withheld/);
  });

  it('are sent where the entry says so, and nothing is said', async () => {
    const cwd = configured(', secretsOverHttp: true');
    const { totals } = await json<CrawlSummary>(['crawl', `${site.origin}/`], { cwd, env });
    expect(totals).toMatchObject({ fetched: 1, failures: [] });
    const settings = await json<{ withheld: string[] }>(['config', '--origin', `${site.origin}/`], { cwd, env });
    expect(settings.withheld).toEqual([]);
  });

  it('and a 401 without any has no more to say', async () => {
    const cwd = workDir();
    await run(['crawl', `${site.origin}/`, '--allow', '127.0.0.1', '--delay', '0'], { cwd });
    const record = await json<RecordView>(['readdb', '--url', `${site.origin}/`], { cwd });
    expect(record.lastError?.message).toBe('status 401');
  });

  it('a login page outside of its entry is warned of at the start, one inside is not', async () => {
    const cwd = configured(', login: "https://sso.example/login"');
    const { stderr } = await run(['crawl', `${site.origin}/`], { cwd, env });
    expect(stderr).toContain(`hosts[0].login: https://sso.example/login lies outside \\"${host()}\\"`);
    const inside = configured(`, login: "${site.origin}/login"`);
    expect((await run(['crawl', `${site.origin}/`], { cwd: inside, env })).stderr).not.toContain('lies outside');
  });
});
