// serve/: the live view: a web server over a state directory.

import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { type Context, Hono } from 'hono';
import { csrf } from 'hono/csrf';
import { HTTPException } from 'hono/http-exception';
import { streamSSE } from 'hono/streaming';
import { livingOf } from '../cluster/workers/workers-view.ts';
import { DAY_MS } from '../core/domain/time.ts';
import type { RoundEntry, RoundHistory, WorkersView } from '../crawler/views.ts';
import { recentHosts } from '../operations/reports/round-log.ts';
import { isForeseen } from '../render/exit.ts';
import { addControlRoutes, type ControlRoutes } from './control-routes.ts';
import { addFeedRoutes } from './feed-routes.ts';
import { type GuardOptions, guard, headers } from './guard.ts';
import { markup } from './markup.ts';
import { createMetrics } from './metrics.ts';
import { activityClass, activityText, layout, type PageParts } from './pages/layout.ts';
import { controlSection, overviewPage } from './pages/overview.ts';
import { ROUND_CURVES, roundsPage } from './pages/rounds.ts';
import { runSection, workersPage, workersSection, workersTables } from './pages/run.ts';
import type { RunWatch } from './run-watch.ts';
import type { Snapshots } from './snapshot.ts';
import type { StateAccess } from './state-access.ts';
import { addStateRoutes } from './state-routes.ts';
import { contentAddresses } from './stored/content-address.ts';
import { contentSource, isContentPath } from './stored/content-headers.ts';
import { addContentRoutes } from './stored/content-routes.ts';

/** Reports of past rounds. */
export interface RoundReports extends RoundHistory {
  /** The last rounds, oldest first. */
  last(limit: number): Promise<RoundEntry[]>;
}

/** Who may read and who may steer. */
export interface Guarded extends GuardOptions {
  /** `null`: the crawl cannot be steered from here. */
  readonly control: Omit<ControlRoutes, 'onSteered'> | null;
  /** A secret of this process for addresses of stored content, of letters that a path may have. */
  readonly contentKey: string;
}

export interface ServeDeps {
  readonly dir: string;
  readonly guarded: Guarded;
  readonly state: StateAccess;
  readonly snapshots: Snapshots;
  readonly watch: RunWatch;
  /** Ms since the epoch. */
  readonly now: () => number;
  readonly rounds: RoundReports;
  /** Unforeseen errors: defects of this program. */
  readonly onFault: (error: Error) => void;
}

/** Rounds in a chart, and in the same figures as JSON. */
const ROUNDS_PICTURED = 240;
const ROUNDS_GIVEN = 2_000;
/** Greatest age of figures on a page, ms, and for a scraper, which must not open the crawl db each time. */
const PAGE_AGE_MS = 5_000;
const SCRAPE_AGE_MS = 60_000;
/** Older figures are marked as such. */
const OLD_MS = 120_000;
const EVENT_EVERY_MS = 1_000;
/** The same for the workers of a shared crawl, which report every two seconds. */
const WORKERS_AGE_MS = 2_000;
/** Open event streams; a further one gets 503. */
const MAX_LISTENERS = 64;

