import { FingerprintTables, parseFingerprint } from '../../../page/near/fingerprint-tables.ts';
import type { CrawlDatum } from '../../domain/crawl/states/datum.ts';
import {
  asDuplicate,
  asOwnPage,
  byAge,
  type ComparedText,
  type CopyRule,
  canonicalOf,
  isAlikeInLength,
  isIncomparable,
  isOtherKind,
  isOwnPage,
  isSameText,
  isVariantOf,
  nearestPage,
  repeatDistance,
  signedText,
} from '../../domain/crawl/states/duplicate.ts';
import type { CrawlDb, CrawlDbPut } from '../../ports/crawl-db.ts';
import type { FingerprintTables as FingerprintTablesPort, NearAnswer } from '../../ports/near.ts';

/** As the tables say how much text a page must have. */
export interface RepeatOptions extends Omit<CopyRule, 'minChars'> {
  /** The page that represents the other: the one known first, or the one visited last. */
  readonly keep: 'first' | 'latest';
}

export interface RepeatDeps {
  readonly db: CrawlDb;
  readonly tables: FingerprintTablesPort;
  /** Scope of a page, as in the tables: pages of different scopes are never compared. */
  readonly scopeOf: (url: string) => string;
}

/** A visited page, before and after its visit. */
export interface VisitedPage {
  readonly previous: CrawlDatum;
  readonly datum: CrawlDatum;
}

export interface JudgedRepeats {
  /** The visited pages as they are to be stored, in their order. */
  readonly visited: readonly CrawlDatum[];
  /** Pages that were not visited, and now have another representative or none. */
  readonly others: readonly CrawlDbPut[];
  /** Pages that repeat another and did not before, and pages that represent themselves again. */
  readonly marked: number;
  readonly restored: number;
}

const NOTHING_NEAR: NearAnswer = { pages: [], complete: true };

/**
 * Near pages that are compared by their texts. Hundreds of pages may have the sentences of one template; copies are as
 * long as each other.
 */
const MOST_CANDIDATES = 64;

/** Duplicates of one page that get another representative at once; the others are judged at their own next visit. */
const MOST_REASSIGNED = 1_000;

/**
 * Finds which of the pages just visited repeat others, and elects another representative for the duplicates of a page
 * that is gone or is no longer near them. A duplicate is always near its representative itself, not by way of others,
 * and no representative is a duplicate. Only pages whose signature, state or representative has changed are compared.
 */
export async function judgeRepeats(
  deps: RepeatDeps,
  visited: readonly VisitedPage[],
  options: RepeatOptions,
): Promise<JudgedRepeats> {
  return new DuplicateJudge(deps, visited, options).run();
}

/** As {@link judgeRepeats}, for records whose signatures have changed without a visit: each is compared. */
export async function judgeAgain(
  deps: RepeatDeps,
  pages: readonly CrawlDatum[],
  rule: Omit<RepeatOptions, 'keep'>,
): Promise<JudgedRepeats> {
  const unvisited = pages.map((datum) => ({ previous: datum, datum }));
  return new DuplicateJudge(deps, unvisited, { ...rule, keep: 'oldest' }).run();
}

/** `oldest`: the texts of all pages count as changed, and of two the one known longest represents. */
type DuplicateOptions = Omit<RepeatOptions, 'keep'> & { readonly keep: RepeatOptions['keep'] | 'oldest' };

class DuplicateJudge {
  readonly #deps: RepeatDeps;
  readonly #options: DuplicateOptions;
  readonly #isAgain: boolean;
  readonly #rule: CopyRule;
  readonly #visited: readonly VisitedPage[];
  /** Records as they are now: those visited, and others that were read. */
  readonly #now = new Map<string, CrawlDatum>();
  /** The others as they were read. */
  readonly #read = new Map<string, CrawlDatum>();
  /** Visited pages that still have to be compared, and cannot be representatives yet. */
  readonly #waiting = new Set<string>();
  /** Signatures of the pages that this run has found to represent themselves, by their numbers in `#fresh`. */
  #freshTables: FingerprintTables | null = null;
  readonly #fresh: string[] = [];
  readonly #departed: CrawlDatum[] = [];
  /** Pages that this run has made duplicates, by their representatives: the tables do not have them yet. */
  readonly #assigned = new Map<string, string[]>();

  constructor(deps: RepeatDeps, visited: readonly VisitedPage[], options: DuplicateOptions) {
    this.#deps = deps;
    this.#visited = visited;
    this.#options = options;
    this.#isAgain = options.keep === 'oldest';
    this.#rule = { ...options, minChars: deps.tables.minChars };
    for (const { datum } of visited) this.#now.set(datum.url, datum);
  }

