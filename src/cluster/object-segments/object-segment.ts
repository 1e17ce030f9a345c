import type { HostFacts, SegmentState } from '../../core/ports/crawl-db.ts';
import type {
  FetchedRecord,
  FetchItem,
  ParsedRecord,
  ParsedReplacement,
  Segment,
  SegmentInfo,
  WarcPointer,
  WireResponse,
} from '../../core/ports/segment-store.ts';
import type { FileSegment } from '../../store/files/segments/segment-store.ts';
import type { ChangeOfSegment, SealedWriter } from './sealed-writer.ts';
import type { StoredResponses } from './stored-responses.ts';

export interface ObjectSegmentParts {
  /** All records, and the responses that are not stored yet. */
  readonly local: FileSegment;
  readonly responses: StoredResponses;
  /** `null`: nothing that is written is stored. */
  readonly writer: SealedWriter | null;
  /** Called once, when the segment is closed. */
  readonly onClose: () => void;
  /** Whether, once all is stored, the next writer of this process continues with the segment as it is. */
  readonly isKept?: () => boolean;
}

/** A segment in its local folder whose records are gradually stored as objects. */
export class ObjectSegment implements Segment {
  readonly #parts: ObjectSegmentParts;
  #isOpen = true;

  constructor(parts: ObjectSegmentParts) {
    this.#parts = parts;
  }

  get info(): SegmentInfo {
    return this.#local.info;
  }

  get fetchedCount(): number {
    return this.#local.fetchedCount;
  }

  get parsedCount(): number {
    return this.#local.parsedCount;
  }

  hasFetched(index: number): boolean {
    return this.#local.hasFetched(index);
  }

  hasParsed(index: number): boolean {
    return this.#local.hasParsed(index);
  }

  fetchList(from?: number): AsyncIterable<FetchItem> {
    return this.#local.fetchList(from);
  }

  fetched(): AsyncIterable<FetchedRecord> {
    return this.#local.fetched();
  }

  parsed(options?: { readonly texts?: boolean }): AsyncIterable<ParsedRecord> {
    return this.#local.parsed(options);
  }

  findFetched(url: string): Promise<FetchedRecord | undefined> {
    return this.#local.findFetched(url);
  }

  findParsed(url: string): Promise<ParsedRecord | undefined> {
    return this.#local.findParsed(url);
  }

  async readResponse(pointer: WarcPointer): Promise<WireResponse> {
    this.#local.flush();
    return this.#parts.responses.read(pointer);
  }

  addItems(items: readonly FetchItem[], hosts: Readonly<Record<string, HostFacts>>): Promise<void> {
    return this.#local.addItems(items, hosts);
  }

  noteTurns(turns: Readonly<Record<string, number>>): Promise<void> {
    return this.#local.noteTurns(turns);
  }

  async addFetched(record: Omit<FetchedRecord, 'warc'>, response: WireResponse | null): Promise<FetchedRecord> {
    const stored = await this.#local.addFetched(record, response);
    await this.#parts.writer?.wrote(stored.warc?.length ?? 0, record.outcome.at);
    return stored;
  }

  async addParsed(index: number, encoded: Uint8Array): Promise<void> {
    await this.#local.addParsed(index, encoded);
    await this.#parts.writer?.wrote(encoded.length, null);
  }

  async resetParsed(): Promise<void> {
    await this.#change(() => this.#local.resetParsed(), { replacesParsed: true });
  }

  replaceParsed(): ParsedReplacement {
    const replacement = this.#local.replaceParsed();
    return {
      add: (index, encoded) => replacement.add(index, encoded),
      commit: () => this.#change(() => replacement.commit(), { replacesParsed: true }),
    };
  }

  async setState(state: SegmentState): Promise<void> {
    await this.#change(() => this.#local.setState(state), { isLast: state === 'updated' });
  }

  /** Stores the rest, and gives the segment back. What could not be stored stays in the local folder. */
  async close(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    if (this.#parts.writer !== null && this.#parts.isKept?.() === true) await this.#parts.writer.seal();
    else await this.#end();
  }

  /** A segment that is kept, for its next writer. */
  again(): Segment {
    this.#isOpen = true;
    return this;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Lets go of a kept segment: its lease ends, and the next writer has to claim it. */
  async letGo(): Promise<void> {
    const { local, writer, onClose } = this.#parts;
    writer?.stop();
    await local.close();
    onClose();
  }

  async #end(): Promise<void> {
    const { local, writer, onClose } = this.#parts;
    try {
      await writer?.end();
    } finally {
      writer?.stop();
      await local.close();
      onClose();
    }
  }

  get #local(): FileSegment {
    return this.#parts.local;
  }

  #change(act: () => Promise<void>, how: ChangeOfSegment): Promise<void> {
    const { writer } = this.#parts;
    return writer === null ? act() : writer.change(act, how);
  }
}
