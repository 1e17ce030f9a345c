import { rejectionKind } from '../../domain/crawl/discovery/rejections.ts';
import type { CrawlDb } from '../../ports/crawl-db.ts';

/** What a URL filter says of a URL that the crawl db does not have. */
export interface AdmissionGate {
  readonly name: string;
  admit(url: string): { readonly admit: boolean; readonly demote?: number; readonly reason?: string };
  learn(url: string): void;
}

export interface Admission {
  /** Kept out. */
  readonly isRefused: boolean;
  /** Share of its score that the URL keeps. */
  readonly factor: number;
  /** What it is counted under, and kept with the record; `null` when nothing was said against it. */
  readonly reason: string | null;
}

const ADMITTED: Admission = Object.freeze({ isRefused: false, factor: 1, reason: null });

/**
 * Asks filters that count, once for each new URL. They are told of all URLs of the crawl db before the first question
 * of a run, so that a restart forgets nothing; without such filters that costs nothing.
 */
export class UrlAdmission {
  readonly #db: Pick<CrawlDb, 'scan'>;
  readonly #gates: readonly AdmissionGate[];
  #learnt: Promise<void> | null = null;

  constructor(db: Pick<CrawlDb, 'scan'>, gates: readonly AdmissionGate[]) {
    this.#db = db;
    this.#gates = gates;
  }

  async judge(urls: readonly string[]): Promise<Admission[]> {
    if (this.#gates.length === 0 || urls.length === 0) return urls.map(() => ADMITTED);
    this.#learnt ??= this.#learn();
    await this.#learnt;
    return urls.map((url) => this.#judgeOne(url));
  }

  #judgeOne(url: string): Admission {
    let factor = 1;
    let reason: string | null = null;
    for (const gate of this.#gates) {
      const verdict = gate.admit(url);
      const said = verdict.reason === undefined ? null : rejectionKind(gate.name, verdict.reason);
      if (!verdict.admit) return { isRefused: true, factor: 0, reason: said ?? `${gate.name}: refused` };
      if (verdict.demote === undefined) continue;
      factor *= verdict.demote;
      reason ??= said ?? `${gate.name}: ranked down`;
    }
    return reason === null ? ADMITTED : { isRefused: false, factor, reason };
  }

  async #learn(): Promise<void> {
    for await (const { url } of this.#db.scan()) for (const gate of this.#gates) gate.learn(url);
  }
}
