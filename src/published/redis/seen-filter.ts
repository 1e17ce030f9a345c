import { createHash, randomUUID } from 'node:crypto';
import { CrawlError } from '../../core/domain/errors.ts';
import type { BloomLeaf, BloomPlan } from '../../core/domain/url/bloom/bloom-leaf.ts';
import { BloomTree, bloomStats, type Replacement } from '../../core/domain/url/bloom/bloom-tree.ts';
import { DIGEST_NAME, DIGEST_WORDS, DigestList } from '../../core/domain/url/hash/url-digest.ts';
import type { SeenFilterStats, SharedSeenFilter } from '../../core/ports/seen-filter.ts';
import { connectionFault, type RedisClient, redisError } from './connect.ts';
import { ADD, PROBE, readTree, type SharedTree, SWITCH } from './seen-tree.ts';

type Argument = string | number | Buffer;

const digests = new Map<string, string>();

/** Command and arguments that run a script by its digest, or by its text if the server does not know it yet. */
function commandOf(
  script: string,
  by: 'digest' | 'text',
  keys: readonly string[],
  args: readonly Argument[],
): [command: string, args: Argument[]] {
  let digest = digests.get(script);
  if (digest === undefined) {
    digest = createHash('sha1').update(script).digest('hex');
    digests.set(script, digest);
  }
  const rest: Argument[] = [by === 'digest' ? digest : script, keys.length, ...keys];
  for (const arg of args) rest.push(arg);
  return [by === 'digest' ? 'EVALSHA' : 'EVAL', rest];
}

/** Whether the server does not know the script, and has run nothing. */
const isUnknownScript = (error: unknown): boolean => error instanceof Error && error.message.startsWith('NOSCRIPT');

/**
 * Runs a script by its digest; sends its text only if the server does not know it yet. Strings in the reply are
 * buffers.
 */
async function runScript(
  redis: RedisClient,
  script: string,
  keys: readonly string[],
  args: readonly Argument[],
): Promise<unknown> {
  try {
    return await redis.callBuffer(...commandOf(script, 'digest', keys, args));
  } catch (error) {
    if (!isUnknownScript(error)) throw redisError(error, connectionFault(redis));
  }
  try {
    return await redis.callBuffer(...commandOf(script, 'text', keys, args));
  } catch (error) {
    throw redisError(error, connectionFault(redis));
  }
}

/** A script, since only scripts go to the cluster node that has the key. */
const MEMORY = `return redis.call('INFO', 'memory')`;

/**
 * `maxmemory-policy`: the keys that the server evicts when its memory is full; `null` if it evicts none (`noeviction`),
 * or does not report it.
 * @param key any key on the same node
 */
async function evictionPolicy(redis: RedisClient, key: string): Promise<string | null> {
  const info = await runScript(redis, MEMORY, [key], []).catch(() => '');
  const policy = /^maxmemory_policy:(\S+)/m.exec(String(info))?.[1] ?? 'noeviction';
  return policy === 'noeviction' ? null : policy;
}

interface RedisSeenFilterOptions {
  readonly redis: RedisClient;
  /** Prefix of all keys, in braces. */
  readonly name: string;
  readonly plan: BloomPlan;
  readonly hash?: string;
  /** Time that a worker has to replace a leaf before another one may try, ms; default 30 s. */
  readonly lockMs?: number;
}

/** Lifetime of new leaves that no switch made part of the tree, ms. */
const ORPHAN_MS = 600_000;
const WAIT_MS = 20;

interface Group {
  readonly leaf: BloomLeaf;
  readonly digests: DigestList;
  /** Position of each digest in the probe. */
  readonly positions: number[];
}

/**
 * A filter that several crawlers share: bits are Redis bitmaps, URL sets are strings of digests, the tree is one hash
 * with a version. Every script checks the version first, so a replaced leaf is neither read nor written. A full leaf
 * accepts no more digests until it is replaced. One worker at a time may do that, under a lock whose token the switch
 * checks again: a worker that was too slow only leaves keys that expire.
 */
export class RedisSeenFilter implements SharedSeenFilter {
  readonly #redis: RedisClient;
  readonly #plan: BloomPlan;
  readonly #hash: string;
  readonly #prefix: string;
  readonly #lockMs: number;
  #known: SharedTree | null = null;
  /** Highest count of digests ever reported: a server that reports less has lost digests. */
  #adds = 0;
  #epoch: string | null = null;

