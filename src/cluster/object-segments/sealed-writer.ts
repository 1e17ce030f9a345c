import type { FileSegment } from '../../store/files/segments/segment-store.ts';
import { warcSizes } from '../../store/files/warc/warc-writer.ts';
import type { ManifestHolder } from './manifest-holder.ts';
import type { Sealer } from './sealer.ts';

export interface SealTerms {
  /** Number of written bytes after which they are stored. */
  readonly partBytes: number;
  /** When two fetched records are this far apart, all records before are stored, ms. */
  readonly sealMs: number;
}

export interface ChangeOfSegment {
  readonly replacesParsed?: boolean;
  readonly isLast?: boolean;
}

/** Stores a segment piece by piece while it is written: one sealing at a time. */
export class SealedWriter {
  readonly #local: FileSegment;
  readonly #folder: string;
  readonly #sealer: Sealer;
  readonly #holder: ManifestHolder;
  readonly #terms: SealTerms;
  #queue: Promise<unknown> = Promise.resolve();
  #underWay: Promise<void> | null = null;
  #failure: { readonly error: unknown } | null = null;
  #unsealedBytes = 0;
  #sealedAt: number | null = null;
  #replacesParsed = false;
  #isStored = false;

  constructor(
    local: FileSegment,
    folder: string,
    deps: { readonly sealer: Sealer; readonly holder: ManifestHolder },
    terms: SealTerms,
  ) {
    this.#local = local;
    this.#folder = folder;
    this.#sealer = deps.sealer;
    this.#holder = deps.holder;
    this.#terms = terms;
  }

  /**
   * Counts what was written, and stores it when that is due. Waits if storing does not keep up, so that the local
   * folder stays small. Rejects if an earlier attempt to store failed: the crawl cannot go on.
   * @param at time of a visit; `null`: not a visit
   */
  async wrote(bytes: number, at: number | null): Promise<void> {
    if (this.#failure !== null) throw this.#failure.error;
    this.#holder.requireHeld();
    const { partBytes, sealMs } = this.#terms;
    this.#unsealedBytes += bytes;
    this.#sealedAt ??= at;
    const isLate = at !== null && this.#sealedAt !== null && Math.abs(at - this.#sealedAt) >= sealMs;
    if (this.#unsealedBytes < partBytes && !isLate) return;
    if (this.#underWay === null) {
      this.#sealedAt = at;
      this.#underWay = this.seal()
        .catch((error: unknown) => {
          this.#failure = { error };
        })
        .finally(() => {
          this.#underWay = null;
        });
    } else if (this.#unsealedBytes >= partBytes) await this.#underWay;
  }

  /** Stores all that was written so far. */
  seal(): Promise<void> {
    return this.#inTurn(() => this.#seal());
  }

  /**
   * Makes a change that does more than append to files, and stores it. Not while files are being stored or removed
   * here.
   * @param replacesParsed the present parse output is replaced
   * @param isLast only the end follows, which then has nothing to store
   */
  change(act: () => Promise<void>, { replacesParsed = false, isLast = false }: ChangeOfSegment): Promise<void> {
    return this.#inTurn(async () => {
      await act();
      this.#replacesParsed ||= replacesParsed;
      await this.#seal(isLast);
    });
  }

  /** Stores the rest, unless that has failed already, and gives the segment back. */
  async end(): Promise<void> {
    await this.#queue;
    if (this.#failure !== null) return;
    await this.seal();
    await this.#holder.release();
    this.#isStored = true;
  }

  /** Whether storing has failed: this writer then stores nothing more. */
  get hasFailed(): boolean {
    return this.#failure !== null;
  }

  /** Whether all is stored, and the segment given back. */
  get isStored(): boolean {
    return this.#isStored;
  }

  /** Ends the heartbeat. */
  stop(): void {
    this.#holder.stop();
  }

  async #seal(isLast = false): Promise<void> {
    this.#holder.requireHeld();
    this.#unsealedBytes = 0;
    const cut = this.#local.cut();
    const earlier = Object.keys(this.#holder.manifest.warc);
    await this.#sealer.seal(cut, this.#replacesParsed, isLast);
    this.#replacesParsed = false;
    // The last file stays: its pages may not be parsed yet.
    const local = warcSizes(this.#folder);
    this.#local.removeWarc(earlier.filter((name) => local.has(name)));
  }

  #inTurn(act: () => Promise<void>): Promise<void> {
    const done = this.#queue.then(act);
    this.#queue = done.catch(() => {});
    return done;
  }
}
