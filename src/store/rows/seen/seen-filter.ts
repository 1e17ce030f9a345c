// store/rows/seen/: the filter of seen URLs, kept in the batches of the crawl db.

import { CrawlError } from '../../../core/domain/errors.ts';
import type { BloomLeaf, BloomPlan } from '../../../core/domain/url/bloom/bloom-leaf.ts';
import { BloomTree, bloomStats, put, type Replacement } from '../../../core/domain/url/bloom/bloom-tree.ts';
import { DIGEST_NAME, DIGEST_WORDS, DigestList, digestUrls } from '../../../core/domain/url/hash/url-digest.ts';
import type { Log } from '../../../core/ports/log.ts';
import type { SeenFilter, SeenFilterStats, SharedSeenFilter } from '../../../core/ports/seen-filter.ts';
import { ROW, rowRange, urlOfRow } from '../codecs/keys.ts';
import { keysOfRange, type NewUrlWatcher, type RowSink, type Rows, rowFault } from '../rows.ts';
import type { BatchWriter } from '../writing/batch-writer.ts';
import {
  bitsKey,
  encodeBits,
  encodeSet,
  encodeTree,
  loadSeenTree,
  readSet,
  SEEN_TREE_KEY,
  setKey,
} from './seen-rows.ts';
import { SHARED_MARK_KEY, SharedFilterKeeper } from './shared-filter.ts';

export interface RowsSeenFilterOptions {
  readonly rows: Rows;
  readonly log: Log;
  /** Plan for a new filter. A stored one keeps its own plan, unless m or f differ. */
  readonly plan: BloomPlan;
  /** Runs a task in turn with the batches. */
  readonly exclusive: <Value>(task: () => Promise<Value>) => Promise<Value>;
  /** Number of records in the crawl db. */
  readonly urls: () => number;
}

/** Digests per batch of a rebuild. */
const REBUILD_WINDOW = 50_000;

/**
 * The filter of seen URLs in the rows of a crawl db: bits in memory, everything else in rows. Digests of new URLs are
 * written in the batch of their records, so a crash cannot separate the two. The bits of a leaf are stored from time to
 * time. Later digests are added again when the filter is loaded, at the first probe or the first new URL.
 *
 * Purged URLs stay in the bits, and cost a read when they are met again. Once most digests belong to such URLs, the
 * filter is rebuilt.
 */
export class RowsSeenFilter implements SeenFilter, NewUrlWatcher {
  readonly #options: RowsSeenFilterOptions;
  #tree: BloomTree | null = null;
  #splits = 0;
  #growths = 0;
  /** Number of the newest set row. */
  #number = 0;
  /** Per leaf: number of digests that are not in its stored bits. */
  readonly #unsaved = new Map<number, number>();
  #isComplete = true;
  #fault: CrawlError | null = null;

  constructor(options: RowsSeenFilterOptions) {
    this.#options = options;
  }

  async probe(digests: Uint32Array): Promise<Uint8Array> {
    const tree = this.#tree ?? (await this.#options.exclusive(() => this.#load()));
    if (this.#fault !== null) throw this.#fault;
    return tree.hasMany(digests);
  }

  async add(digests: Uint32Array): Promise<void> {
    await this.#options.exclusive(async () => {
      await this.#load();
      if (this.#fault !== null) throw this.#fault;
      await this.#addDirectly(digests);
    });
  }

