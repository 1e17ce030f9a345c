import { UrlSet } from '../../core/domain/url/hash/url-set.ts';
import type { SegmentStore } from '../../core/ports/segment-store.ts';
import {
  applyReparsed,
  type ReparseDeps,
  type ReparsedPage,
  type ReparseOptions,
} from '../../core/steps/update/reparse-chunk.ts';
import { isSame, outputDifferences } from '../../core/steps/update/reparse-differences.ts';
import type { StoredPage } from '../../operations/state/stored-pages.ts';
import type { NewOutput, PageAgain } from './parse-ahead.ts';
import type { ReparseTally } from './reparse-summary.ts';
import { SegmentOutput } from './segment-output.ts';

export interface BatchDeps extends ReparseDeps {
  readonly segments: SegmentStore;
  readonly tally: ReparseTally;
}

export interface BatchOptions extends ReparseOptions {
  /** Pages of a batch, at most. */
  readonly chunk: number;
  /** Whether new parse output is left out of the segments. */
  readonly dryRun: boolean;
}

/** Links of a batch, beyond which no more pages join it. */
const MAX_BATCH_LINKS = 7_500;

/**
 * Collects pages into batches for the crawl db, and their parse output into that of their segment. Records are on disk
 * before the output is put in place: after a kill the next run finds by either what is missing.
 */
export class ReparseBatches {
  /** Pages that got another signature. */
  readonly resigned = new UrlSet();
  readonly #deps: BatchDeps;
  readonly #options: BatchOptions;
  #batch: ReparsedPage[] = [];
  #links = 0;
  #output: SegmentOutput | null = null;

  constructor(deps: BatchDeps, options: BatchOptions) {
    this.#deps = deps;
    this.#options = options;
  }

  async add({ page, reading }: PageAgain): Promise<void> {
    const { tally } = this.#deps;
    if ('fault' in reading) return tally.fail(page.datum.url, reading.fault);
    const { outcome } = reading.fresh;
    if (outcome.kind === 'parse-failed') return tally.fail(page.datum.url, outcome);
    tally.parsed++;
    // First, as it may begin another batch.
    const reparsed = await this.#reparsed(page, reading);
    this.#batch.push(reparsed);
    this.#links += reading.fresh.outlinks.length;
    if (this.#batch.length >= this.#options.chunk || this.#links >= MAX_BATCH_LINKS) await this.#flush();
  }

  async #reparsed({ datum, parsed, segment }: StoredPage, { fresh, encoded, given }: NewOutput): Promise<ReparsedPage> {
    const isOutputChanged = parsed === null || !isSame(parsed, fresh);
    if (isOutputChanged && !this.#options.dryRun) {
      const output = await this.#outputOf(segment.info.id);
      await output.add(fresh.index, encoded);
    }
    return {
      datum,
      former: parsed?.outcome.kind === 'parsed' ? { parsed: parsed.outcome, given } : null,
      fresh: { outcome: fresh.outcome, outlinks: fresh.outlinks },
      output: isOutputChanged ? outputDifferences(parsed, fresh) : [],
      isOutputChanged,
    };
  }

  /** Pages come segment by segment. */
  async #outputOf(segment: string): Promise<SegmentOutput> {
    if (this.#output !== null && this.#output.id !== segment) await this.finish();
    this.#output ??= new SegmentOutput(this.#deps.segments, segment);
    return this.#output;
  }

  async #flush(): Promise<void> {
    if (this.#batch.length === 0) return;
    const batch = this.#batch;
    this.#batch = [];
    this.#links = 0;
    const applied = await applyReparsed(this.#deps, batch, this.#options);
    for (const url of applied.resigned) this.resigned.add(url);
    this.#deps.tally.add(applied);
  }

  /** Writes what is collected. */
  async finish(): Promise<void> {
    await this.#flush();
    await this.#output?.commit();
    await this.close();
  }

  /** Drops parse output that is not in place. */
  async close(): Promise<void> {
    const output = this.#output;
    this.#output = null;
    await output?.close();
  }
}
