import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { clockByHand } from '../../support/clock-by-hand.ts';
import { json, run, start } from '../../support/program.ts';
import { workDir } from '../../support/work-dir.ts';
import { served } from '../support/served.ts';

const SECRETS = {
  password: 'pass-Zq7fXw',
  basic: Buffer.from('reader:pass-Zq7fXw').toString('base64'),
  apiKey: 'apikey-Vt3mKd',
  session: 'session-Hn8rYb',
  imported: 'imported-Lc5sPj',
};

const heard: { readonly url: string; readonly authorization: boolean; readonly cookie: string }[] = [];
let round = 1;
const site = served(
  createServer((request, response) => {
    const { url = '/', headers } = request;
    const page = (body: string) => response.setHeader('content-type', 'text/html').end(`<title>${url}</title>${body}`);
    if (url === '/robots.txt') return response.writeHead(404).end();
    const mayRead = headers.authorization === `Basic ${SECRETS.basic}` && headers['x-api-key'] === SECRETS.apiKey;
    heard.push({ url, authorization: mayRead, cookie: headers.cookie ?? '' });
    if (!mayRead) return response.writeHead(401, { 'www-authenticate': 'Basic realm="members"' }).end('who are you?');
    response.setHeader('set-cookie', [`sid=${SECRETS.session}; Path=/; HttpOnly`, `bare${SECRETS.session}`]);
    if (url === '/') return page('<a href="/a">a</a> <a href="/b">b</a> <a href="/broken">c</a> <a href="/away">d</a>');
    if (url === '/broken') return request.socket.destroy();
    if (url === '/away') return response.writeHead(302, { location: `${elsewhere.origin}/` }).end();
    return page(`<p>members only, round ${round}, ${url}</p>`.repeat(20));
  }),
);
const stray: unknown[] = [];
const elsewhere = served(
  createServer((request, response) => {
    stray.push(request.headers.authorization ?? request.headers.cookie ?? request.headers['x-api-key'] ?? null);
    response.setHeader('content-type', 'text/html').end('<p>another host</p>');
  }),
);

