import { existsSync } from 'node:fs';
import type { History, Step } from '../../../../bench/histories/history.ts';
import { packsIn, readPack } from '../../../../bench/histories/pack.ts';
import { ServedSite } from '../../../../bench/histories/served-site.ts';
import { type FileRequest, type StaticAnswer, staticAnswer } from '../../../../bench/histories/static-answer.ts';

/** Recorded years of real sites, played in the year of the crawl: each begins with it, and stands still at its end. */
export class RecordedSites {
  readonly #sites = new Map<string, { readonly history: History; readonly site: ServedSite; next: number }>();
  readonly #from: number;

  /** @param data folder of packs; where there is none, no site is played. @param from ms since the epoch */
  constructor(data: string, from: number) {
    this.#from = from;
    if (!existsSync(data)) return;
    for (const [i, folder] of packsIn(data).entries()) {
      const history = movedTo(readPack(folder), from / 1_000);
      this.#sites.set(`127.9.0.${i + 1}`, { history, site: new ServedSite(history, 'honest'), next: 0 });
    }
  }

  get addresses(): readonly string[] {
    return [...this.#sites.keys()];
  }

  /** `undefined`: none of these sites. */
  answer(address: string, request: FileRequest, now: number): StaticAnswer | undefined {
    const played = this.#sites.get(address);
    if (played === undefined) return undefined;
    const { history, site } = played;
    while (isBy(history.steps[played.next], now, this.#from)) {
      site.show(history.steps[played.next] as Step);
      played.next++;
    }
    return staticAnswer(site, request, null);
  }
}

/** The first step is there from the beginning. */
const isBy = (step: Step | undefined, now: number, from: number): boolean =>
  step !== undefined && 1_000 * step.time <= Math.max(now, from);

/** A history whose first step is at another time, seconds since the epoch. */
function movedTo(history: History, to: number): History {
  const by = to - (history.steps[0]?.time ?? to);
  const moved = new Map<ReadonlyMap<string, number>, ReadonlyMap<string, number>>();
  const dates = (before: ReadonlyMap<string, number>): ReadonlyMap<string, number> => {
    const known = moved.get(before) ?? new Map([...before].map(([file, at]) => [file, at + by]));
    moved.set(before, known);
    return known;
  };
  const steps = history.steps.map((step) => ({
    ...step,
    time: step.time + by,
    deployed: step.deployed + by,
    modified: dates(step.modified),
  }));
  return { ...history, steps };
}
