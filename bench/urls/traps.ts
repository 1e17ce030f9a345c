import { OrdinarySite } from '../../test/site/ordinary-pages.ts';
import { CONTROL_PAGES, TRAPS, type TrapPage, trapPage } from '../../test/site/trap-pages.ts';
import { startTrapServer } from '../../test/site/trap-server.ts';
import { measurement } from '../harness/measurement.ts';
import { CLI, withFolder } from '../harness/places.ts';
import { nodeCost } from '../harness/processes.ts';

const ROUNDS = 25;
const ORDINARY = { messages: 5_000, articles: 2_000, products: 2_000, manual: 1_000 };

interface Crawled {
  readonly fetches: ReadonlyMap<string, number>;
  readonly answered: readonly string[];
  /** Records by the first directory. */
  readonly records: ReadonlyMap<string, number>;
}

/**
 * What traps without an end cost at defaults beside ordinary pages of the same crawl, and whether sites whose addresses
 * are all alike are fetched whole.
 */
export const traps = measurement('urls', { rounds: ROUNDS }, async ({ question }, { rounds }) => {
  const note = question(`Traps without an end beside 300 ordinary pages of one host, ${rounds} rounds at defaults`);
  const { fetches, records, answered } = await crawled(trapPage, ['--rounds', String(rounds)]);
  for (const trap of TRAPS) {
    note(`fetches of the trap ${trap}`, fetches.get(trap) ?? 0, 'fetches', '<= 200');
    note(`records of the trap ${trap}`, records.get(trap) ?? 0, 'records', '<= 2000');
  }
  const control = answered.filter((path) => path.startsWith('/docs/part')).length;
  note('the ordinary pages fetched', control, 'pages', `>= ${CONTROL_PAGES}`);
  const site = new OrdinarySite(ORDINARY);
  const whole = await crawled((path) => site.page(path), []);
  const fetched = whole.answered.filter((path) => site.pages.has(path)).length;
  note('pages of a site whose addresses are alike fetched', fetched, 'pages', `>= ${site.pages.size}`);
});

/** Crawls a site by the built program. */
async function crawled(page: (path: string) => TrapPage | null, args: readonly string[]): Promise<Crawled> {
  const server = await startTrapServer(page);
  return withFolder(async (cwd) => {
    const start = [CLI, 'crawl', `${server.origin}/`, '--allow', '127.0.0.1', '--delay', '0', '--json', '--quiet'];
    await nodeCost([...start, ...args], { cwd });
    const { stdout } = await nodeCost([CLI, 'readdb', '--dump', '--format', 'jsonl', '--fields', 'url'], { cwd });
    const records = new Map<string, number>();
    for (const line of stdout.trim().split('\n')) {
      const [, first = ''] = new URL((JSON.parse(line) as { readonly url: string }).url).pathname.split('/');
      records.set(first, (records.get(first) ?? 0) + 1);
    }
    return { fetches: server.requests, answered: [...server.answered], records };
  }).finally(() => server.close());
}
