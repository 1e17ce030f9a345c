// steps/update/: updatedb: outcomes, links, duplicates and orphans applied to the crawl db.
import { rejectionKind } from '../../domain/crawl/discovery/rejections.ts';
import type { CrawlDb } from '../../ports/crawl-db.ts';

/** A URL filter that counts: it judges URLs that the crawl db does not have by those that it has. */
export interface AdmissionGate {
  readonly name: string;
  admit(url: string): { readonly admit: boolean; readonly demote?: number; readonly reason?: string };
  learn(url: string): void;
}

export interface Admission {
  /** Whether the URL stays out of the crawl db. */
  readonly isRefused: boolean;
  /** Share of its score that the URL keeps. */
  readonly factor: number;
  /** Reason of the refusal or demotion, counted and kept with the record; `null` without either. */
  readonly reason: string | null;
}

const ADMITTED: Admission = Object.freeze({ isRefused: false, factor: 1, reason: null });

/**
 * Judges each new URL once by the filters that count. Before the first judgement of a run they learn all URLs of the
 * crawl db, so that a restart forgets nothing; without such filters the db is not read.
 */
export class UrlAdmission {
  readonly #db: Pick<CrawlDb, 'scan'>;
  readonly #gates: readonly AdmissionGate[];
  #hasLearnt: Promise<void> | null = null;

  constructor(db: Pick<CrawlDb, 'scan'>, gates: readonly AdmissionGate[]) {
    this.#db = db;
    this.#gates = gates;
  }

  async judge(urls: readonly string[]): Promise<Admission[]> {
    if (this.#gates.length === 0 || urls.length === 0) return urls.map(() => ADMITTED);
    this.#hasLearnt ??= this.#learn();
    await this.#hasLearnt;
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
