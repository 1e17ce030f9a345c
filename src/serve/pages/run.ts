import { livingOf, type WorkersView } from '../../cluster/workers/workers-view.ts';
import { unchangedVisits } from '../../core/domain/crawl/change/change-belief.ts';
import type { RoundEntry } from '../../crawler/views.ts';
import type { RunStatus } from '../../remote/run-status/run-status.ts';
import { shortTime } from '../../render/columns.ts';
import { bytes, count, counted, span } from '../../render/quantities.ts';
import { partitionColumns, workerColumns, workerFaults } from '../../render/workers-columns.ts';
import { shareText } from '../charts/bars.ts';
import { sparkLine } from '../charts/spark-line.ts';
import { htmlTable, type Markup, markup, nothing, type Shown } from '../markup.ts';
import type { Speed } from '../run-watch.ts';

/** Points of the curve of the speed: the last minutes. */
const SPEEDS_SHOWN = 120;

/** The current run, in two lines. The script of the page updates this section in place. */
export function runSection(
  { progress, totals, roundsDone, startedAt, at }: RunStatus,
  speeds: readonly Speed[],
): Markup {
  const seconds = (Date.parse(at) - Date.parse(startedAt)) / 1_000;
  const share = progress === null || progress.urls === 0 ? null : progress.done / progress.urls;
  const hosts = progress?.busiest.map(({ host, waiting, running }) => `${host} ${count(waiting + running)}`) ?? [];
  const values = speeds.slice(-SPEEDS_SHOWN).map(([, speed]) => speed);
  const speed =
    progress === null
      ? null
      : markup`${count(progress.pagesPerSecond)}${sparkLine('Pages a second, last minutes', values)}`;
  return markup`<section class="run" aria-label="Current run" data-live="run">
${share === null ? null : markup`<progress max="100" value="${Math.floor(100 * share)}" aria-label="Pages of this round">${Math.floor(100 * share)} %</progress>`}
${inline([
  ['round', progress === null ? null : `${count(progress.round)}${share === null ? '' : `: ${shareText(share)}`}`],
  ['pages a second', speed],
  ['in flight', progress === null ? null : count(progress.inFlight)],
  ['waiting', progress === null ? null : count(progress.waiting)],
  ['parsing', progress === null ? null : count(progress.parsing)],
  ['received', progress === null ? null : bytes(progress.bytesReceived)],
  ['saved', progress === null ? null : bytes(progress.bytesSaved)],
])}
${inline([
  ['run', `${span(seconds)}, ${counted(roundsDone, 'round')} done`],
  ['requests', count(totals.requests)],
  ['new', count(totals.new)],
  ['changed', count(totals.modified)],
  ['unchanged', count(totals.unchanged)],
  ['gone', count(totals.gone)],
  ['failed', count(totals.failed)],
  ['busiest now', hosts.length === 0 ? null : hosts.join(', ')],
])}</section>`;
}

const DAY_SECONDS = 86_400;

/** The last round, in one line, if no crawl runs. */
export function lastRoundSection(round: RoundEntry, now: number): Markup {
  const seconds = Math.max(0, Math.round((now - Date.parse(round.at)) / 1_000));
  return markup`<section class="run" aria-label="Last round">${inline([
    ['last round', `${seconds < DAY_SECONDS ? round.at.slice(11, 16) : shortTime(round.at)}, ${span(seconds)} ago`],
    ['took', span(round.ms / 1_000)],
    ['URLs', count(round.generated)],
    ['requests', count(round.requests)],
    ['new', count(round.new)],
    ['changed', count(round.modified)],
    ['unchanged', count(unchangedVisits(round))],
    ['gone', count(round.gone)],
    ['failed', count(round.failed)],
    ['found', count(round.newUrls)],
    ['received', bytes(round.bytesReceived)],
  ])}</section>`;
}

/** `label: value` pairs in lines; those without a value are left out. */
function inline(pairs: readonly (readonly [label: string, value: Shown])[]): Markup {
  const shown = pairs.filter(([, value]) => value !== null);
  return markup`<dl class="inline">${shown.map(([label, value]) => markup`<div><dt>${label}</dt><dd>${value}</dd></div>`)}</dl>`;
}

/** Workers, speed and partitions in two lines. The script of the page updates this section in place. */
export function workersSection(view: WorkersView): Markup {
  const { workers, partitions } = view;
  const sum = (of: (each: (typeof workers)[number]) => number): number =>
    workers.reduce((total, each) => total + of(each), 0);
  const numberOf = (state: (typeof workers)[number]['state']): number =>
    workers.filter((each) => each.state === state).length;
  const [dead, failed] = [numberOf('dead'), numberOf('failed')];
  const states = ['held', 'due', 'resting', 'retrying', 'failed', 'done'] as const;
  return markup`<section class="run" aria-label="Workers" data-live="workers">${inline([
    ['workers', markup`<a href="/workers">${count(livingOf(view).length)}</a>`],
    ['dead', dead === 0 ? null : markup`<strong class="bad">${count(dead)}</strong>`],
    ['ended by a fault', failed === 0 ? null : markup`<strong class="bad">${count(failed)}</strong>`],
    ['pages a second', count(sum(({ visitsPerSecond }) => visitsPerSecond))],
    ['in flight', count(sum(({ inFlight }) => inFlight))],
    ['pages', count(sum(({ visits }) => visits))],
    ['received', bytes(sum(({ bytesReceived }) => bytesReceived))],
  ])}
${inline([
  ['partitions', count(partitions.length)],
  ...states.map((state): readonly [string, Shown] => {
    const those = partitions.filter((each) => each.state === state).length;
    const isBad = state === 'failed' || state === 'retrying';
    return [state, those === 0 ? null : isBad ? markup`<strong class="bad">${count(those)}</strong>` : count(those)];
  }),
  ['due', count(partitions.reduce((total, { due }) => total + (due ?? 0), 0))],
])}</section>`;
}

/** All workers and partitions, in one part that the script of the page updates in place. */
export function workersTables(view: WorkersView): Markup {
  const faults = workerFaults(view).map((text) => markup`<p class="notice">${text}</p>`);
  const workers = htmlTable('Workers', workerColumns(view), view.workers, { state: ({ state }) => stateOf(state) });
  const cells = { state: ({ state }: { readonly state: string }) => stateOf(state) };
  return markup`<div data-live="workers-tables">${faults}${workers}
${htmlTable('Partitions', partitionColumns(view), view.partitions, cells)}</div>`;
}

export function workersPage(view: WorkersView | null): Markup {
  if (view === null) return nothing('No worker has begun this crawl yet: "incrawl work" does.');
  return markup`${workersSection(view)}${workersTables(view)}`;
}

const BAD: ReadonlySet<string> = new Set(['dead', 'failed', 'retrying']);
const stateOf = (state: string): Shown => (BAD.has(state) ? markup`<strong class="bad">${state}</strong>` : state);
