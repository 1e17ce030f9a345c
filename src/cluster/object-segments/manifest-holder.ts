import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { CrawlError } from '../../core/domain/errors.ts';
import type { ObjectStore, StoredObject } from '../../core/ports/objects/object-store.ts';
import { isProcessGone } from '../../store/files/locks/folder-lock.ts';
import {
  dataKey,
  decodeManifest,
  encodeManifest,
  manifestKey,
  objectsOf,
  type SegmentManifest,
  type Writer,
} from './manifest.ts';

export interface ClaimTerms {
  /**
   * Fencing token of the lease that this writer holds now. `null`: there is no lease; the segment keeps its token, and
   * only heartbeats keep writers apart.
   */
  readonly token: number | null;
  /** Time after which a writer without a heartbeat loses the segment, ms. */
  readonly patienceMs: number;
}

/** What the local folder notes before and after each replacement of the manifest. */
export interface ManifestNotes {
  /** A replacement begins: afterwards either text may be the manifest. */
  begin(now: string, next: string): void;
  settle(now: string): void;
}

const SELF: Omit<Writer, 'nonce'> = { pid: process.pid, host: hostname(), startedAt: performance.timeOrigin };

export interface ReadManifest {
  readonly manifest: SegmentManifest;
  readonly stored: StoredObject;
}

/** `null`: there is no such segment. */
export async function readManifest(store: ObjectStore, id: string): Promise<ReadManifest | null> {
  const stored = await store.get(manifestKey(id));
  if (stored === null) return null;
  return { manifest: decodeManifest(stored.bytes.toString('utf8'), `${store.name}/${manifestKey(id)}`), stored };
}

/**
 * The right to write a segment. Its manifest names the writer, and each replacement is a conditional request that
 * succeeds only if nobody has replaced the manifest since. So a writer that was taken for dead cannot change anything
 * when it wakes up.
 */
export class ManifestHolder {
  manifest: SegmentManifest;
  /** As stored. */
  text: string;
  readonly id: string;
  readonly #store: ObjectStore;
  #etag: string;
  #notes: ManifestNotes | null = null;
  #isLost = false;
  #replacing: Promise<unknown> = Promise.resolve();
  #heartbeat: NodeJS.Timeout | null = null;

  private constructor(store: ObjectStore, { manifest, stored }: ReadManifest) {
    this.#store = store;
    this.id = manifest.info.id;
    this.manifest = manifest;
    this.text = stored.bytes.toString('utf8');
    this.#etag = stored.etag;
  }

  /**
   * Makes this process the writer. Rejects with `db-locked` while another process writes, and with `lease-lost` if a
   * newer token is there.
   * @param notes of the folder that continues this manifest; `null`: there is no folder yet
   */
  static async claim(
    store: ObjectStore,
    read: ReadManifest,
    { token: ownToken, patienceMs }: ClaimTerms,
    notes: ManifestNotes | null,
  ): Promise<ManifestHolder> {
    const { manifest, stored } = read;
    const { id } = manifest.info;
    const token = ownToken ?? manifest.token;
    if (manifest.token > token) throw fenced(store, id);
    const { writer } = manifest;
    const isFree = writer === null || manifest.token < token || isGone(writer, stored.ageMs, patienceMs);
    if (!isFree) throw locked(store, id, `process ${writer.pid} on ${writer.host}`);
    const holder = new ManifestHolder(store, read);
    const own: Writer = { ...SELF, nonce: randomBytes(6).toString('hex') };
    holder.#notes = notes;
    const isClaimed = await holder.#tryReplace({ ...manifest, token, writer: own });
    if (!isClaimed) throw locked(store, id, 'another process, which was faster');
    holder.#heartbeat = setInterval(() => {
      // A failure here needs no report: the next replacement tries again and shows it.
      holder.replace((now) => now).catch(() => {});
    }, patienceMs / 3);
    holder.#heartbeat.unref();
    return holder;
  }

  /** Of the manifest as stored. */
  get etag(): string {
    return this.#etag;
  }

  set notes(notes: ManifestNotes) {
    this.#notes = notes;
    notes.settle(this.text);
  }

  /** Rejects with `lease-lost` if another process has taken the segment over. One replacement at a time. */
  replace(change: (now: SegmentManifest) => SegmentManifest): Promise<void> {
    const done = this.#replacing.then(async () => {
      this.requireHeld();
      const before = this.manifest;
      if (await this.#tryReplace(change(before))) await this.#removeReplaced(before);
      else this.#isLost = true;
      this.requireHeld();
    });
    this.#replacing = done.catch(() => {});
    return done;
  }

  requireHeld(): void {
    if (this.#isLost) throw fenced(this.#store, this.id);
  }

  /** Gives the segment back. */
  async release(): Promise<void> {
    this.stop();
    if (!this.#isLost && this.manifest.writer !== null) await this.replace((now) => ({ ...now, writer: null }));
  }

  /** Stops without giving the segment back: other processes wait until its patience ends; this one need not. */
  stop(): void {
    if (this.#heartbeat !== null) clearInterval(this.#heartbeat);
    this.#heartbeat = null;
  }

  async #tryReplace(changed: SegmentManifest): Promise<boolean> {
    const gone = objectsNotIn(changed, this.manifest);
    const next: SegmentManifest = { ...changed, sequence: this.manifest.sequence + 1, replaced: gone };
    const text = encodeManifest(next);
    this.#notes?.begin(this.text, text);
    const version = await this.#store.put(manifestKey(this.id), Buffer.from(text), { etag: this.#etag });
    if (version === null) return false;
    [this.manifest, this.text, this.#etag] = [next, text, version.etag];
    this.#notes?.settle(text);
    return true;
  }

  /** Removes what the replacement before the last one replaced: readers have had until now to move on. */
  async #removeReplaced({ replaced }: SegmentManifest): Promise<void> {
    const needed = objectsOf(this.manifest);
    const gone = replaced.filter((name) => !needed.has(name));
    await this.#store.remove(gone.map((name) => dataKey(this.id, name)));
  }
}

function objectsNotIn(next: SegmentManifest, before: SegmentManifest): string[] {
  const needed = objectsOf(next);
  return [...objectsOf(before)].filter((name) => !needed.has(name));
}

function isGone(writer: Writer, ageMs: number, patienceMs: number): boolean {
  if (writer.host === SELF.host) {
    if (writer.pid === SELF.pid && writer.startedAt !== SELF.startedAt) return true;
    if (writer.pid !== SELF.pid && isProcessGone(writer.pid)) return true;
  }
  return ageMs > patienceMs;
}

function locked(store: ObjectStore, id: string, who: string): CrawlError {
  const message = `the segment ${id} in ${store.name} is being written by ${who}; one process at a time can do so`;
  return new CrawlError('db-locked', message);
}

function fenced(store: ObjectStore, id: string): CrawlError {
  const message = `the segment ${id} in ${store.name} was taken over by another process; this one has stored nothing since`;
  return new CrawlError('lease-lost', message);
}
