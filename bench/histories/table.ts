import type { Calibration } from './calibration.ts';
import { atEqualRequests, type Family } from './families.ts';
import { type Figures, meanOf } from './figures.ts';

/** A policy of the table; without figures where it never makes so few or so many requests. */
export interface Row {
  readonly policy: string;
  readonly figures: Figures | null;
  readonly calibration?: Calibration;
}

export interface OwnRow extends Row {
  readonly figures: Figures;
}

const COLUMNS = [
  'site',
  'policy',
  'page requests (all)',
  'fresh',
  'changes seen',
  'within 7 d',
  'lag p50/p90 d',
  'new p50/p90 d',
  'not live',
  'believed of true: fresh; changes a day',
];

/**
 * The crawler at each address, then by other settings, then baselines at their own cost, and at as many page requests
 * as the mean of its addresses.
 */
export function rowsOf(own: readonly OwnRow[], families: readonly Family[], otherSettings: readonly Row[] = []): Row[] {
  const mean = meanOf(own.map(({ figures }) => figures));
  const requests = Math.round(mean.pageRequests);
  return [
    ...own,
    ...(own.length === 1 ? [] : [{ policy: `incrawl, mean of ${own.length}`, figures: mean }]),
    ...otherSettings,
    ...families.flatMap(({ shown }) => shown.map(({ name, figures }) => ({ policy: name, figures }))),
    ...families.map((family) => ({
      policy: `${family.name}, equal page requests`,
      figures: atEqualRequests(family, requests),
    })),
  ];
}

/** Lines of a table, its columns as wide as what they hold. */
export function tableOf(site: string, rows: readonly Row[]): string {
  const cells = [COLUMNS, ...rows.map((row) => [site, ...cellsOf(row)])];
  const widths = COLUMNS.map((_, i) => Math.max(...cells.map((line) => (line[i] ?? '').length)));
  return cells
    .map((line) => line.map((cell, i) => (i < 2 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))))
    .map((line) => `| ${line.join(' | ')} |`)
    .join('\n');
}

function cellsOf({ policy, figures, calibration }: Row): string[] {
  if (figures === null) return [policy, ...COLUMNS.slice(2).map(() => '-')];
  const { pageRequests, allRequests, freshMajor, seen, changes, within7, notLive } = figures;
  return [
    policy,
    `${whole(pageRequests)} (${whole(allRequests)})`,
    freshMajor.toFixed(3),
    `${whole(seen)} of ${whole(changes)}`,
    whole(within7),
    `${days(figures.lagP50)}/${days(figures.lagP90)}`,
    `${days(figures.newP50)}/${days(figures.newP90)}`,
    `${(100 * notLive).toFixed(1)} %`,
    calibration === undefined ? '' : believed(calibration),
  ];
}

function believed({ believedFresh, trueFresh, believedPerDay, truePerDay }: Calibration): string {
  const number = (value: number | null, digits: number): string => (value === null ? '-' : value.toFixed(digits));
  return `${number(believedFresh, 3)} of ${number(trueFresh, 3)}; ${number(believedPerDay, 2)} of ${number(truePerDay, 2)}`;
}

const whole = (value: number): string => value.toFixed(0);
const days = (value: number | null): string => (value === null ? 'never' : String(Math.round(10 * value) / 10));
