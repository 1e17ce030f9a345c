import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request as requestTo } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { QUESTIONS } from '../../../src/query/questions.ts';
import { questionsPath } from '../../../src/remote/questions/answer-questions.ts';
import { type Running, run, start } from '../../support/program.ts';
import { workDir } from '../../support/work-dir.ts';
import { createGate } from '../support/gate.ts';
import { served } from '../support/served.ts';

const LOGIN = {
  site: 'site-Rk4wZt9q',
  proxy: 'proxy-Yd7mLx2c',
  token: 'token-Uf5nBv8s-of-the-viewer',
  session: 'sid-Gj3hQp6a',
};
const basic = (user: string, password: string): string => Buffer.from(`${user}:${password}`).toString('base64');
/** In each form that one of them takes on its way. */
const SECRETS = {
  ...LOGIN,
  siteBasic: basic('reader', LOGIN.site),
  proxyBasic: basic('crawler', LOGIN.proxy),
  proxyInUrl: encodeURIComponent(LOGIN.proxy),
};

const gate = createGate();
let pagesServed = 0;
let onThird: (() => void) | undefined;
const isThirdServed = new Promise<void>((resolve) => {
  onThird = resolve;
});
const site = served(
  createServer((request, response) => {
    const { url = '/', headers } = request;
    if (url === '/robots.txt') return response.writeHead(404).end();
    if (headers.authorization !== `Basic ${SECRETS.siteBasic}`) return response.writeHead(401).end('who are you?');
    if (url === '/broken') return request.socket.destroy();
    const links = [1, 2, 3, 4, 5].map((i) => `<a href="/${i}">${i}</a>`).join(' ');
    response.setHeader('content-type', 'text/html').setHeader('set-cookie', `sid=${LOGIN.session}; Path=/`);
    return gate.pass(() => {
      response.end(`<title>${url}</title><p>Page ${url} for members only.</p>${links}<a href="/broken">b</a>`);
      if (++pagesServed === 3) onThird?.();
    });
  }),
);
let forwarded = 0;
/** A proxy that wants a password, and takes URLs whole. */
const proxy = served(
  createServer((request: IncomingMessage, response) => {
    if (request.headers['proxy-authorization'] !== `Basic ${SECRETS.proxyBasic}`) return response.writeHead(407).end();
    forwarded++;
    const { 'proxy-authorization': _own, ...headers } = request.headers;
    const onward = requestTo(request.url ?? '', { headers, agent: false }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    return onward.end();
  }),
);

describe('secrets of a crawl that runs', () => {
  it('are in no answer of its socket, of top, of serve, and in no file, output, backup or export', async () => {
    const cwd = workDir();
    const found: [string, string | Buffer][] = [];
    const env = { PROXY_PASSWORD: LOGIN.proxy };
    const asked = async (...args: string[]): Promise<string> => {
      const { stdout, stderr, code } = await run(args, { cwd, env });
      found.push([`output of ${args.join(' ')}`, stdout + stderr]);
      expect(code, `${args.join(' ')}: ${stderr}`).toBe(0);
      return stdout;
    };
    writeFileSync(join(cwd, 'password.txt'), `${LOGIN.site}\n`);
    writeFileSync(join(cwd, 'token.txt'), `${LOGIN.token}\n`);
    const match = site.origin.slice('http://'.length);
    writeFileSync(
      join(cwd, 'incrawl.yaml'),
      `hosts:
  - match: ${match}
    proxy: { url: "${proxy.origin}", user: crawler, password: { env: PROXY_PASSWORD } }
    credentials: { basic: { user: reader, password: { file: password.txt } } }
    cookies: true
    secretsOverHttp: true
    delay: 0
`,
    );
    gate.closeAfter(3);
    const crawl = start(['crawl', `${site.origin}/`, '--allow', '127.0.0.1', '--verbose'], { cwd, env });
    let isOver = false;
    void crawl.finished.then(() => {
      isOver = true;
    });
    await isThirdServed;

    await asked('top', '--json');
    await asked('top', '--once');
    for (const args of [
      ['config'],
      ['config', '--origin'],
      ['config', '--origin', `${site.origin}/1`],
      ['config', '--json'],
    ]) {
      expect(await asked(...args)).toContain(args.length === 1 ? '' : 'PROXY_PASSWORD');
    }
    await asked('readdb', '--stats');
    await asked('explain', `${site.origin}/1`, '--json');
    for (const [question, answer] of await answersOfSocket(cwd, `${site.origin}/1`)) found.push([question, answer]);
    const viewer = start(['serve', '--port', '0', '--token-file', 'token.txt', '--verbose'], { cwd, env });
    for (const answer of await answersOfViewer(viewer, `${site.origin}/1`)) found.push(answer);
    expect(isOver, 'the crawl has ended').toBe(false);
    gate.open();
    const ended = await crawl.finished;
    expect(ended.code, ended.stderr).toBe(0);
    found.push(['output of the crawl', ended.stdout + ended.stderr]);
    viewer.stop();
    const closed = await viewer.finished;
    found.push(['output of serve', closed.stdout + closed.stderr]);
    expect(forwarded).toBeGreaterThan(5);

    for (const format of ['jsonl', 'csv', 'warc', 'markdown'])
      await asked('export', '--format', format, '-o', `out-${format}`);
    await asked('state', 'backup', 'saved');
    await asked('db', 'export');
    await asked('changes', '--format', 'atom');
    await asked('state', 'verify');
    // Where the environment names the proxy, the password stands in a URL.
    const plain = workDir();
    const inUrl = proxy.origin.replace('//', `//crawler:${SECRETS.proxyInUrl}@`);
    writeFileSync(join(plain, 'incrawl.yaml'), 'agent: { contact: me@example.org }\nhttp: { proxy: environment }\n');
    const before = forwarded;
    for (const args of [['config'], ['config', '--origin'], ['crawl', 'http://members.invalid/', '--verbose']]) {
      const { code, stdout, stderr } = await run(args, { cwd: plain, env: { HTTP_PROXY: inUrl } });
      if (args[0] === 'config') expect(code, stderr).toBe(0);
      found.push([`${args[0]} with HTTP_PROXY`, stdout + stderr]);
    }
    expect(forwarded, 'the password was used').toBeGreaterThan(before);
    // One that the proxy refuses.
    const old = { PROXY_PASSWORD: `${LOGIN.proxy}-old` };
    const refused = await run(['crawl', `${site.origin}/new`, '--allow', '127.0.0.1', '--verbose'], { cwd, env: old });
    expect(refused.stdout + refused.stderr).toContain('proxy-failed');
    found.push(['a refused password', refused.stdout + refused.stderr]);

    const jars = join(cwd, 'crawldb/cookies');
    expect(
      readdirSync(jars)
        .map((name) => readFileSync(join(jars, name), 'utf8'))
        .join(),
    ).toContain(LOGIN.session);
    const OWN = /^(password\.txt|token\.txt|crawldb\/cookies\/)/;
    for (const dir of [cwd, plain]) {
      const files = readdirSync(dir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
      for (const { parentPath, name } of files) {
        const file = join(parentPath, name);
        if (OWN.test(file.slice(dir.length + 1))) continue;
        const bytes = readFileSync(file);
        found.push([file, bytes]);
        if (name.endsWith('.gz')) found.push([`${file}, unpacked`, gunzipSync(bytes)]);
      }
    }
    expect(found.length).toBeGreaterThan(60);
    for (const [place, content] of found) {
      for (const [name, secret] of Object.entries(SECRETS))
        expect(content.includes(secret), `${name} in ${place}`).toBe(false);
    }
  });
});

/** The answers of the process that crawls, line by line as they come over its socket. */
async function answersOfSocket(cwd: string, url: string): Promise<[string, string][]> {
  const path = questionsPath(join(cwd, 'crawldb'));
  const args: Record<string, unknown[]> = {
    record: [url],
    explain: [url],
    inlinks: [url],
    topN: [10],
    groups: ['host'],
    near: [url],
  };
  const answers: [string, string][] = [];
  for (const ask of [...Object.keys(QUESTIONS), 'config', 'secrets']) {
    const text = await new Promise<string>((resolve, reject) => {
      let said = '';
      const socket = connect(path, () =>
        socket.write(`${JSON.stringify({ incrawl: 1, ask, args: args[ask] ?? [] })}\n`),
      );
      socket.setEncoding('utf8').on('data', (part: string) => {
        said += part;
      });
      socket.on('close', () => resolve(said));
      socket.on('error', reject);
    });
    expect(text, ask).not.toBe('');
    answers.push([`answer to ${ask}`, text]);
  }
  expect(answers.find(([ask]) => ask === 'answer to record')?.[1]).toContain(url);
  return answers;
}

async function answersOfViewer(viewer: Running, url: string): Promise<[string, string][]> {
  const said = await viewer.saying(/http:\/\/[\w.:[\]]+\/?\n/);
  const { origin } = new URL(said.trim());
  const of = `?url=${encodeURIComponent(url)}`;
  const headers = { authorization: `Bearer ${LOGIN.token}` };
  const answers: [string, string][] = [];
  const paths = ['/', '/rounds', '/metrics', '/changes', '/changes.atom', '/due', '/hosts', '/pages', '/duplicates'];
  for (const path of [...paths, `/url${of}`, `/near${of}`, `/blocks${of}`, `/diff${of}`, '/healthz']) {
    const response = await fetch(origin + path, { headers });
    expect(response.status, path).not.toBe(500);
    answers.push([`answer of serve to ${path}`, JSON.stringify([...response.headers]) + (await response.text())]);
  }
  expect(answers.find(([path]) => path.endsWith('/metrics'))?.[1]).toContain('incrawl_');
  const refused = await fetch(`${origin}/pages`, { headers: { authorization: 'Bearer wrong' } });
  answers.push(['a refused reader', await refused.text()]);
  const events = await fetch(`${origin}/events`, { headers });
  const first = await events.body?.getReader().read();
  answers.push(['events', Buffer.from(first?.value ?? []).toString()]);
  return answers;
}
