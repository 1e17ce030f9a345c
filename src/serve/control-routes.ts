import type { Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { CrawlError } from '../core/domain/errors.ts';
import { typedHost } from '../core/domain/url/canonical/host-pattern.ts';
import type { Steering } from '../crawler/views.ts';
import { HOST_EXPECTED } from '../query/input/option-values.ts';
import { type Tell, tellSeeds, tellTouched } from '../remote/questions/tell-batches.ts';
import { EXIT, exitCodeOf, isForeseen } from '../render/exit.ts';
import { injectText } from '../render/text/seeds-text.ts';
import { delayText, touchText } from '../render/text/steering-text.ts';
import { type SteeringGuardOptions, steeringGuard } from './guard.ts';
import { linesOf, type Markup, markup, type Shown } from './markup.ts';

export interface ControlRoutes extends SteeringGuardOptions {
  /** Tells the crawl running on the state directory. */
  readonly tell: Tell;
  /** Called with the state after a command, ahead of the news from the crawl itself. */
  readonly onSteered: (state: Steering) => void;
}

type Page = (parts: { title: string; notice?: Shown; content: Shown }) => Markup;

/** Bytes of a form: some ten thousand seeds. */
const MAX_FORM = 1_048_576;

const STATES = ['pause', 'resume', 'stop'] as const;

/**
 * Routes that steer the crawl. Browsers get pages, programs JSON: `{"error", "message"}` if the command was refused.
 */
export function addControlRoutes(app: Hono, { tell, onSteered, names }: ControlRoutes, page: Page): void {
  app.use('/control/*', steeringGuard({ names }));
  app.use('/control/*', bodyLimit({ maxSize: MAX_FORM }));
  const route = (path: string, obey: (c: Context, form: URLSearchParams) => Promise<Obeyed>): void => {
    app.post(`/control/${path}`, async (c) => {
      try {
        const { answer, text } = await obey(c, new URLSearchParams(await c.req.text()));
        if (!wantsPage(c)) return c.json(answer);
        return text === null ? c.redirect('/', 303) : c.html(page({ title: 'Steering', notice: text, content: BACK }));
      } catch (error) {
        if (!isForeseen(error)) throw error;
        const { code, message } = error;
        const status = code === 'run-missing' ? 409 : exitCodeOf(error) === EXIT.usage ? 400 : 503;
        if (!wantsPage(c)) return c.json({ error: code, message }, status);
        return c.html(page({ title: 'Steering', notice: message, content: BACK }), status);
      }
    });
  };
  for (const name of STATES) {
    route(name, async () => {
      const answer = await tell(name);
      onSteered(answer);
      return { answer, text: null };
    });
  }
  route('touch', async (_, form) => {
    const answer = await tellTouched(tell, form.getAll('u'));
    return { answer, text: touchText(answer) };
  });
  route('inject', async (_, form) => {
    const answer = await tellSeeds(tell, [{ name: 'seeds', lines: (form.get('seeds') ?? '').split(/\r?\n/) }]);
    return { answer, text: linesOf(injectText(answer)) };
  });
  route('delay', async (_, form) => {
    const [host, seconds] = [typedHost(form.get('host') ?? ''), Number(form.get('seconds') || Number.NaN)];
    if (host === null) throw new CrawlError('usage-invalid', HOST_EXPECTED);
    if (!(seconds >= 0 && Number.isFinite(seconds)))
      throw new CrawlError('usage-invalid', 'Expected seconds, such as 30.');
    const answer = await tell('delay', host, seconds * 1_000);
    return { answer: { host, ...answer }, text: delayText(host, seconds * 1_000, answer) };
  });
}

interface Obeyed {
  readonly answer: object;
  /** For people; `null`: the overview shows the change. */
  readonly text: Shown;
}

const wantsPage = (c: Context): boolean => /\btext\/html\b/.test(c.req.header('accept') ?? '');

const BACK = markup`<p><a href="/">Overview</a></p>`;