  /**
   * To be called within the writer's turn: stages rows for the batch about to be written. Its bits are set before,
   * which is harmless.
   */
  async stage(sink: RowSink, urls: readonly string[]): Promise<void> {
    if (this.#fault !== null) return;
    try {
      await this.#load();
      const fitting = await this.#makeSpace(digestUrls(urls));
      this.#stageFitting(sink, fitting);
    } catch (error) {
      if (!(error instanceof CrawlError) || error.code !== 'internal') throw error;
      // A fault of the filter must not stop the crawl. Without its tree row, the filter is rebuilt at the next start.
      this.#fault = error;
      this.#options.log.error('the filter of seen URLs failed; the crawl db is read instead', {
        error: error.message,
      });
      sink.del(SEEN_TREE_KEY);
    }
  }

  async stats(): Promise<SeenFilterStats> {
    const tree = this.#tree ?? (await this.#options.exclusive(() => this.#load()));
    const done = { splits: this.#splits, growths: this.#growths };
    return { kind: 'leveldb', hash: DIGEST_NAME, ...done, ...bloomStats(tree) };
  }

  async close(): Promise<void> {}

  async #load(): Promise<BloomTree> {
    if (this.#tree !== null) return this.#tree;
    const { rows, log, plan, urls } = this.#options;
    const loaded = await loadSeenTree(rows, plan, urls(), log);
    if (typeof loaded !== 'string') {
      this.#tree = loaded.tree;
      this.#splits = loaded.splits;
      this.#growths = loaded.growths;
      this.#number = loaded.number;
      for (const [leaf, count] of loaded.unsaved) this.#unsaved.set(leaf, count);
      return loaded.tree;
    }
    return this.#rebuild(loaded);
  }

  async #rebuild(reason: string): Promise<BloomTree> {
    const { rows, log, plan, urls } = this.#options;
    if (urls() > 0) log.info('the filter of seen URLs is rebuilt from the crawl db', { reason, urls: urls() });
    const { from, to } = rowRange(ROW.seen);
    await rows.clear({ gte: from, lt: to });
    this.#unsaved.clear();
    const tree = new BloomTree(plan);
    this.#tree = tree;
    this.#isComplete = false;
    for await (const keys of keysOfRange(rows, rowRange(ROW.record), REBUILD_WINDOW)) {
      await this.#addDirectly(digestUrls(keys.map(urlOfRow)));
    }
    this.#isComplete = true;
    await rows.put(SEEN_TREE_KEY, this.#encodedTree());
    return tree;
  }

  async #addDirectly(digests: Uint32Array): Promise<void> {
    await this.#inBatch((sink) => this.#makeSpace(digests).then((fitting) => this.#stageFitting(sink, fitting)));
  }

  /** Writes the digests that fit, and replaces full leaves until the rest fits as well; returns the rest by leaf. */
  async #makeSpace(digests: Uint32Array): Promise<Map<BloomLeaf, DigestList>> {
    let left = digests;
    for (;;) {
      const { fitting, rest } = this.#grouped(left);
      if (rest.count === 0) return fitting;
      await this.#inBatch(async (sink) => this.#stageFitting(sink, fitting));
      const full = new Set<BloomLeaf>();
      left = rest.words();
      for (let at = 0; at < left.length; at += DIGEST_WORDS) full.add((this.#tree as BloomTree).leafOf(left, at));
      for (const leaf of full) await this.#replace(leaf);
    }
  }

  /** Groups digests by leaf, up to the capacity of the leaf. */
  #grouped(digests: Uint32Array): { fitting: Map<BloomLeaf, DigestList>; rest: DigestList } {
    const tree = this.#tree as BloomTree;
    const fitting = new Map<BloomLeaf, DigestList>();
    const rest = new DigestList();
    for (let at = 0; at < digests.length; at += DIGEST_WORDS) {
      const leaf = tree.leafOf(digests, at);
      let list = fitting.get(leaf);
      if (list === undefined) {
        list = new DigestList();
        fitting.set(leaf, list);
      }
      if (leaf.count + list.count < leaf.capacity) list.push(digests, at);
      else rest.push(digests, at);
    }
    return { fitting, rest };
  }

  #stageFitting(sink: RowSink, fitting: ReadonlyMap<BloomLeaf, DigestList>): void {
    const number = ++this.#number;
    for (const [leaf, list] of fitting) {
      if (list.count === 0) continue;
      const digests = list.words();
      for (let at = 0; at < digests.length; at += DIGEST_WORDS) put(leaf, digests, at);
      sink.put(setKey(leaf.id, number), encodeSet(digests));
      const unsaved = (this.#unsaved.get(leaf.id) ?? 0) + list.count;
      // Loading adds the digests that are not in the stored bits: an eighth of a leaf at most.
      if (unsaved > leaf.capacity / 8) this.#stageBits(sink, leaf, number);
      else this.#unsaved.set(leaf.id, unsaved);
    }
  }

  #stageBits(sink: RowSink, leaf: BloomLeaf, number: number): void {
    sink.put(bitsKey(leaf.id), encodeBits({ upTo: number, count: leaf.count, bits: leaf.bits }));
    this.#unsaved.set(leaf.id, 0);
  }

  /** One batch removes the rows of the old leaf, writes those of the new ones, and switches the tree. */
  async #replace(leaf: BloomLeaf): Promise<void> {
    const tree = this.#tree as BloomTree;
    const { rows, log } = this.#options;
    const { digests, keys } = await readSet(rows, leaf.id);
    // The bits hold all digests; the replacement would deny those whose rows are lost.
    if (digests.length / DIGEST_WORDS < leaf.count) {
      throw new CrawlError('internal', 'a URL set of the filter of seen URLs has lost rows');
    }
    const replacement = tree.replacement(leaf, digests);
    if (replacement.kind === 'split') this.#splits++;
    if (replacement.kind === 'grown') this.#growths++;
    await this.#inBatch(async (sink) => {
      const number = ++this.#number;
      for (const { leaf: own, digests } of replacement.leaves) {
        sink.put(setKey(own.id, number), encodeSet(digests));
        this.#stageBits(sink, own, number);
      }
      for (const key of keys) sink.del(key);
      sink.del(bitsKey(leaf.id));
      sink.put(SEEN_TREE_KEY, this.#encodedTree({ leaf, replacement }));
    });
    tree.replace(leaf, replacement);
    this.#unsaved.delete(leaf.id);
    log.debug('leaf of the filter of seen URLs replaced', { kind: replacement.kind, urls: leaf.count });
  }

  #encodedTree(using?: { leaf: BloomLeaf; replacement: Replacement }): Buffer {
    const tree = this.#tree as BloomTree;
    const leaves = [...tree.leaves()].filter((leaf) => leaf !== using?.leaf);
    for (const { leaf } of using?.replacement.leaves ?? []) leaves.push(leaf);
    return encodeTree(
      {
        plan: tree.plan,
        shape: tree.shape(using),
        nextId: tree.nextId,
        leaves: leaves.map(({ id, size }) => ({ id, size })),
        splits: this.#splits,
        growths: this.#growths,
      },
      this.#isComplete,
    );
  }

  async #inBatch(stage: (sink: RowSink) => Promise<void>): Promise<void> {
    const native = this.#options.rows.batch();
    try {
      await stage(native);
      await native.write();
    } catch (error) {
      throw rowFault(error);
    } finally {
      await native.close();
    }
  }
}

