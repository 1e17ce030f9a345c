import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { kbOf } from '../../../../bench/harness/processes.ts';

/** What a crawl holds at the end of a day. */
export interface DaySample {
  readonly day: number;
  /** Bytes of the process, without mapped files. */
  readonly anonymous: number;
  readonly descriptors: number;
  /** Of the state directory, beside its segments. */
  readonly files: number;
  /** Of the state directory. */
  readonly bytes: number;
  readonly segments: number;
  /** Of them, those that are older than prune leaves alone. */
  readonly oldSegments: number;
  /** Requests since the day before. */
  readonly requests: number;
}

/** What is asked of the crawl itself, at the end of a week. */
export interface WeekSample {
  readonly day: number;
  readonly urls: number;
  readonly changes: number;
  /** Share of the pages that can be had whose last change the crawl has seen. */
  readonly fresh: number;
}

export interface Trend {
  readonly what: string;
  /** Medians of the second and of the last quarter of the run. */
  readonly early: number;
  readonly late: number;
  readonly isFlat: boolean;
}

/** Largest growth, as a share, and by so many at least. */
interface Bound {
  readonly share: number;
  readonly slack: number;
}

/**
 * A year has warmed up after its first quarter. Bytes are judged by URL, as the web grows. Segments are not judged:
 * there are as many as rounds in the days that prune leaves alone.
 */
export function trendsOf(days: readonly DaySample[], weeks: readonly WeekSample[], length: number): Trend[] {
  const urlsAt = (day: number): number => weeks.findLast((week) => week.day <= day)?.urls ?? weeks[0]?.urls ?? 1;
  const ofDays = (value: (sample: DaySample) => number) => days.map((each) => [each.day, value(each)] as const);
  const ofWeeks = (value: (sample: WeekSample) => number) => weeks.map((each) => [each.day, value(each)] as const);
  const trend = (what: string, series: readonly (readonly [number, number])[], bound: Bound): Trend => {
    const within = (from: number, to: number) =>
      series.filter(([day]) => day > from * length && day <= to * length).map(([, value]) => value);
    const [early, late] = [median(within(0.25, 0.5)), median(within(0.75, 1))];
    return { what, early, late, isFlat: late - early <= Math.max(bound.share * Math.abs(early), bound.slack) };
  };
  return [
    trend(
      'memory, MB',
      ofDays(({ anonymous }) => anonymous / 2 ** 20),
      { share: 0.1, slack: 8 },
    ),
    trend(
      'descriptors',
      ofDays(({ descriptors }) => descriptors),
      { share: 0, slack: 4 },
    ),
    trend(
      'files beside segments',
      ofDays(({ files }) => files),
      { share: 0.05, slack: 4 },
    ),
    trend(
      'old segments',
      ofDays(({ oldSegments }) => oldSegments),
      { share: 0, slack: 4 },
    ),
    trend(
      'disk, bytes a URL',
      ofDays(({ bytes, day }) => bytes / urlsAt(day)),
      { share: 0.25, slack: 0 },
    ),
    trend(
      'entries of the feed',
      ofWeeks(({ changes }) => changes),
      { share: 0.5, slack: 0 },
    ),
    trend(
      'pages that are stale, %',
      ofWeeks(({ fresh }) => 100 * (1 - fresh)),
      { share: 0, slack: 5 },
    ),
  ];
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? 0;
}

export const anonymousOf = (pid: number): number => 1_024 * kbOf(pid, 'status', 'RssAnon');

export const descriptorsOf = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length;

/** What lies in a state directory. @param oldBefore ms since the epoch */
export function filesOf(
  dir: string,
  oldBefore: number,
): Pick<DaySample, 'files' | 'bytes' | 'segments' | 'oldSegments'> {
  const folder = join(dir, 'segments');
  let [files, bytes] = [0, 0];
  for (const entry of readdirSync(dir, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    if (!entry.parentPath.startsWith(folder)) files++;
    bytes += statSync(join(entry.parentPath, entry.name)).size;
  }
  const names = readdirSync(folder);
  const oldest = new Date(oldBefore).toISOString().replace(/[-:T]/g, '').slice(0, 14);
  return { files, bytes, segments: names.length, oldSegments: names.filter((name) => name < oldest).length };
}
