import type { ParseOutcome } from '../../core/domain/crawl/states/outcome.ts';
import { addFailure, type FailureKind, sumOfFailures } from '../../core/steps/counters/round-counts.ts';
import type { AppliedReparse } from '../../core/steps/update/reparse-chunk.ts';
import type { PageDifference } from '../../core/steps/update/reparse-differences.ts';

/** What parsing the stored pages again changed, or in a dry run would change. */
export interface ReparseSummary {
  readonly dryRun: boolean;
  /** Pages that meet the conditions and have had content. */
  readonly selected: number;
  /** Of these, the pages that were parsed again. */
  readonly parsed: number;
  /** Pages whose body is no longer in any segment. */
  readonly notStored: number;
  /** Pages that could not be read or parsed: their records are unchanged. */
  readonly failed: number;
  /** The same by reason, most frequent first. */
  readonly failures: readonly FailureKind[];
  /** Pages with any difference. */
  readonly differing: number;
  /** The same by field; metadata have the prefix `metadata.`. A page counts with each of its fields. */
  readonly fields: Readonly<Record<string, number>>;
  /** Pages with a different signature under the same name, and the mean distance, bits. */
  readonly signatures: { readonly changed: number; readonly meanDistance: number | null };
  readonly links: {
    /** Pages with different links. */
    readonly pages: number;
    readonly added: number;
    readonly removed: number;
    /** URLs that entered the crawl db. */
    readonly newUrls: number;
  };
  /** Pages that newly repeat another; pages that no longer do. */
  readonly duplicates: { readonly marked: number; readonly restored: number };
  /** Hosts whose answer to an impossible address is now read differently; soft 404s are recognised by it. */
  readonly missingPages: number;
  /** Pages that no page links to any more, as found by the sweep of updatedb if it was due. */
  readonly orphans: number;
  readonly examples: readonly PageDifference[];
  /** Whether a signal came before the last page; the next run continues. */
  readonly isCutShort: boolean;
}

/**
 * The summaries of the partitions of a crawl as one.
 * @param examples maximum number described
 */
export function summedReparses(
  all: readonly ReparseSummary[],
  { dryRun, examples, isCutShort }: Pick<ReparseSummary, 'dryRun' | 'isCutShort'> & { readonly examples: number },
): ReparseSummary {
  const sum = (of: (each: ReparseSummary) => number): number => all.reduce((total, each) => total + of(each), 0);
  const fields = new Map<string, number>();
  for (const [name, count] of all.flatMap((each) => Object.entries(each.fields))) {
    fields.set(name, (fields.get(name) ?? 0) + count);
  }
  const changed = sum(({ signatures }) => signatures.changed);
  const distances = sum(({ signatures }) => signatures.changed * (signatures.meanDistance ?? 0));
  return {
    dryRun,
    selected: sum(({ selected }) => selected),
    parsed: sum(({ parsed }) => parsed),
    notStored: sum(({ notStored }) => notStored),
    failed: sum(({ failed }) => failed),
    failures: sumOfFailures(all.map(({ failures }) => failures)),
    differing: sum(({ differing }) => differing),
    fields: Object.fromEntries([...fields].sort(mostFirst)),
    signatures: { changed, meanDistance: changed === 0 ? null : distances / changed },
    links: {
      pages: sum(({ links }) => links.pages),
      added: sum(({ links }) => links.added),
      removed: sum(({ links }) => links.removed),
      newUrls: sum(({ links }) => links.newUrls),
    },
    duplicates: {
      marked: sum(({ duplicates }) => duplicates.marked),
      restored: sum(({ duplicates }) => duplicates.restored),
    },
    missingPages: sum(({ missingPages }) => missingPages),
    orphans: sum(({ orphans }) => orphans),
    examples: all.flatMap((each) => each.examples).slice(0, examples),
    isCutShort: isCutShort || all.some((each) => each.isCutShort),
  };
}

const mostFirst = ([a, m]: readonly [string, number], [b, n]: readonly [string, number]): number =>
  n - m || (a < b ? -1 : 1);

/** Names of fields counted separately; plugins may give each page a different one. */
const MAX_FIELDS = 100;
const OTHER_FIELDS = 'other';

/** The counts of a run. */
export class ReparseTally {
  parsed = 0;
  failed = 0;
  differing = 0;
  readonly failures: FailureKind[] = [];
  readonly examples: PageDifference[] = [];
  readonly #fields = new Map<string, number>();
  readonly #links = { pages: 0, added: 0, removed: 0, newUrls: 0 };
  readonly #maxExamples: number;
  #resigned = 0;
  #distances = 0;

  constructor(maxExamples: number) {
    this.#maxExamples = maxExamples;
  }

  get done(): number {
    return this.parsed + this.failed;
  }

  fail(url: string, { code, message }: Omit<Extract<ParseOutcome, { kind: 'parse-failed' }>, 'kind'>): void {
    this.failed++;
    addFailure(this.failures, { code, status: null, visits: 1, url, message });
  }

  add({ differences, newUrls }: AppliedReparse): void {
    this.#links.newUrls += newUrls;
    for (const difference of differences) this.#addOne(difference);
  }

  #addOne(difference: PageDifference): void {
    const { fields, linksAdded, linksRemoved, distance } = difference;
    this.differing++;
    if (this.examples.length < this.#maxExamples) this.examples.push(difference);
    for (const { field } of fields) {
      const name = this.#fields.has(field) || this.#fields.size < MAX_FIELDS ? field : OTHER_FIELDS;
      this.#fields.set(name, (this.#fields.get(name) ?? 0) + 1);
    }
    if (linksAdded.length + linksRemoved.length > 0) this.#links.pages++;
    this.#links.added += linksAdded.length;
    this.#links.removed += linksRemoved.length;
    if (distance !== null && distance > 0) {
      this.#resigned++;
      this.#distances += distance;
    }
  }

  summary(): Pick<
    ReparseSummary,
    'parsed' | 'failed' | 'failures' | 'differing' | 'fields' | 'signatures' | 'links' | 'examples'
  > {
    const { parsed, failed, failures, differing, examples } = this;
    const fields = [...this.#fields].sort(mostFirst);
    const meanDistance = this.#resigned === 0 ? null : this.#distances / this.#resigned;
    return {
      parsed,
      failed,
      failures,
      differing,
      fields: Object.fromEntries(fields),
      signatures: { changed: this.#resigned, meanDistance },
      links: { ...this.#links },
      examples,
    };
  }
}
