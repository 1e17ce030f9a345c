import { livingOf } from '../../cluster/workers/workers-view.ts';
import { DAY_MS } from '../../core/domain/time.ts';
import type { DbStats } from '../../crawler/index.ts';
import type { BudgetView, PastRound, RoundEntry, RoundHosts } from '../../crawler/views.ts';
import type { RunStatus } from '../../remote/run-status/run-status.ts';
import type { RunReport } from '../../remote/schedule/health.ts';
import { shortTime } from '../../render/columns.ts';
import { brief, bytes, count, counted, span } from '../../render/quantities.ts';
import { failureLines } from '../../render/text/seeds-text.ts';
import { shareText } from '../charts/bars.ts';
import { chosenSpan, clockText, SPANS, type Span, sumsOf, visitsOf } from '../charts/time-buckets.ts';
import { type Markup, markup, nothing, type Shown } from '../markup.ts';
import type { Activity, Speed } from '../run-watch.ts';
import { duePanel, hostsPanel, pastPanels, statesPanel } from './panels.ts';
import { lastRoundSection, runSection, workersSection } from './run.ts';

export interface OverviewData {
  readonly activity: Activity;
  readonly speeds: readonly Speed[];
  /** Whether the crawl can be steered from here. */
  readonly isSteered: boolean;
  /** `null` before the first round. */
  readonly last: RoundEntry | null;
  readonly rounds: readonly PastRound[];
  /** Of the last 24 hours. */
  readonly hosts: RoundHosts;
  /** `null`: the crawl db has not been readable so far. */
  readonly stats: DbStats | null;
  /** Time of `stats`, ms since the epoch. */
  readonly statsAt: number | null;
  readonly budget: BudgetView | null;
  /** Name of the requested span. */
  readonly span?: string | undefined;
  /** Ms since the epoch. */
  readonly now: number;
}

/** What an operator checks each morning, on one screen. */
export function overviewPage(data: OverviewData): Markup {
  const { activity, speeds, isSteered, last, rounds, hosts, stats, budget, now } = data;
  const shown = chosenSpan(data.span, rounds[0]?.at, now);
  const running = runningParts(activity, speeds, isSteered);
  if (stats === null && last === null)
    return running === null ? firstSteps : markup`${running}${nothing('The first round is under way.')}`;
  const run = running ?? (last && lastRoundSection(last, now));
  const past = pastPanels(rounds, shown, now);
  const failed = activity.schedule?.lastRun?.ok === false ? activity.schedule.lastRun : null;
  return markup`${spanChoice(shown)}${failed === null ? null : markup`<p class="notice">The last scheduled run failed at ${shortTime(failed.at)}: ${faultOf(failed)}</p>`}
${run}
${keyFigures({ stats, budget, last, rounds, now })}
<div class="panels">
${past.visits}
${past.changes}
${past.fresh}
${duePanel(stats, budget, rounds, now)}
${statesPanel(stats?.byStatus ?? last?.byStatus ?? {})}
${hostsPanel(hosts, 'last 24 h')}
</div>
<p class="age">${ages(data)}</p>`;
}

/** Why a run has failed: its error, or otherwise the reasons of its visits. */
function faultOf({ error, stoppedBy, failures = [] }: RunReport): string {
  return error ?? (failures.length === 0 ? (stoppedBy ?? '') : failureLines(failures).join('; '));
}

/** The workers of a shared crawl, or the run on this state directory; `null`: there is none. */
function runningParts({ run, workers }: Activity, speeds: readonly Speed[], isSteered: boolean): Markup | null {
  if (workers !== null && livingOf(workers).length > 0 && (run === null || run.command === 'work'))
    return workersSection(workers);
  if (run === null) return null;
  const section = runSection(run, speeds);
  return isSteered ? markup`${section}${controlSection(run)}${controlForms}` : section;
}

/** The age of the figures: none of them is computed for a page. */
function ages({ statsAt, last, now }: OverviewData): string {
  const ago = (at: number): string => {
    const seconds = Math.round((now - at) / 1_000);
    return `${clockText(at)} (${seconds < 1 ? 'now' : `${span(seconds)} ago`})`;
  };
  const db = statsAt === null ? 'The crawl db has not been read yet.' : `Crawl db as of ${ago(statsAt)}.`;
  return last === null ? db : `${db} Rounds up to ${ago(Date.parse(last.at))}; a round counts when it ends.`;
}

function spanChoice(shown: Span): Markup {
  const links = SPANS.map(({ name, label }) =>
    name === shown.name
      ? markup`<li><a href="/?span=${name}" aria-current="true">${label}</a></li>`
      : markup`<li><a href="/?span=${name}">${label}</a></li>`,
  );
  return markup`<nav class="spans" aria-label="Time shown"><ul>${links}</ul></nav>`;
}

