import { DAY_MS } from '../../core/domain/time.ts';
import type { DbStats } from '../../crawler/index.ts';
import type { BudgetView, PastRound, RoundEntry } from '../../crawler/views.ts';
import { brief, bytes, count, counted, span } from '../../render/quantities.ts';
import { shareText } from '../charts/share-bar.ts';
import { sumsOf, visitsOf } from '../charts/time-buckets.ts';
import { type Markup, markup, type Shown } from '../markup.ts';

export interface KeyData {
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
  /** Whether it asks for a look. */
  readonly isBad?: boolean;
}

/** Share of failed visits from which on they ask for a look. */
const MANY_FAILED = 0.05;

/** The figures that are read first; `-` for what is not known. */
export function keyFigures({ stats, budget, last, rounds, now }: KeyData): Markup {
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