interface OpenSeenFilter {
  readonly filter: SeenFilter | null;
  /** To be passed to the writer. */
  readonly watcher: NewUrlWatcher | null;
}

/**
 * Opens the filter of seen URLs: in rows of the crawl db, a shared one elsewhere, or none (`null`). A filter that is
 * not in use misses new URLs. So the first new URL removes the row that marks it as complete, and its next use rebuilds
 * it.
 */
export async function openSeenFilter(
  rows: Rows,
  writer: BatchWriter,
  plan: BloomPlan | SharedSeenFilter | null,
  log: Log,
): Promise<OpenSeenFilter> {
  const deps = {
    rows,
    log,
    exclusive: <Value>(task: () => Promise<Value>) => writer.exclusive(task),
    urls: () => writer.counters().urls,
  };
  if (plan === null) return { filter: null, watcher: await voiding(rows, null, [SEEN_TREE_KEY, SHARED_MARK_KEY]) };
  if ('probe' in plan) {
    const filter = new SharedFilterKeeper({ ...deps, filter: plan });
    return { filter, watcher: await voiding(rows, filter, [SEEN_TREE_KEY]) };
  }
  const filter = new RowsSeenFilter({ ...deps, plan });
  return { filter, watcher: await voiding(rows, filter, [SHARED_MARK_KEY]) };
}

/**
 * @param watcher the filter in use
 * @param unused keys of the rows that mark the others as complete
 */
async function voiding(
  rows: Rows,
  watcher: NewUrlWatcher | null,
  unused: readonly string[],
): Promise<NewUrlWatcher | null> {
  const stored = await rows.hasMany([...unused]);
  const stale = unused.filter((_, i) => stored[i]);
  if (stale.length === 0) return watcher;
  return {
    stage: async (sink, urls) => {
      for (const key of stale) sink.del(key);
      await watcher?.stage(sink, urls);
    },
  };
}