  async run(): Promise<JudgedRepeats> {
    const changed = this.#visited.filter((page) => this.#isToCompare(page)).map(({ datum }) => datum);
    const stranded = await this.#strandedDuplicates();
    for (const page of this.#visited) if (this.#hasDeparted(page)) this.#departed.push(page.previous);
    const known = new Map(this.#visited.map(({ previous }) => [previous.url, isOwnPage(previous)]));
    // Pages that represented themselves before come first, so that a new page repeats them and not the reverse.
    // Versions of pages come last, when these pages are judged.
    const rank = (page: CrawlDatum): number => (canonicalOf(page) === null ? 0 : 2) + Number(!known.get(page.url));
    changed.sort((a, b) => rank(a) - rank(b) || byAge(a, b));
    for (const { url } of [...changed, ...stranded]) this.#waiting.add(url);
    await this.#judgeAll(changed, this.#options.keep);
    await this.#judgeAll(stranded.sort(byAge), 'first');
    await this.#electRepresentatives();
    return this.#result();
  }

  /** Whether a page has become, or become again, one that can repeat others. */
  #isToCompare({ previous, datum }: VisitedPage): boolean {
    if (isOwnPage(datum) && canonicalOf(datum) !== null) return true;
    const text = this.#textOf(datum);
    if (text === null || datum.state === 'duplicate') return false;
    const before = this.#textOf(previous);
    return this.#isAgain || before === null || previous.state === 'duplicate' || !isSameText(before, text);
  }

  /**
   * Whether the page may no longer represent its duplicates, if it has any. A signature of another kind cannot be
   * compared: the duplicates stay until one of its own kind can be.
   */
  #hasDeparted({ previous, datum }: VisitedPage): boolean {
    if (this.#isAgain) return isOwnPage(previous);
    if (!isOwnPage(previous) || previous.signature === null) return false;
    const [before, after] = [this.#textOf(previous), this.#textOf(datum)];
    if (isOwnPage(datum) && before !== null && after !== null && isOtherKind(before, after)) {
      return !isAlikeInLength(before.textChars, after.textChars);
    }
    return before === null || after === null || datum.state === 'duplicate' || !isSameText(before, after);
  }

  /** Visited duplicates whose representative is gone or no longer near. */
  async #strandedDuplicates(): Promise<CrawlDatum[]> {
    const duplicates = this.#visited.map(({ datum }) => datum).filter(({ state }) => state === 'duplicate');
    await this.#load(duplicates.flatMap(({ target }) => target ?? []));
    return duplicates.filter((datum) => {
      const target = datum.target === null ? undefined : this.#now.get(datum.target);
      if (target === undefined) return true;
      return this.#distance(datum, target) === null && !isIncomparable(datum, target, this.#rule);
    });
  }

  async #judgeAll(pages: readonly CrawlDatum[], keep: DuplicateOptions['keep']): Promise<void> {
    const { distance } = this.#options;
    const asked = pages.flatMap((page) => {
      const text = this.#textOf(page);
      return text === null ? [] : [{ ...text, url: page.url, distance }];
    });
    const answers = new Map((await this.#deps.tables.near(asked)).map((answer, i) => [asked[i]!.url, answer]));
    for (const { url, textChars } of asked) answers.set(url, closest(answers.get(url)!, textChars));
    const near = [...answers.values()].flatMap((answer) => answer.pages.map(({ url }) => url));
    await this.#load([...near, ...pages.flatMap((page) => canonicalOf(page) ?? [])]);
    for (const page of pages) this.#judge(page, answers.get(page.url) ?? NOTHING_NEAR, keep);
  }

  #judge(page: CrawlDatum, near: NearAnswer, rule: DuplicateOptions['keep']): void {
    this.#waiting.delete(page.url);
    // A version of another page never represents that one.
    const keep = canonicalOf(page) === null ? rule : 'first';
    // By age, a page repeats the nearest one known longer; without any, all that are near repeat it.
    const isFit = (datum: CrawlDatum): boolean => keep !== 'oldest' || byAge(datum, page) < 0;
    const representative = this.#representativeFor(page, near, isFit);
    if (representative === null || keep === 'latest') this.#standAlone(page);
    const own = this.#now.get(page.url)!;
    // A start page or a hub that existed before still represents others.
    const isReplacing = keep === 'latest' && representative !== null && this.#distance(representative, own) !== null;
    if (isReplacing) this.#takeOver(page, representative);
    else if (representative !== null) this.#assign(page, representative.url);
    else if (keep === 'oldest') this.#takeOverAll(page, near);
    // Versions of this page that were known before it, and copies of a page that itself may repeat none.
    for (const datum of near.pages.flatMap(({ url }) => this.#judged(url) ?? [])) {
      const isVersion = isVariantOf(datum, page.url) && this.#distance(datum, page) !== null;
      if (isVersion || this.#isOneSided(datum, own)) this.#takeOver(page, datum);
    }
  }

  /** Whether only the first of two may repeat the other: no start page or hub does. */
  #isOneSided(datum: CrawlDatum, page: CrawlDatum): boolean {
    return isOwnPage(datum) && this.#distance(datum, page) !== null && this.#distance(page, datum) === null;
  }

  #takeOverAll(page: CrawlDatum, near: NearAnswer): void {
    for (const younger of this.#others(page, near)) {
      if (this.#distance(younger, page) !== null && isOwnPage(younger)) this.#takeOver(page, younger);
    }
  }

  #takeOver(page: CrawlDatum, representative: CrawlDatum): void {
    this.#assign(representative, page.url);
    this.#departed.push(representative);
  }

  #assign(page: CrawlDatum, representative: string): void {
    this.#now.set(page.url, asDuplicate(page, representative));
    const assigned = this.#assigned.get(representative);
    if (assigned === undefined) this.#assigned.set(representative, [page.url]);
    else assigned.push(page.url);
  }