const firstSteps = markup`<section class="first"><h2>Nothing has been crawled yet.</h2>
<p>A first crawl, in another terminal, with the same <code>--dir</code>:</p>
<pre><code>incrawl crawl https://example.org/ --contact you@example.org</code></pre>
<p>This page fills up while the crawl runs.</p></section>`;

/** Buttons that steer the current run. The script of the page replaces them when the state has changed. */
export function controlSection({ steering }: RunStatus): Markup {
  const { paused = false, stopping = false } = steering ?? {};
  return markup`<section class="control" aria-label="Steering" data-live="control">
${paused ? button('resume', 'Resume') : button('pause', 'Pause')}
${stopping ? markup`<span>Stops after this round.</span>` : button('stop', 'Stop after this round')}</section>`;
}

const button = (command: string, text: string): Markup =>
  markup`<form action="/control/${command}" method="post"><button>${text}</button></form>`;

/** Forms for commands that are rarely needed. */
const controlForms: Markup = markup`<details class="control-forms"><summary>Seeds and delays</summary>
<form action="/control/inject" method="post"><label for="seeds">Seeds, one a line</label><textarea id="seeds" name="seeds" rows="3" cols="60" required></textarea><button>Add seeds</button></form>
<form action="/control/delay" method="post"><label for="host">Host</label><input id="host" name="host" type="text" required><label for="seconds">seconds between requests</label><input id="seconds" name="seconds" type="number" min="0" step="any" required><button>Set delay</button></form>
</details>`;

interface KeyData {
  readonly stats: DbStats | null;
  readonly budget: BudgetView | null;
  readonly last: RoundEntry | null;
  readonly rounds: readonly PastRound[];
  readonly now: number;
}

interface Figure {
  readonly label: string;
  readonly value: string;
  readonly note?: Shown;
  /** Whether it needs attention. */
  readonly isBad?: boolean;
}

/** From this share of failed visits on, they need attention. */
const MANY_FAILED = 0.05;

/** The figures that are read first; `-` for unknown. */
function keyFigures({ stats, budget, last, rounds, now }: KeyData): Markup {
  const day = sumsOf(rounds, now - DAY_MS, now + 1);
  const visits = visitsOf(day);
  const estimate = rounds.findLast(({ sample }) => sample.fresh !== null)?.sample ?? null;
  const failedShare = visits === 0 ? 0 : day.failed / visits;
  const figures: readonly Figure[] = [
    {
      label: 'URLs',
      value: short(stats?.urls ?? last?.urls ?? 0),
      note: counted(stats?.hosts ?? last?.hosts ?? 0, 'host'),
    },
    {
      label: 'due now',
      value: stats === null ? '-' : short(stats.due),
      note: stats === null ? null : overdueText(stats),
      isBad: (stats?.overdue ?? 0) > 0,
    },
    {
      label: 'fresh, estimated',
      value: estimate?.fresh == null ? '-' : `${(100 * estimate.fresh).toFixed(1)} %`,
      note: estimate?.changesPerDay == null ? 'no change rates yet' : `${short(estimate.changesPerDay)} changes/day`,
    },
    { label: 'visits, 24 h', value: short(visits), note: budgetText(budget) },
    {
      label: 'changed, 24 h',
      value: short(day.modified),
      note: `${short(day.new)} new, ${short(day.gone)} gone`,
    },
    {
      label: 'failed, 24 h',
      value: short(day.failed),
      note: visits === 0 ? 'of no visits' : `${shareText(failedShare)} of the visits`,
      isBad: failedShare >= MANY_FAILED,
    },
    {
      label: 'received, 24 h',
      value: bytes(day.bytesReceived),
      note: last === null ? null : `${bytes(last.sums.bytesReceived)} in all`,
    },
    {
      label: 'median interval',
      value: stats?.interval == null ? '-' : span(stats.interval.p50),
      note: stats?.interval == null ? null : `${span(stats.interval.min)} to ${span(stats.interval.max)}`,
    },
  ];
  return markup`<dl class="key">${figures.map(figureOf)}</dl>`;
}

function figureOf({ label, value, note = null, isBad = false }: Figure): Markup {
  return markup`<div${isBad ? markup` class="bad"` : null}><dt>${label}</dt><dd>${value}${note === null ? null : markup`<small>${note}</small>`}</dd></div>`;
}

const overdueText = ({ overdue, waiting }: DbStats): string =>
  overdue > 0
    ? `${brief(overdue)} for over a day`
    : waiting === null
      ? 'none for over a day'
      : `longest for ${span(waiting.max)}`;

function budgetText(budget: BudgetView | null): string {
  if (budget === null) return 'no budget';
  const { perDay, spentToday } = budget;
  return spentToday === null ? `budget ${brief(perDay)}` : `today ${brief(spentToday)} of ${brief(perDay)}`;
}

/** In full up to six digits. */
const short = (value: number): string => (value < 1e6 ? count(value) : brief(value));
