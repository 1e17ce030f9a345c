import { livingOf } from '../../cluster/workers/workers-view.ts';
import type { WorkersView } from '../../crawler/views.ts';
import { steeringText } from '../../remote/run-status/run-status.ts';
import { count, counted } from '../../render/quantities.ts';
import { type Markup, markup, type Shown } from '../markup.ts';
import type { Activity } from '../run-watch.ts';

const SECTIONS = [
  ['/', 'Overview'],
  ['/workers', 'Workers'],
  ['/rounds', 'Rounds'],
  ['/changes', 'Changes'],
  ['/due', 'Due'],
  ['/hosts', 'Hosts'],
  ['/pages', 'Pages'],
  ['/duplicates', 'Duplicates'],
] as const;

export interface PageParts {
  readonly title: string;
  /** Its entry in the menu. */
  readonly section?: string;
  readonly dir: string;
  readonly activity: Activity;
  /** Shown above the content, such as an error. */
  readonly notice?: Shown;
  /** Reloaded every 15 s in browsers without JavaScript. */
  readonly isLive?: boolean;
  /** Whether the title is visible above the content; otherwise only screen readers read it. Default: true. */
  readonly isHeadingShown?: boolean;
  readonly content: Shown;
}

/** A whole page. */
export function layout(parts: PageParts): Markup {
  const { title, section, dir, activity, notice, isLive, isHeadingShown = true, content } = parts;
  const sections = SECTIONS.filter(([href]) => href !== '/workers' || activity.workers !== null);
  const menu = sections.map(
    ([href, name]) =>
      markup`<li><a href="${href}"${href === section ? markup` aria-current="page"` : null}>${name}</a></li>`,
  );
  return markup`<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} - incrawl</title>
<link rel="alternate" type="application/atom+xml" title="Changes" href="/changes.atom">
<link rel="icon" href="/assets/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/assets/style.css">
${isLive ? markup`<noscript><meta http-equiv="refresh" content="15"></noscript>` : null}
<script src="/assets/live.js" defer></script>
</head><body>
<a class="skip" href="#content">Skip to the content</a>
<header>
<p class="brand"><a href="/">incrawl</a> <span class="dir" title="${dir}"><bdi>${dir}</bdi></span></p>
<nav aria-label="Sections"><ul>${menu}</ul></nav>
<form role="search" action="/url" method="get"><label class="unseen" for="u">URL</label><input id="u" name="u" type="text" inputmode="url" autocomplete="off" spellcheck="false" placeholder="Explain a URL"><button>Explain</button></form>
</header>
<p class="${activityClass(activity)}" data-live="activity">${activityText(activity)}</p>
<main id="content" tabindex="-1">
<h1${isHeadingShown ? null : markup` class="unseen"`}><bdi>${title}</bdi></h1>
${notice === undefined || notice === '' ? null : markup`<p class="notice">${notice}</p>`}
${content}
</main>
<footer><p>Times are UTC. <a href="/metrics">Metrics</a> · <a href="/healthz">Health</a></p></footer>
</body></html>
`;
}

export const activityClass = ({ state, run }: Activity): string =>
  `activity ${state}${run?.steering?.paused ? ' paused' : ''}`;

/** The activity in one sentence. */
export function activityText({ state, run, schedule, workers }: Activity): string {
  if (workers !== null && (run === null || run.command === 'work')) return workersText(workers);
  if (run !== null) {
    const { progress } = run;
    const where =
      progress === null
        ? 'starting'
        : `round ${progress.round}, ${progress.stage}, ${count(progress.done)} of ${counted(progress.urls, 'URL')}`;
    const steered = steeringText(run);
    return `A crawl runs (${run.command}, process ${run.pid}${steered === '' ? '' : `; ${steered}`}): ${where}.`;
  }
  if (state === 'waiting') {
    const next = schedule?.nextRunAt ?? null;
    const when = next === null ? 'soon' : `at ${next.slice(0, 16).replace('T', ' ')}`;
    return `No crawl is running. The scheduler (${schedule?.timetable}) starts the next run ${when}.`;
  }
  return 'No crawl is running.';
}

function workersText(view: WorkersView): string {
  const living = livingOf(view);
  const dead = view.workers.length - living.length;
  const lost = dead === 0 ? '' : ` ${count(dead)} died or failed within the last hour.`;
  if (living.length === 0) return `No worker is running.${lost}`;
  const held = view.partitions.filter(({ state }) => state === 'held').length;
  const rate = living.reduce((sum, { visitsPerSecond }) => sum + visitsPerSecond, 0);
  const hold = living.length === 1 ? 'holds' : 'hold';
  const of = `${count(held)} of ${counted(view.partitions.length, 'partition')}`;
  return `${counted(living.length, 'worker')} ${hold} ${of}: ${count(rate)} pages a second.${lost}`;
}