  #standAlone(page: CrawlDatum): void {
    const own = page.state === 'duplicate' ? asOwnPage(page) : page;
    this.#now.set(page.url, own);
    const text = this.#textOf(own);
    if (text === null) return;
    this.#freshTables ??= new FingerprintTables();
    this.#freshTables.add(parseFingerprint(text.signature), this.#fresh.push(page.url) - 1);
  }

  /** A page that may represent others by now. */
  #judged(url: string | null): CrawlDatum | null {
    return url === null || this.#waiting.has(url) ? null : (this.#now.get(url) ?? null);
  }

  /**
   * The page of which it is a version, or else the nearest that represents itself; among equals the one known longest.
   */
  #representativeFor(page: CrawlDatum, answer: NearAnswer, isFit: (datum: CrawlDatum) => boolean): CrawlDatum | null {
    const canonical = this.#judged(canonicalOf(page));
    if (canonical !== null && this.#distance(page, canonical) !== null) return canonical;
    return nearestPage(this.#others(page, answer), (datum) => (isFit(datum) ? this.#distance(page, datum) : null));
  }

  /** Pages that are near by their signatures and may represent others by now. */
  #others(page: CrawlDatum, answer: NearAnswer): CrawlDatum[] {
    const text = this.#textOf(page);
    if (text === null) return [];
    const scope = this.#deps.scopeOf(page.url);
    const fresh =
      this.#freshTables?.near(
        parseFingerprint(text.signature),
        this.#options.distance,
        (id) => this.#deps.scopeOf(this.#fresh[id]!) === scope,
      ) ?? [];
    const urls = new Set([...answer.pages.map(({ url }) => url), ...fresh.map(({ id }) => this.#fresh[id]!)]);
    return [...urls].flatMap((url) => (url === page.url ? [] : (this.#judged(url) ?? [])));
  }

  /** Elects other representatives, page by page. */
  async #electRepresentatives(): Promise<void> {
    if (this.#departed.length === 0) return;
    const hasStored = ((await this.#deps.db.counters()).byState.duplicate ?? 0) > 0;
    // The list does not grow meanwhile: a duplicate never replaces a representative.
    for (const { url } of this.#departed) {
      const duplicates = new Set(this.#assigned.get(url));
      if (hasStored)
        for await (const duplicate of this.#deps.tables.duplicatesOf(url, MOST_REASSIGNED)) duplicates.add(duplicate);
      if (duplicates.size === 0) continue;
      await this.#load([...duplicates]);
      const lost = [...duplicates].flatMap((duplicate) => {
        const datum = this.#now.get(duplicate);
        const target = this.#now.get(url);
        const isLost =
          datum?.state === 'duplicate' &&
          datum.target === url &&
          (target === undefined ||
            (this.#distance(datum, target) === null && !(this.#isAgain && isIncomparable(datum, target, this.#rule))));
        return isLost ? [datum] : [];
      });
      await this.#judgeAll(lost.sort(byAge), 'first');
    }
  }

  #distance(page: CrawlDatum, representative: CrawlDatum): number | null {
    return repeatDistance(page, representative, this.#rule);
  }

  #textOf(datum: CrawlDatum): ComparedText | null {
    return signedText(datum, this.#deps.tables.minChars);
  }

  async #load(urls: readonly string[]): Promise<void> {
    const missing = [...new Set(urls)].filter((url) => !this.#now.has(url));
    const records = await this.#deps.db.getMany(missing);
    for (const datum of records) {
      if (datum === undefined) continue;
      this.#now.set(datum.url, datum);
      this.#read.set(datum.url, datum);
    }
  }

  #result(): JudgedRepeats {
    let [marked, restored] = [0, 0];
    const count = (before: CrawlDatum, after: CrawlDatum): void => {
      if (before.state !== 'duplicate' && after.state === 'duplicate') marked++;
      if (before.state === 'duplicate' && isOwnPage(after)) restored++;
    };
    const visited = this.#visited.map(({ previous, datum }) => {
      const after = this.#now.get(datum.url) ?? datum;
      count(previous, after);
      return after;
    });
    const others: CrawlDbPut[] = [];
    for (const [url, previous] of this.#read) {
      const datum = this.#now.get(url)!;
      if (datum === previous) continue;
      count(previous, datum);
      others.push({ datum, previous });
    }
    return { visited, others, marked, restored };
  }
}

/** The pages of an answer whose lengths are closest to that of the queried page. */
function closest({ pages, complete }: NearAnswer, textChars: number): NearAnswer {
  if (pages.length <= MOST_CANDIDATES) return { pages, complete };
  const byLength = [...pages].sort((a, b) => Math.abs(a.textChars - textChars) - Math.abs(b.textChars - textChars));
  return { pages: byLength.slice(0, MOST_CANDIDATES), complete };
}
