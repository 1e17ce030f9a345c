import { Hono } from 'hono';
import { csrf } from 'hono/csrf';
import { HTTPException } from 'hono/http-exception';
import { streamSSE } from 'hono/streaming';
import type { Checker, Crawler, RoundEntry } from '../../crawler.ts';
import type { CrawlReader } from '../../operations/questions.ts';
import { isForeseen } from '../exit.ts';
import { asset } from './assets.ts';
import { guard, headers } from './guard.ts';
import type { Shown } from './markup.ts';
import { markup } from './markup.ts';
import { createMetrics } from './metrics.ts';
import { activityText, layout } from './pages/layout.ts';
import { overviewPage } from './pages/overview.ts';
import { roundsPage } from './pages/rounds.ts';
import { runSection } from './pages/run.ts';
import { ROUND_CURVES, speedCurves } from './round-curves.ts';
import type { RunWatch } from './run-watch.ts';
import type { Snapshots } from './snapshot.ts';
import type { StateReader } from './state-reader.ts';
import { addStateRoutes } from './state-routes.ts';

/** What the pages are made from. */
export interface ServeDeps {
  readonly dir: string;
  readonly token: string | null;
  readonly host: string;
  /** The crawl db opened here, for what changes it. */
  readonly reader: StateReader;
  /** Asks the crawl db, or the process that has it. */
  readonly ask: <Value>(use: (reader: CrawlReader) => Promise<Value>) => Promise<Value>;
  readonly snapshots: Snapshots;
  readonly watch: RunWatch;
  readonly now: () => number;
  readonly rounds: (limit: number) => Promise<RoundEntry[]>;
  /** For as long as `use` runs: the segments alone, which can be read while a crawl runs. */
  /** Makes a URL due in the next round. Rejects with `db-locked` while a crawl holds the crawl db. */
  readonly touch: (url: string) => Promise<unknown>;
  readonly withSegments: <Value>(use: (crawler: Crawler) => Promise<Value>) => Promise<Value>;
  readonly withChecker: <Value>(use: (checker: Checker) => Promise<Value>) => Promise<Value>;
  readonly isLocked: (error: unknown) => boolean;
  /** Errors that are nobody's fault but ours. */
  readonly onFault: (error: Error) => void;
}

/** Rounds behind a picture, and behind a curve that can be read off. */
const ROUNDS_PICTURED = 240;
const ROUNDS_DRAWN = 2_000;
/** Figures on a page may be so old; those for a scraper older, so that it does not open the crawl db each time. */
const PAGE_AGE_MS = 5_000;
const SCRAPE_AGE_MS = 60_000;
const OLD_MS = 120_000;
const EVENT_EVERY_MS = 1_000;
/** Views that stay open; more are told to come back later. */
const MAX_LISTENERS = 64;

export function createApp(deps: ServeDeps): Hono {
  const { dir, watch, snapshots } = deps;
  const app = new Hono();
  app.use(headers);
  app.get('/healthz', async (c) => c.json(await health(deps)));
  app.use(guard({ token: deps.token, host: deps.host }));
  app.use(csrf());
  app.get('/assets/:name', asset);

  const page = (parts: { title: string; section?: string; notice?: Shown; isLive?: boolean; content: Shown }) =>
    layout({ ...parts, dir, activity: watch.activity });

  app.get('/', async (c) => {
    const [rounds, snapshot] = [await deps.rounds(ROUNDS_PICTURED), await snapshots.get(PAGE_AGE_MS)];
    const { activity, speeds } = watch;
    const content = overviewPage({ activity, speeds, rounds, stats: snapshot?.stats ?? null });
    const notice = rounds.length === 0 ? '' : oldFigures(snapshot?.at ?? null, deps.now());
    return c.html(page({ title: 'Overview', section: '/', isLive: true, notice, content }));
  });
  app.get('/rounds', async (c) => {
    const content = roundsPage(await deps.rounds(ROUNDS_PICTURED));
    return c.html(page({ title: 'Rounds', section: '/rounds', isLive: true, content }));
  });
  addStateRoutes(app, deps, page);

  app.get('/data/speed.json', (c) => c.json(speedCurves(watch.speeds)));
  app.get('/data/:name{[a-z]+\\.json}', async (c) => {
    const curves = ROUND_CURVES.get(c.req.param('name').replace(/\.json$/, ''));
    return curves === undefined ? c.notFound() : c.json(curves(await deps.rounds(ROUNDS_DRAWN)));
  });

  const metrics = createMetrics();
  app.get('/metrics', async (c) => {
    const [rounds, snapshot] = [await deps.rounds(ROUNDS_PICTURED), await snapshots.get(SCRAPE_AGE_MS)];
    const text = await metrics.text({ activity: watch.activity, snapshot, rounds });
    return c.body(text, 200, { 'Content-Type': metrics.contentType });
  });

  let listeners = 0;
  app.get('/events', (c) => {
    // Who asks for the head alone reads no stream, and so would never be seen to leave.
    if (c.req.method === 'HEAD') return c.body(null, 200, { 'Content-Type': 'text/event-stream' });
    if (listeners >= MAX_LISTENERS) return c.text('Too many views are open.\n', 503, { 'Retry-After': '30' });
    listeners++;
    return streamSSE(c, async (stream) => {
      try {
        while (!stream.aborted && !stream.closed) {
          await stream.writeSSE({ event: 'activity', data: JSON.stringify(activityEvent(watch)) });
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
    // A crawl db that is damaged, or cannot be reached: nobody's fault here, and its message says what it is.
    if (isForeseen(error)) return c.html(page({ title: 'Error', notice: error.message, content: null }), 500);
    deps.onFault(error);
    return c.html(page({ title: 'Error', content: markup`<p>The page could not be made; the log says why.</p>` }), 500);
  });
  return app;
}

/** What an open page is told: markup, so that everything from the crawl is escaped in one place. */
function activityEvent({ activity, speeds }: RunWatch): object {
  const { run, state } = activity;
  const last = speeds.at(-1);
  return {
    text: activityText(activity),
    run: run === null ? null : String(runSection(run)),
    // What else is on the page has changed when this has.
    mark: `${state} ${run?.pid ?? ''} ${run?.roundsDone ?? ''} ${speeds.length > 1}`,
    speed: last === undefined ? null : [last[0] / 1_000, Math.round(last[1] * 10) / 10],
  };
}

/** What is to be said of figures that are not of now. */
function oldFigures(at: number | null, now: number): string {
  if (at === null) return 'Another process has the crawl db: figures are those of the last round.';
  const when = new Date(at).toISOString().slice(0, 16).replace('T', ' ');
  return now - at < OLD_MS ? '' : `Figures of the crawl db are from ${when}: another process has it.`;
}

/** Whether this process lives, and what it sees. */
async function health({ watch, rounds }: ServeDeps): Promise<object> {
  const { state, run, schedule } = watch.activity;
  const last = (await rounds(1)).at(-1);
  return {
    status: 'ok',
    crawl: state,
    round: run?.progress?.round ?? null,
    lastRoundAt: last?.at ?? null,
    schedule: schedule === null ? null : { nextRunAt: schedule.nextRunAt, lastRunOk: schedule.lastRun?.ok ?? null },
  };
}
