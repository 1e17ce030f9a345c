import { livingOf } from '../../cluster/workers/workers-view.ts';
import type { DbStats } from '../../crawler/index.ts';
import type { BudgetView, PastRound, RoundEntry, RoundHosts } from '../../crawler/views.ts';
import type { RunReport } from '../../remote/schedule/health.ts';
import { shortTime } from '../../render/columns.ts';
import { span } from '../../render/quantities.ts';
import { failureLines } from '../../render/text/failures-text.ts';
import { chosenSpan, clockText, SPANS, type Span } from '../charts/time-buckets.ts';
import { type Markup, markup } from '../markup.ts';
import type { Activity, Speed } from '../run-watch.ts';
import { controlForms, controlSection } from './control.ts';
import { keyFigures } from './key-figures.ts';
import { nothing } from './panel.ts';
import { pastPanels } from './past-panels.ts';
import { duePanel, hostsPanel, statesPanel } from './present-panels.ts';
import { lastRoundSection, runSection } from './run.ts';
import { workersSection } from './workers.ts';

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
  /** `null`: the crawl db was not readable so far. */
  readonly stats: DbStats | null;
  /** Time of `stats`, ms since the epoch. */
  readonly statsAt: number | null;
  readonly budget: BudgetView | null;
  /** Name of the span asked for. */
  readonly span?: string | undefined;
  /** Ms since the epoch. */
  readonly now: number;
}

/** What an operator looks for each morning, on one screen. */
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

/** Why a run has failed: its error, or else the reasons of its visits. */
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

/** How old the figures are: none of them is counted for a page. */
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
