import type { Context, Hono } from 'hono';
import { CHANGE_KINDS } from '../core/domain/crawl/change/page-change.ts';
import { CRAWL_STATES } from '../core/domain/crawl/states/datum.ts';
import { typedHost, typedUrlPrefix } from '../core/domain/url/canonical/host-pattern.ts';
import type { ChangesQuery, ChangeView, Crawler } from '../crawler/index.ts';
import { HOST_EXPECTED, URL_PREFIX_EXPECTED } from '../query/input/option-values.ts';
import type { CrawlReader } from '../query/questions.ts';
import { type Tell, tellTouched } from '../remote/questions/tell-batches.ts';
import { isForeseen } from '../render/exit.ts';
import { type Markup, markup, type Shown } from './markup.ts';
import { blocksPage, differencePage, nearPage } from './pages/difference.ts';
import { changesPage, duePage, duplicatesPage, hostsPage, pagesPage } from './pages/lists.ts';
import { comparedPages, storedPage } from './pages/stored.ts';
import { urlPage } from './pages/url.ts';
import { listPage, ROWS } from './paging.ts';
import { isLocked, type StateAccess } from './state-access.ts';
import type { ContentAddresses } from './stored/content-address.ts';

interface StateRoutes {
  readonly state: StateAccess;
  readonly addresses: ContentAddresses;
  /** Whether the routes that change records are enabled, which requires a token. */
  readonly canTouch: boolean;
  /** Tells the crawl that holds the crawl db; `null`: the crawl cannot be steered from here. */
  readonly tell: Tell | null;
  /** Ms since the epoch. */
  readonly now: () => number;
}

type Place = { readonly title: string; readonly section?: string };
type Page = (parts: Place & { notice?: Shown; content: Shown }) => Markup;

/** Up to this distance the signature tables answer without a pass over the records. */
const NEAR_BITS = 3;
const HOSTS_READ = 5_000;

