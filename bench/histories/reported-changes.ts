import type { ChangeView } from '../../src/crawler/index.ts';
import { type History, isPage } from './history.ts';
import type { LoggedRequest } from './site-server.ts';
import { fileOf } from './visits.ts';

/** What the change feed says beside what the visits really found. */
export interface ReportedChanges {
  /** Modifications reported of files that were another, and of files that were the same. */
  readonly right: number;
  readonly wrong: number;
  /** Visits that found another file and were not reported. */
  readonly unreported: number;
}

type Reported = Pick<ChangeView, 'url' | 'kind' | 'at'>;

export function reportedChanges(
  { steps }: History,
  logs: readonly (readonly LoggedRequest[])[],
  changes: readonly Reported[],
  start: string,
): ReportedChanges {
  const found = foundChanges(steps, logs);
  const reported = new Set<string>();
  let [right, wrong] = [0, 0];
  for (const { url, kind, at } of changes) {
    const uri = `/${url.slice(start.length)}`;
    if (kind !== 'modified' || !isPage(fileOf(uri))) continue;
    const visit = visitKey(
      uri,
      steps.findLastIndex((step) => 1_000 * step.time <= Date.parse(at)),
    );
    reported.add(visit);
    if (found.has(visit)) right++;
    else wrong++;
  }
  return { right, wrong, unreported: [...found].filter((visit) => !reported.has(visit)).length };
}

const visitKey = (uri: string, step: number): string => `${step} ${uri}`;

/** Answers with another body than the one before it at the same URL. */
function foundChanges(steps: History['steps'], logs: readonly (readonly LoggedRequest[])[]): Set<string> {
  const bodies = new Map<string, number>();
  const found = new Set<string>();
  for (const [i, log] of logs.entries()) {
    for (const { uri, status } of log) {
      const body = steps[i]?.tree.get(fileOf(uri));
      if (status !== 200 || body === undefined || !isPage(fileOf(uri))) continue;
      const before = bodies.get(uri);
      if (before !== undefined && before !== body) found.add(visitKey(uri, i));
      bodies.set(uri, body);
    }
  }
  return found;
}
