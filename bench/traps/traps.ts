import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { OrdinarySite } from './ordinary-pages.ts';
import { CONTROL_PAGES, TRAPS, type TrapPage, trapPage } from './trap-pages.ts';
import { startTrapServer, type TrapServer } from './trap-server.ts';

const MAIN = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url));

const ROUNDS = 25;
const MOST_FETCHES = 200;
const MOST_RECORDS = 2_000;
const ORDINARY = { messages: 5_000, articles: 2_000, products: 2_000, manual: 1_000 };

type Say = (text: string) => void;
type Verdict = (pass: boolean, text: string) => void;

interface Crawled {
  readonly server: TrapServer;
  /** Records by the first directory. */
  readonly records: ReadonlyMap<string, number>;
  readonly rounds: number;
}

/**
 * `--only traps`: what traps without an end cost at defaults beside ordinary pages of the same crawl, and whether sites
 * whose addresses are all alike are fetched whole.
 */
export async function benchTraps(say: Say, verdict: Verdict): Promise<void> {
  await crawled(trapPage, ['--rounds', String(ROUNDS)], ({ server, records, rounds }) => {
    for (const trap of TRAPS) {
      const [fetches, stored] = [server.requests.get(trap) ?? 0, records.get(trap) ?? 0];
      verdict(
        fetches <= MOST_FETCHES && stored <= MOST_RECORDS,
        `${trap}: ${fetches} fetches, ${stored} records in ${rounds} rounds (${MOST_FETCHES}, ${MOST_RECORDS})`,
      );
    }
    const control = [...server.answered].filter((path) => /^\/docs\/part/.test(path)).length;
    verdict(control === CONTROL_PAGES, `control: ${control} of ${CONTROL_PAGES} pages fetched`);
  });
  const site = new OrdinarySite(ORDINARY);
  await crawled(
    (path) => site.page(path),
    [],
    ({ server, rounds }) => {
      const fetched = [...server.answered].filter((path) => site.pages.has(path)).length;
      verdict(fetched === site.pages.size, `ordinary site: ${fetched} of ${site.pages.size} pages fetched`);
      say(`ordinary site: ${rounds} rounds`);
    },
  );
}

/** Crawls a site by the built program. */
async function crawled(
  page: (path: string) => TrapPage | null,
  args: readonly string[],
  use: (crawled: Crawled) => void,
): Promise<void> {
  const server = await startTrapServer(page);
  const dir = mkdtempSync(join(tmpdir(), 'incrawl-traps-'));
  try {
    const crawl = ['crawl', `${server.origin}/`, '--allow', '127.0.0.1', '--delay', '0', '--json', ...args];
    const summary: string[] = [];
    await run(crawl, dir, (line) => summary.push(line));
    const { rounds } = JSON.parse(summary.join('\n')) as { readonly rounds: readonly unknown[] };
    const records = new Map<string, number>();
    await run(['export-db'], dir, (line) => {
      const { record } = JSON.parse(line) as { readonly record?: { readonly url: string } };
      if (record === undefined) return;
      const [, first = ''] = new URL(record.url).pathname.split('/');
      records.set(first, (records.get(first) ?? 0) + 1);
    });
    use({ server, records, rounds: rounds.length });
  } finally {
    server.close();
    rmSync(dir, { recursive: true, force: true });
  }
}

async function run(args: readonly string[], cwd: string, onLine: (line: string) => void): Promise<void> {
  const child = spawn(process.execPath, [MAIN, ...args], { cwd, stdio: ['ignore', 'pipe', 'ignore'] });
  const closed = once(child, 'close');
  for await (const line of createInterface({ input: child.stdout })) onLine(line);
  const [code] = await closed;
  if (code !== 0 && code !== 4) throw new Error(`incrawl ${args.join(' ')} ended with ${String(code)}`);
}