export function createApp(deps: ServeDeps): Hono {
  const { dir, watch, snapshots } = deps;
  const { workers } = watch;
  const { control } = deps.guarded;
  const app = new Hono();
  const addresses = contentAddresses(deps.guarded.contentKey);
  const isContent = isContentPath(addresses.own);
  const ownHeaders = headers((c) => contentSource(c, addresses.own));
  app.use((c, next) => (isContent(c.req.path) ? next() : ownHeaders(c, next)));
  app.get('/healthz', async (c) => c.json(await health(deps)));
  app.use(guard(deps.guarded, isContent));
  // Commands have a stricter guard, which admits programs that send no `Origin`.
  const fromOwnPages = csrf();
  app.use((c, next) => (c.req.path.startsWith('/control/') ? next() : fromOwnPages(c, next)));
  app.get('/assets/:name', asset);
  app.use(async (_, next) => {
    await workers.get(WORKERS_AGE_MS);
    await next();
  });

  const page = (parts: Omit<PageParts, 'dir' | 'activity'>) => layout({ ...parts, dir, activity: watch.activity });

  app.get('/', async (c) => {
    const { activity, speeds } = watch;
    const [rounds, snapshot] = [await deps.rounds.rounds(), await snapshots.get(PAGE_AGE_MS)];
    const [[last = null], now] = [await deps.rounds.last(1), deps.now()];
    const hosts = recentHosts(await deps.rounds.hosts(), now - DAY_MS);
    const { stats = null, at = null } = snapshot ?? {};
    const budget = stats?.budget ?? null;
    const isSteered = control !== null;
    const data = {
      activity,
      isSteered,
      speeds,
      rounds,
      hosts,
      last,
      stats,
      statsAt: at,
      budget,
      span: c.req.query('span'),
      now,
    };
    const notice = rounds.length === 0 ? '' : oldFigures(at, now);
    const about = { title: 'Overview', section: '/', isLive: true, isHeadingShown: false, notice };
    return c.html(page({ ...about, content: overviewPage(data) }));
  });
  app.get('/rounds', async (c) => {
    const content = roundsPage(await deps.rounds.last(ROUNDS_PICTURED), watch.activity.schedule);
    return c.html(page({ title: 'Rounds', section: '/rounds', isLive: true, content }));
  });
  app.get('/workers', (c) => {
    const { view, fault } = workers.last;
    const about = { title: 'Workers', section: '/workers', isLive: true, isHeadingShown: false };
    return c.html(page({ ...about, notice: fault ?? '', content: workersPage(view) }));
  });
  const canTouch = deps.guarded.token !== null;
  addStateRoutes(app, { state: deps.state, addresses, canTouch, tell: control?.tell ?? null, now: deps.now }, page);
  addContentRoutes(app, { state: deps.state, addresses });
  if (control !== null) addControlRoutes(app, { ...control, onSteered: (state) => watch.noteSteering(state) }, page);

  addFeedRoutes(app, { dir, state: deps.state, now: deps.now });

  app.get('/data/workers.json', (c) => c.json(workers.last));
  app.get('/data/:name{[a-z]+\\.json}', async (c) => {
    const curves = ROUND_CURVES.get(c.req.param('name').replace(/\.json$/, ''));
    return curves === undefined ? c.notFound() : c.json(curves(await deps.rounds.last(ROUNDS_GIVEN)));
  });

  const metrics = createMetrics();
  app.get('/metrics', async (c) => {
    const [rounds, snapshot] = [await deps.rounds.last(ROUNDS_PICTURED), await snapshots.get(SCRAPE_AGE_MS)];
    const text = await metrics.text({ activity: watch.activity, snapshot, rounds });
    return c.body(text, 200, { 'Content-Type': metrics.contentType });
  });

  let listeners = 0;
  app.get('/events', (c) => {
    // A client that sends HEAD reads no stream: its end would never be noticed.
    if (c.req.method === 'HEAD') return c.body(null, 200, { 'Content-Type': 'text/event-stream' });
    if (listeners >= MAX_LISTENERS)
      return c.text('Too many pages are open on this server. Try again later.\n', 503, { 'Retry-After': '30' });
    listeners++;
    return streamSSE(c, async (stream) => {
      try {
        while (!stream.aborted && !stream.closed) {
          await workers.get(WORKERS_AGE_MS);
          await stream.writeSSE({ event: 'activity', data: JSON.stringify(activityEvent(watch, control !== null)) });
          await stream.sleep(EVENT_EVERY_MS);
        }
      } finally {
        listeners--;
      }
    });
  });

  app.notFound((c) => c.html(page({ title: 'Not found', content: markup`<p>There is no such page.</p>` }), 404));
  app.onError((error, c) => {
    if (error instanceof HTTPException) return error.getResponse();
    // For example a damaged or unreachable crawl db: the message says enough.
    if (isForeseen(error)) return c.html(page({ title: 'Error', notice: error.message, content: null }), 500);
    deps.onFault(error);
    return c.html(
      page({ title: 'Error', content: markup`<p>This page failed; the log of "incrawl serve" says why.</p>` }),
      500,
    );
  });
  return app;
}

/** The state of the run for an open page, as markup, so that everything from the crawl is escaped in one place. */
function activityEvent({ activity, speeds }: RunWatch, isSteered: boolean): object {
  const { run, state, workers } = activity;
  return {
    className: activityClass(activity),
    text: activityText(activity),
    run: run === null ? null : String(runSection(run, speeds)),
    workers: workers === null ? null : String(workersSection(workers)),
    'workers-tables': workers === null ? null : String(workersTables(workers)),
    control: run === null || !isSteered ? null : String(controlSection(run)),
    // When this changes, the rest of the page has changed too.
    mark: `${state} ${run?.pid ?? ''} ${run?.roundsDone ?? ''}`,
  };
}

/** The notice over figures that are not current; empty for current ones. */
function oldFigures(at: number | null, now: number): string {
  if (at === null) return 'Another process holds the crawl db: these figures are from the last round.';
  const when = new Date(at).toISOString().slice(0, 16).replace('T', ' ');
  return now - at < OLD_MS ? '' : `These figures are from ${when}: another process holds the crawl db.`;
}

/** The answer of `/healthz`. */
async function health({ watch, rounds }: ServeDeps): Promise<object> {
  await watch.workers.get(SCRAPE_AGE_MS);
  const { state, run, schedule, workers } = watch.activity;
  const last = (await rounds.last(1)).at(-1);
  return {
    status: 'ok',
    crawl: state,
    round: run?.progress?.round ?? null,
    lastRoundAt: last?.at ?? null,
    schedule: schedule === null ? null : { nextRunAt: schedule.nextRunAt, lastRunOk: schedule.lastRun?.ok ?? null },
    ...(workers !== null && { workers: livingOf(workers).length, failedPartitions: failedOf(workers) }),
  };
}

const failedOf = ({ partitions }: WorkersView): number => partitions.filter(({ state }) => state === 'failed').length;

const own = (name: string): string => fileURLToPath(new URL(`assets/${name}`, import.meta.url));

/** All files that pages load, by name. All are bundled: pages load nothing from another server. */
const FILES: ReadonlyMap<string, { readonly file: string; readonly type: string }> = new Map([
  ['style.css', { file: own('style.css'), type: 'text/css; charset=utf-8' }],
  ['live.js', { file: own('live.js'), type: 'text/javascript; charset=utf-8' }],
  ['icon.svg', { file: own('icon.svg'), type: 'image/svg+xml' }],
]);

const read = new Map<string, Promise<Buffer>>();

async function asset(c: Context): Promise<Response> {
  const name = c.req.param('name') ?? '';
  const known = FILES.get(name);
  if (known === undefined) return c.notFound();
  const text = read.get(name) ?? readFile(known.file);
  read.set(name, text);
  return c.body(new Uint8Array(await text), 200, { 'Content-Type': known.type, 'Cache-Control': 'no-cache' });
}