/** Routes whose content is read from the state directory. */
export function addStateRoutes(app: Hono, routes: StateRoutes, page: Page): void {
  const { state, addresses, canTouch, tell, now } = routes;
  /** The page, or an error page with its status. */
  const respond = async (c: Context, place: Place, content: () => Promise<Shown>): Promise<Response> => {
    try {
      return c.html(page({ ...place, content: await content() }));
    } catch (error) {
      if (isLocked(error)) {
        const notice =
          'Another process holds the crawl db and does not answer questions. Reload this page when it is done.';
        return c.html(page({ ...place, notice, content: markup`<p><a href="/">Overview</a></p>` }), 503, {
          'Retry-After': '5',
        });
      }
      if (!isForeseen(error)) throw error;
      return c.html(page({ ...place, notice: error.message, content: null }), error.code === 'db-corrupt' ? 500 : 400);
    }
  };

  const answer = (c: Context, place: Place, read: (reader: CrawlReader) => Promise<Shown>): Promise<Response> =>
    respond(c, place, () => state.ask(read));

  app.get('/changes', (c) => {
    const kind = CHANGE_KINDS.find((each) => each === c.req.query('kind')) ?? null;
    return answer(c, { title: 'Changes', section: '/changes' }, async (crawler) => {
      const query = { newest: true, ...(kind === null ? {} : { kinds: [kind] }) };
      const rows = await listPage(c, (limit) => newestFirst(crawler, { ...query, limit }));
      return changesPage(rows, kind, (await crawler.stats()).freshness);
    });
  });
  app.get('/due', (c) =>
    answer(c, { title: 'Due', section: '/due' }, async (crawler) =>
      duePage(await listPage(c, (limit) => crawler.due({ limit }))),
    ),
  );
  app.get('/hosts', (c) =>
    answer(c, { title: 'Hosts', section: '/hosts' }, async (crawler) => {
      const hosts = await all(crawler.hosts({ limit: HOSTS_READ + 1 }));
      return hostsPage(hosts.slice(0, HOSTS_READ), hosts.length > HOSTS_READ);
    }),
  );
  app.get('/pages', (c) => {
    const status = CRAWL_STATES.find((each) => each === c.req.query('status')) ?? null;
    const [host, prefix] = [c.req.query('host')?.trim() ?? '', c.req.query('prefix')?.trim() ?? ''];
    const asked = { status, host, prefix };
    const place: Place = { title: 'Pages', section: '/pages' };
    const [ofHost, from] = [host === '' ? '' : typedHost(host), prefix === '' ? '' : typedUrlPrefix(prefix)];
    if (ofHost === null || from === null) {
      const notice = ofHost === null ? HOST_EXPECTED : URL_PREFIX_EXPECTED;
      return c.html(page({ ...place, notice, content: pagesPage({ rows: [], links: null }, asked) }), 400);
    }
    const query = {
      ...(status === null ? {} : { status }),
      ...(ofHost === '' ? {} : { host: ofHost }),
      ...(from === '' ? {} : { prefix: from }),
    };
    return answer(c, place, async (crawler) =>
      pagesPage(await listPage(c, (limit) => crawler.records({ ...query, limit })), asked),
    );
  });
  app.get('/duplicates', (c) =>
    answer(c, { title: 'Duplicates', section: '/duplicates' }, async (crawler) =>
      duplicatesPage(await listPage(c, (limit) => crawler.records({ status: 'duplicate', limit }))),
    ),
  );

  app.get('/url', (c) => {
    const url = asked(c);
    const action = canTouch ? touchForm(url) : null;
    return answer(c, { title: url || 'No URL given' }, async (crawler) => {
      if (url === '') return null;
      const explanation = await crawler.explain(url);
      const isRendered = explanation.record?.rendered === true;
      const picture = isRendered ? await state.withSegments(url, (segments) => segments.screenshot(url)) : null;
      return urlPage(explanation, action, now(), picture);
    });
  });
  app.get('/near', (c) =>
    answer(c, { title: 'Pages like this' }, async (crawler) =>
      nearPage(asked(c), await crawler.near(asked(c), { distance: NEAR_BITS, limit: ROWS })),
    ),
  );
  app.get('/blocks', (c) =>
    respond(c, { title: 'Blocks of the stored page' }, () =>
      state.withSegments(asked(c), (crawler) => blocksOf(state, crawler, asked(c))),
    ),
  );
  app.get('/diff', (c) =>
    respond(c, { title: 'What changed' }, () => state.withSegments(asked(c), (crawler) => difference(crawler, c))),
  );
  app.get('/stored', (c) =>
    respond(c, { title: 'The page as stored' }, () =>
      state.withSegments(asked(c), (crawler) => storedPage(crawler, addresses, asked(c), c.req.query())),
    ),
  );
  app.get('/compare', (c) =>
    respond(c, { title: 'The page at two dates' }, () => {
      const { from = '', to = '' } = c.req.query();
      return state.withSegments(asked(c), (crawler) => comparedPages(crawler, addresses, asked(c), { from, to }));
    }),
  );

  app.get('/screenshot', async (c) => {
    const segment = c.req.query('segment');
    try {
      const found = await state.withSegments(asked(c), (crawler) => crawler.screenshot(asked(c), segment));
      if (found === null) return c.text('No screenshot is stored.\n', 404);
      return c.body(new Uint8Array(found.png), 200, { 'Content-Type': 'image/png' });
    } catch (error) {
      if (!isForeseen(error)) throw error;
      return c.text(`${error.message}\n`, 404);
    }
  });

  app.post('/touch', async (c) => {
    if (!canTouch) return c.text('Changes need a token: start serve with --token-file.\n', 403);
    const form = await c.req.parseBody().catch(() => null);
    if (form === null) return c.text('Expected a form with the field u, a URL.\n', 400);
    const url = String(form.u ?? '');
    try {
      await state.touch(url).catch((error: unknown) => {
        if (tell === null || !isLocked(error)) throw error;
        return tellTouched(tell, [url]);
      });
    } catch (error) {
      if (!isLocked(error)) throw error;
      return c.text('A crawl holds the crawl db. Try again when it is done.\n', 503, { 'Retry-After': '5' });
    }
    return c.redirect(`/url?u=${encodeURIComponent(url)}`, 303);
  });
}

const asked = (c: Context): string => c.req.query('u')?.trim() ?? '';

async function blocksOf(state: StateAccess, crawler: Crawler, url: string): Promise<Shown> {
  const stored = await crawler.storedBody(url);
  if (stored === null) return markup`<p class="nothing">No segment holds the content of this page.</p>`;
  const { contentType, at, segment, ...page } = stored;
  const check = await state.withChecker((checker) =>
    checker.parse({ ...page, ...(contentType === null ? {} : { contentType }) }),
  );
  return blocksPage(check, `${at}, segment ${segment}`);
}

async function difference(crawler: Crawler, c: Context): Promise<Shown> {
  const [url, from, to] = [asked(c), c.req.query('from') ?? '', c.req.query('to') ?? ''];
  const versions = await crawler.versions(url);
  if (versions.length < 2) {
    return markup`<p class="nothing">${versions.length === 0 ? 'No version' : 'Only one version'} of this page is stored.</p>`;
  }
  const diff = await crawler.diff(url, {
    ...(from === '' ? {} : { from: { segment: from } }),
    ...(to === '' ? {} : { to: { segment: to } }),
  });
  return differencePage(diff, versions);
}

function touchForm(url: string): Markup {
  return markup`<form action="/touch" method="post"><input type="hidden" name="u" value="${url}"><button>Visit in the next round</button></form>`;
}

async function* newestFirst(crawler: CrawlReader, query: ChangesQuery): AsyncGenerator<ChangeView> {
  yield* (await all(crawler.changes(query))).reverse();
}

async function all<Row>(rows: AsyncIterable<Row>): Promise<Row[]> {
  const list: Row[] = [];
  for await (const row of rows) list.push(row);
  return list;
}