describe('secrets of hosts:', () => {
  it('reach the site, and nothing that a crawl writes, prints or answers', async () => {
    const cwd = workDir();
    const output: string[] = [];
    const env = { SITE_PASSWORD: SECRETS.password };
    // The pauses before a page that broke off is tried again go by at once.
    const clock = clockByHand();
    const incrawl = async (...args: string[]) => {
      const done = await run([...args, '--allow', '127.0.0.1'], { cwd, env, clock });
      output.push(done.stdout, done.stderr);
      return done;
    };
    const asked = async (...args: string[]) => {
      const done = await run(args, { cwd, env });
      output.push(done.stdout, done.stderr);
      return done;
    };
    writeFileSync(join(cwd, 'api-key.txt'), `${SECRETS.apiKey}\n`);
    const host = site.origin.slice('http://'.length);
    writeFileSync(
      join(cwd, 'incrawl.yaml'),
      `hosts:
  - match: ${host}
    credentials: { basic: { user: reader, password: { env: SITE_PASSWORD } } }
    headers: { X-Api-Key: { file: api-key.txt } }
    cookies: true
    secretsOverHttp: true
    delay: 0
`,
    );
    writeFileSync(join(cwd, 'cookies.txt'), `127.0.0.1\tFALSE\t/\tFALSE\t4102444800\ttaken\t${SECRETS.imported}\n`);
    writeFileSync(join(cwd, 'seeds.txt'), `${site.origin}/\n${elsewhere.origin}/other\n`);
    const imported = await asked('cookies', 'import', 'cookies.txt');
    expect(imported.stdout).toBe('1 cookie imported.\n');
    const first = await incrawl('crawl', 'seeds.txt', '--verbose');
    expect(first.code, first.stderr).toBe(0);
    round = 2;
    await asked('due', 'touch', `${site.origin}/a`);
    expect((await incrawl('crawl', '--verbose', '--json')).code).toBe(0);

    expect(heard.every(({ authorization }) => authorization)).toBe(true);
    expect(heard[0]?.cookie).toBe(`taken=${SECRETS.imported}`);
    expect(heard.at(-1)?.cookie).toContain(`sid=${SECRETS.session}`);
    expect(stray.length).toBeGreaterThan(0);
    expect(stray.every((each) => each === null)).toBe(true);

    await asked('cookies', 'list');
    expect(output.at(-2)).toContain('sid');
    for (const args of [
      ['explain', `${site.origin}/a`, '--json'],
      ['explain', `${site.origin}/broken`],
      ['config', '--origin', '--json'],
      ['config', '--origin', `${site.origin}/`],
      ['readdb', '--stats'],
      ['db', 'export'],
      ['skipped', '--json'],
      ['export', '--format', 'jsonl', '-o', 'pages.jsonl'],
      ['export', '--format', 'warc', '-o', 'pages.warc.gz'],
      ['state', 'backup', 'saved'],
      ['changes', '--json'],
    ]) {
      const done = await asked(...args);
      expect(done.code, `${args.join(' ')}: ${done.stderr}`).toBe(0);
    }
    output.push(...(await answersOfViewer(cwd)));

    const written = filesBelow(cwd).filter((file) => !OWN.test(file.slice(cwd.length + 1)));
    expect(written.length).toBeGreaterThan(10);
    for (const [name, secret] of Object.entries(SECRETS)) {
      for (const text of output) expect(text.includes(secret), `${name} was printed`).toBe(false);
      for (const file of written) expect(contentOf(file).includes(secret), `${name} is in ${file}`).toBe(false);
    }
    const jars = filesBelow(join(cwd, 'crawldb/cookies'));
    expect(jars.map((file) => statSync(file).mode & 0o777)).toEqual([0o600]);
    expect(readFileSync(jars[0] ?? '', 'utf8')).toContain(SECRETS.session);
    expect(filesBelow(join(cwd, 'saved')).some((file) => file.includes('cookies'))).toBe(false);
    expect((await asked('cookies', 'clear')).stdout).toBe('3 cookies removed.\n');
    expect(await json(['cookies', 'list'], { cwd })).toEqual([]);
  });

  it('that are missing end the crawl before its first request', async () => {
    const cwd = workDir();
    const host = site.origin.slice('http://'.length);
    writeFileSync(
      join(cwd, 'incrawl.yaml'),
      `hosts:\n  - match: ${host}\n    credentials: { bearer: { env: NOT_SET } }\n`,
    );
    const before = heard.length;
    writeFileSync(join(cwd, 'seeds.txt'), `${site.origin}/\n`);
    const { code, stderr } = await run(['crawl', 'seeds.txt', '--allow', '127.0.0.1'], { cwd });
    expect(code).toBe(2);
    expect(stderr).toContain('hosts[0].credentials.bearer: the variable NOT_SET of the environment is not set');
    expect(heard.length).toBe(before);
  });
});

/** What the operator wrote, and the jars, which are the one place for session cookies. */
const OWN = /^(api-key\.txt|cookies\.txt|crawldb\/cookies\/)/;

function filesBelow(dir: string): string[] {
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

function contentOf(file: string): Buffer {
  const bytes = readFileSync(file);
  return file.endsWith('.gz') ? Buffer.concat([bytes, gunzipSync(bytes)]) : bytes;
}

async function answersOfViewer(cwd: string): Promise<string[]> {
  const viewer = start(['serve', '--port', '0'], { cwd });
  const said = await viewer.saying(/http:\/\/[\w.:[\]]+\/?\n/);
  const origin = new URL(said.trim()).origin;
  const answers: string[] = [];
  for (const path of ['/', '/metrics', `/url?url=${encodeURIComponent(`${site.origin}/a`)}`]) {
    answers.push(await (await fetch(`${origin}${path}`)).text());
  }
  viewer.stop();
  await viewer.finished;
  return answers;
}
