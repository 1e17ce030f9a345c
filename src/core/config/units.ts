/**
 * Durations and sizes as operators write them. Pure; each parser answers `undefined` for text that it does not know.
 */
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../domain/time.ts';

const DURATION_UNITS = [
  ['d', DAY_MS],
  ['h', HOUR_MS],
  ['m', MINUTE_MS],
  ['s', 1_000],
  ['ms', 1],
] as const;

const SIZE_UNITS = [
  ['GiB', 1024 ** 3],
  ['MiB', 1024 ** 2],
  ['KiB', 1024],
  ['GB', 1e9],
  ['MB', 1e6],
  ['kB', 1e3],
  ['B', 1],
] as const;

const MS_BY_UNIT: ReadonlyMap<string, number> = new Map<string, number>([
  ...DURATION_UNITS,
  ['min', MINUTE_MS],
  ['w', 7 * DAY_MS],
]);
const BYTES_BY_UNIT: ReadonlyMap<string, number> = new Map(
  SIZE_UNITS.map(([unit, bytes]) => [unit.toLowerCase(), bytes]),
);

export const DURATION_EXAMPLES = '500ms, 5s, 10m, 12h, 30d, 1h30m';
export const SIZE_EXAMPLES = '512KiB, 2MiB, 1GiB, 500kB';

/**
 * `500ms`, `5s`, `1h30m` (parts add up) as milliseconds, rounded to whole ones. A bare number counts seconds, as
 * Crawl-delay, `wget --wait` and Nutch do. No sign: there are no negative durations.
 */
export function parseDuration(input: string | number): number | undefined {
  const text = String(input).trim();
  if (/^\d+(\.\d+)?$/.test(text)) return whole(Number(text) * 1_000);
  if (!/^(\d+(\.\d+)?[a-z]+)+$/.test(text)) return undefined;
  let ms = 0;
  for (const [, count, unit] of text.matchAll(/(\d+(?:\.\d+)?)([a-z]+)/g)) {
    const unitMs = MS_BY_UNIT.get(unit ?? '');
    if (unitMs === undefined) return undefined;
    ms += Number(count) * unitMs;
  }
  return whole(ms);
}

/** The exact duration in the largest unit that divides it: `90000` is `90s`, `0` is `0s`. */
export function formatDuration(ms: number): string {
  if (ms === 0) return '0s';
  const [unit, unitMs] = DURATION_UNITS.find(([, each]) => ms % each === 0) ?? (['ms', 1] as const);
  return `${ms / unitMs}${unit}`;
}

/** `2MiB`, `500kB` as bytes; units in any case. A bare number counts bytes. */
export function parseSize(input: string | number): number | undefined {
  const match = /^(\d+(?:\.\d+)?)\s*([a-z]*)$/i.exec(String(input).trim());
  if (match === null) return undefined;
  const unitBytes = match[2] === '' ? 1 : BYTES_BY_UNIT.get((match[2] ?? '').toLowerCase());
  return unitBytes === undefined ? undefined : whole(Number(match[1]) * unitBytes);
}

/** The exact size in the largest unit that divides it: `2097152` is `2MiB`. */
export function formatSize(bytes: number): string {
  if (bytes === 0) return '0B';
  const [unit, unitBytes] = SIZE_UNITS.find(([, each]) => bytes % each === 0) ?? (['B', 1] as const);
  return `${bytes / unitBytes}${unit}`;
}

/** Beyond 2^53 a number no longer counts single units; such input is refused like any other nonsense. */
function whole(value: number): number | undefined {
  const rounded = Math.round(value);
  return Number.isSafeInteger(rounded) ? rounded : undefined;
}
