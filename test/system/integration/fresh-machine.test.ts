import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OPTIONAL_PACKAGES } from '../../../src/core/domain/optional-packages.ts';
import { type Packed, packIncrawl, programs, sh } from './installed.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
/** npm installs a hundred packages. */
const PATIENCE_MS = 300_000;

const site = createServer((request, response) => {
  if (request.url === '/robots.txt') return void response.writeHead(404).end();
  response.setHeader('content-type', 'text/html').end(`<title>${request.url}</title><p>A page of a small site.</p>`);
});
let packed: Packed;
let [cwd, origin] = ['', ''];
let env: Record<string, string> = {};
beforeAll(async () => {
  packed = await packIncrawl(true);
  await once(site.listen(0, '127.0.0.1'), 'listening');
  origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  cwd = packed.folder('project');
  env = { ...packed.env(), PATH: programs(packed) };
}, PATIENCE_MS);
afterAll(async () => {
  site.close();
  await packed.close();
}, PATIENCE_MS);

/** npm as this machine has it set up: its registry, and its cache, which is asked first. */
function ownNpm(): Record<string, string> {
  const set = (name: string): string => spawnSync('npm', ['config', 'get', name], { encoding: 'utf8' }).stdout.trim();
  const names = ['registry', 'cache', 'userconfig', 'cafile'];
  const found = names.map((name) => [`npm_config_${name}`, set(name)] as const);
  const given = found.filter(([, value]) => value !== '' && value !== 'null' && value !== 'undefined');
  return { ...Object.fromEntries(given), npm_config_prefer_offline: 'true' };
}

interface Use {
  readonly id: string;
  /** What a user wants, and cannot have without the package. */
  readonly command: string;
  /** `conf/incrawl.yaml` for it. */
  readonly config?: string;
  /** What shows that it works: its exit code, and what it prints; or that it is now a server that is missing. */
  readonly result: { readonly code: number; readonly says?: string; readonly writes?: string };
}

const NO_SERVER = { code: 1, says: 'ECONNREFUSED' };
const USES: readonly Use[] = [
  { id: 'duckdb', command: 'export --format parquet -o pages.parquet', result: { code: 0, writes: 'pages.parquet' } },
  { id: 'sqlite', command: 'export --format sqlite -o pages.sqlite', result: { code: 0, writes: 'pages.sqlite' } },
  {
    id: 'jieba',
    command: `plugins test signature-simhash --options '{"segmenter": "jieba"}'`,
    result: { code: 0, says: 'meets the contract of its kind' },
  },
  { id: 'pdfjs', command: 'plugins test parse-pdf', result: { code: 0, says: 'meets the contract of its kind' } },
  {
    id: 'ioredis',
    command: 'inject seeds.txt --dir other',
    config: 'seen: { filter: redis, redis: "redis://127.0.0.1:1" }\n',
    result: { code: 0, says: 'the filter of seen URLs failed; the crawl db is read instead' },
  },
  {
    id: 'pg',
    command: 'work seeds.txt --dir shared',
    config: 'cluster: { store: "postgres://me@127.0.0.1:1/crawl" }\n',
    result: NO_SERVER,
  },
  {
    id: 'kafka',
    command: `plugins test exporter-kafka --options '{"url": "kafka://127.0.0.1:1/pages", "retries": 0}'`,
    result: { ...NO_SERVER, code: 2 },
  },
  {
    id: 'playwright',
    command: 'crawl seeds.txt --allow 127.0.0.1 --dir rendered',
    config: 'render: { mode: always, browser: no-such-browser }\n',
    result: { code: 2, says: 'no-such-browser is not a program that can be started' },
  },
];

describe('a machine with Node and npm alone, and an empty home', { timeout: PATIENCE_MS }, () => {
  it('npm install ARCHIVE without optional packages, and a first crawl', async () => {
    const done = async (command: string): Promise<void> => {
      const { code, output } = await sh(command, cwd, env);
      expect(code, `${command}: ${output}`).toBe(0);
    };
    await done(`npm install --omit=optional ${packed.archive}`);
    writeFileSync(join(cwd, 'seeds.txt'), `${origin}/\n`);
    await done('npx incrawl crawl seeds.txt --allow 127.0.0.1 --quiet');
  });

  it('each package of the page has a use here', () => {
    const table = readFileSync(join(ROOT, 'docs/optional-packages.md'), 'utf8');
    const documented = [...table.matchAll(/^\| `(\w+)` \|/gm)].map(([, id]) => id).sort();
    expect(documented).toEqual(OPTIONAL_PACKAGES.map(({ id }) => id).sort());
    expect(USES.map(({ id }) => id).sort()).toEqual(documented);
  });

  it.for(USES)('$id: the error names the command that installs it, and then it works', async (use, context) => {
    const { id, command, config = '', result } = use;
    writeFileSync(join(cwd, 'incrawl.yaml'), `agent: { contact: me@example.org }\n${config}`);
    const run = () => sh(`npx incrawl ${command}`, cwd, env);
    const before = await run();
    // SQLite comes with Node from 22.13 on.
    if (id === 'sqlite' && before.code === 0) return;
    expect(before.output).toContain('which is not installed. To install it: npx incrawl packages install');
    expect(before.code).toBe(2);
    const install = /To install it: (.+)$/m.exec(before.output)?.[1] ?? '';
    expect(install).toContain(id);
    const installed = await sh(install, cwd, { ...env, ...ownNpm() });
    if (
      installed.code !== 0 &&
      /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|E40[34]|ENOTCACHED|network/.test(installed.output)
    ) {
      return context.skip(`no registry has ${id} here`);
    }
    expect(installed.code, installed.output).toBe(0);
    const after = await run();
    expect(after.output).not.toContain('is not installed');
    expect(after.code, after.output).toBe(result.code);
    if (result.says !== undefined) expect(after.output).toContain(result.says);
    if (result.writes !== undefined) expect(existsSync(join(cwd, result.writes))).toBe(true);
  });
});