  constructor({ redis, name, plan, hash = DIGEST_NAME, lockMs = 30_000 }: RedisSeenFilterOptions) {
    this.#redis = redis;
    this.#plan = plan;
    this.#hash = hash;
    this.#prefix = `{${name}}`;
    this.#lockMs = lockMs;
    // After a lost connection the server may be another one, or restarted from an old copy.
    redis.on('close', () => {
      this.#known = null;
    });
  }

  async probe(digests: Uint32Array): Promise<Uint8Array> {
    const answers = new Uint8Array(digests.length / DIGEST_WORDS);
    let open = [...answers.keys()];
    while (open.length > 0) {
      const known = await this.#tree();
      const again: number[] = [];
      await Promise.all(
        grouped(known.tree, digests, open).map(async (group) => {
          const { id, size, hashes } = group.leaf;
          const keys = [this.#key('tree'), this.#key('bits', id)];
          const found = await this.#redis.eval(PROBE, 2, ...keys, known.version, size, hashes, bytesOf(group.digests));
          if (found === 'stale') again.push(...group.positions);
          else for (const [i, position] of group.positions.entries()) answers[position] = Number((found as string)[i]);
        }),
      );
      if (again.length > 0) this.#known = null;
      open = again;
    }
    return answers;
  }

  async add(digests: Uint32Array): Promise<void> {
    let open = Array.from({ length: digests.length / DIGEST_WORDS }, (_, i) => i);
    while (open.length > 0) {
      const known = await this.#tree();
      const again: number[] = [];
      const full: BloomLeaf[] = [];
      await Promise.all(
        grouped(known.tree, digests, open).map(async ({ leaf, digests: own, positions }) => {
          const { id, size, hashes, capacity } = leaf;
          const keys = [this.#key('tree'), this.#key('bits', id), this.#key('set', id)];
          const [taken, adds] = (await this.#redis.eval(
            ADD,
            3,
            ...keys,
            known.version,
            size,
            hashes,
            capacity,
            bytesOf(own),
          )) as [number, number];
          if (taken < 0) this.#known = null;
          else if (taken < positions.length) full.push(leaf);
          this.#adds = Math.max(this.#adds, adds);
          again.push(...positions.slice(Math.max(0, taken)));
        }),
      );
      for (const leaf of full) await this.#replace(leaf.id);
      open = again.sort((a, b) => a - b);
    }
  }

  async stats(): Promise<SeenFilterStats> {
    this.#known = null;
    const known = await this.#tree();
    const bits = new Map<number, { size: number; bits: Uint8Array; count: number }>();
    for (const { id, size } of known.leaves) {
      const stored = new Uint8Array(Math.ceil(size / 8));
      stored.set((await this.#redis.getBuffer(this.#key('bits', id))) ?? []);
      bits.set(id, { size, bits: stored, count: (await this.#redis.strlen(this.#key('set', id))) / 16 });
    }
    const { splits, growths, tree } = known;
    const full = new BloomTree(tree.plan, {
      shape: tree.shape(),
      nextId: tree.nextId,
      bits: (id) => bits.get(id) as { size: number; bits: Uint8Array; count: number },
    });
    return { kind: 'redis', hash: this.#hash, splits, growths, ...bloomStats(full) };
  }

  async mark(): Promise<{ epoch: string; adds: number }> {
    const { epoch } = await this.#tree();
    return { epoch, adds: this.#adds };
  }

  async clear(): Promise<void> {
    const leaves = this.#known?.leaves ?? [];
    const keys = leaves.flatMap(({ id }) => [this.#key('bits', id), this.#key('set', id)]);
    await this.#redis.del(this.#key('tree'), ...keys);
    this.#known = null;
    this.#epoch = null;
    this.#adds = 0;
  }

  async close(): Promise<void> {
    this.#redis.disconnect();
  }

  async #tree(): Promise<SharedTree> {
    if (this.#known !== null) return this.#known;
    await this.#requireKept();
    const known = await readTree(this.#redis, this.#key('tree'), this.#plan, this.#hash, randomUUID());
    if ((this.#epoch !== null && known.epoch !== this.#epoch) || known.adds < this.#adds) {
      throw new CrawlError('internal', 'Redis has lost digests of the filter of seen URLs');
    }
    this.#epoch = known.epoch;
    this.#adds = known.adds;
    this.#known = known;
    return known;
  }

  /**
   * Requires that no leaf can be evicted: without its bits it would deny its URLs. Policies other than these evict only
   * keys that expire, which no leaf of the tree does.
   */
  async #requireKept(): Promise<void> {
    const policy = await evictionPolicy(this.#redis, this.#key('tree'));
    if (!policy?.startsWith('allkeys-')) return;
    throw new CrawlError(
      'config-invalid',
      `Redis may evict bits of the filter when its memory is full: its maxmemory-policy is ${policy}, ` +
        'and must be noeviction',
    );
  }

  /** Replaces a full leaf, or waits for the worker that is replacing it. */
  async #replace(id: number): Promise<void> {
    const token = randomUUID();
    const lock = this.#key('lock', id);
    if ((await this.#redis.set(lock, token, 'PX', this.#lockMs, 'NX')) === null) {
      await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
      this.#known = null;
      return;
    }
    this.#known = null;
    if (leafOfId((await this.#tree()).tree, id) === undefined) {
      await this.#redis.del(lock);
      return;
    }
    const set = (await this.#redis.getBuffer(this.#key('set', id))) ?? Buffer.alloc(0);
    const nextId = (await this.#redis.hincrby(this.#key('tree'), 'nextId', 2)) - 2;
    let prepared: Replacement | null = null;
    for (;;) {
      const { tree, leaves, version } = await this.#tree();
      const leaf = leafOfId(tree, id);
      if (leaf === undefined) return;
      prepared ??= await this.#prepare(tree, leaf, nextId, wordsOf(set));
      const own = prepared.leaves.map((each) => each.leaf);
      const stored = [...leaves.filter((each) => each.id !== id), ...own.map(({ id, size }) => ({ id, size }))];
      const keys = [
        this.#key('tree'),
        lock,
        this.#key('bits', id),
        this.#key('set', id),
        ...own.flatMap((each) => [this.#key('bits', each.id), this.#key('set', each.id)]),
      ];
      const done = await this.#redis.eval(
        SWITCH,
        keys.length,
        ...keys,
        version,
        token,
        set.length,
        JSON.stringify(tree.shape({ leaf, replacement: prepared })),
        JSON.stringify(stored),
        prepared.kind === 'split' ? 'splits' : 'growths',
      );
      this.#known = null;
      if (done !== 0) return;
    }
  }

  /** Writes the new leaves, which are not yet part of the tree. */
  async #prepare(tree: BloomTree, leaf: BloomLeaf, nextId: number, digests: Uint32Array): Promise<Replacement> {
    const sizes = new Map([...tree.leaves()].map((each) => [each.id, each.size]));
    const numbered = new BloomTree(tree.plan, {
      shape: tree.shape(),
      nextId,
      bits: (id) => ({ size: sizes.get(id) ?? 0, bits: leaf.bits, count: 0 }),
    });
    const replacement = numbered.replacement(leaf, digests);
    for (const { leaf: own, digests: put } of replacement.leaves) {
      const list = new DigestList();
      list.append(put);
      await this.#redis.set(this.#key('bits', own.id), Buffer.from(own.bits), 'PX', ORPHAN_MS);
      await this.#redis.set(this.#key('set', own.id), bytesOf(list), 'PX', ORPHAN_MS);
    }
    return replacement;
  }

  #key(kind: 'tree' | 'bits' | 'set' | 'lock', id?: number): string {
    return id === undefined ? `${this.#prefix}:${kind}` : `${this.#prefix}:${kind}:${id}`;
  }
}

function grouped(tree: BloomTree, digests: Uint32Array, positions: readonly number[]): Group[] {
  const groups = new Map<BloomLeaf, Group>();
  for (const position of positions) {
    const leaf = tree.leafOf(digests, position * DIGEST_WORDS);
    let group = groups.get(leaf);
    if (group === undefined) {
      group = { leaf, digests: new DigestList(), positions: [] };
      groups.set(leaf, group);
    }
    group.digests.push(digests, position * DIGEST_WORDS);
    group.positions.push(position);
  }
  return [...groups.values()];
}

function leafOfId(tree: BloomTree, id: number): BloomLeaf | undefined {
  for (const leaf of tree.leaves()) if (leaf.id === id) return leaf;
  return undefined;
}

function bytesOf(list: DigestList): Buffer {
  const words = list.words();
  const bytes = Buffer.alloc(words.length * 4);
  for (let i = 0; i < words.length; i++) bytes.writeUInt32BE(words[i] as number, 4 * i);
  return bytes;
}

function wordsOf(bytes: Buffer): Uint32Array {
  const words = new Uint32Array(Math.floor(bytes.length / 16) * DIGEST_WORDS);
  for (let i = 0; i < words.length; i++) words[i] = bytes.readUInt32BE(4 * i);
  return words;
}
