import {
  type BudgetBook,
  type SeenPartitions,
  type Settlement,
  settleBudget,
} from '../../core/domain/crawl/revisit/budget-shares.ts';
import { CrawlError } from '../../core/domain/errors.ts';
import { spentSoFar, storedPrice } from '../../core/steps/facts/fetch-budget.ts';
import type { GenerateOptions } from '../../core/steps/generate/generate.ts';
import { type GenerateSummary, NO_REJECTIONS } from '../../core/steps/summaries.ts';
import type { CrawlDeps } from '../../operations/deps.ts';
import { generateRound } from '../../operations/loop/step-operations.ts';
import type { PartitionStores } from '../partitions/partition-stores.ts';

export interface PartitionBudgetDeps {
  readonly partition: number;
  /** Fencing token of the lease of the partition. */
  readonly token: number;
  readonly stores: Pick<PartitionStores, 'partitions' | 'changeShared'>;
  see(): Promise<SeenPartitions>;
}

/** A segment that takes in more URLs, and how many at most. */
export type GrownRound = Required<Pick<GenerateOptions, 'into' | 'topN'>>;

export interface PartitionBudget {
  /** Tells others that more URLs will be due soon. To be called before links that were sent are taken in. */
  announce(): Promise<void>;
  /**
   * Generates a round within the granted fetches. Claims more if they are used up, or were granted long ago.
   * @param grown a round that is to take the URLs in
   */
  generate(grown?: GrownRound): Promise<GenerateSummary>;
  /** Whether due URLs wait for fetches that are reserved for other partitions, which may leave them unused. */
  isHeldBack(): boolean;
  /** Gives back what the partition has not used. To be called when its turn ends. */
  giveBack(): Promise<void>;
}

/** Row of the budget among the rows that all partitions share. */
const BOOK = 'budget';
/** Time after which a partition settles even if it has fetches left, ms. */
const SETTLE_MS = 2 * 60_000;
/** Most fetches granted at once, and most due URLs counted for that. */
const MOST = 5_000;

/**
 * The share of a partition in `generate.budgetPerDay`, which is that of the whole crawl. Without a budget, and in a
 * crawl of one partition, rounds are generated without this.
 */
export function partitionBudget(
  deps: CrawlDeps,
  { partition, token, stores, see }: PartitionBudgetDeps,
): PartitionBudget {
  const { config, runtime } = deps;
  const { clock } = runtime;
  const { budgetPerDay: perDay, topN } = config.generate;
  const { partitions } = stores;
  if (perDay === 0 || partitions === 1) {
    return {
      announce: async () => {},
      generate: (grown) => generateRound(deps, grown),
      isHeldBack: () => false,
      giveBack: async () => {},
    };
  }
  const { db } = deps.store();
  let last: { readonly settlement: Settlement; readonly at: number } | null = null;

  const mostOfRound = Math.min(topN, MOST);
  async function settle({ due, early }: Wanted, most: number): Promise<Settlement> {
    const [spent, price, seen] = [await spentSoFar(db), await storedPrice(db), await see()];
    const now = clock.now();
    const settlement = await stores.changeShared(BOOK, (text) => {
      const book = text === null ? null : (JSON.parse(text) as BudgetBook);
      const claim = { partition, spent, price, token, due, early, most };
      const after = settleBudget(book, claim, { perDay, partitions, now, seen });
      return { text: after === null ? null : JSON.stringify(after.book), answer: after };
    });
    if (settlement === null) throw new CrawlError('lease-lost', 'another worker has taken over the partition');
    last = { settlement, at: now };
    return settlement;
  }

  async function wanted(): Promise<Wanted> {
    const counts = await wantedIn(deps, mostOfRound);
    // The count was cut short.
    return counts.due < mostOfRound ? counts : { ...counts, due: Math.max(counts.due, perDay) };
  }

  return {
    async announce() {
      await settle({ due: perDay, early: 0 }, 0);
    },
    async generate(grown) {
      const isNew = last !== null && clock.now() - last.at < SETTLE_MS;
      const known = last?.settlement ?? null;
      const isEnough = isNew && known !== null && known.granted > (await spentSoFar(db));
      const { granted, share } = isEnough ? known : await settle(await wanted(), mostOfRound);
      const left = granted - (await spentSoFar(db));
      if (left <= 0) return { segment: null, due: 0, selected: 0, hosts: 0, rejected: NO_REJECTIONS, budget: 0 };
      const budget = { budget: left, budgetPerDay: Math.max(1, perDay * share) };
      return generateRound(deps, { ...budget, ...grown });
    },
    isHeldBack: () => last?.settlement.isHeldBack ?? false,
    async giveBack() {
      if (last !== null && last.settlement.granted > (await spentSoFar(db))) await settle({ due: 0, early: 0 }, 0);
    },
  };
}

interface Wanted {
  readonly due: number;
  readonly early: number;
}

/** URLs that a round could take: those due, and known pages that may be fetched before their time. */
async function wantedIn({ store, runtime }: CrawlDeps, most: number): Promise<Wanted> {
  const { db } = store();
  const now = runtime.clock.now();
  let [due, early] = [0, 0];
  for await (const _ of db.due({ until: now, limit: most })) due++;
  for await (const { dueAt } of db.due({ until: Number.MAX_SAFE_INTEGER, only: 'known', limit: most })) {
    if (dueAt > now) early++;
  }
  return { due, early };
}
