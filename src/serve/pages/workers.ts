import { livingOf, type WorkersView } from '../../cluster/workers/workers-view.ts';
import { bytes, count } from '../../render/quantities.ts';
import { partitionColumns, workerColumns, workerFaults } from '../../render/workers-columns.ts';
import { htmlTable } from '../html-table.ts';
import { type Markup, markup, type Shown } from '../markup.ts';
import { nothing } from './panel.ts';
import { inline } from './run.ts';

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
