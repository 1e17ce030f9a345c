import { unpack } from 'msgpackr';
import { CrawlError } from '../../src/core/domain/errors.ts';
import type { SegmentState } from '../../src/core/ports/crawl-db.ts';
import type {
  FetchedRecord,
  FetchItem,
  NewSegment,
  ParsedRecord,
  ParsedReplacement,
  Segment,
  SegmentInfo,
  SegmentStore,
  WarcPointer,
  WireResponse,
} from '../../src/core/ports/segment-store.ts';

/** The reference adapter: segments for as long as the process lives. */
export function createMemorySegmentStore(): SegmentStore {
  const stored = new Map<string, StoredSegment>();
  return {
    async create(segment: NewSegment, items): Promise<SegmentInfo> {
      const { id } = segment;
      if (!/^[\w-]+$/.test(id)) throw new TypeError(`segment id "${id}" may have letters, digits, "_" and "-" only`);
      if (stored.has(id)) throw new TypeError(`segment ${id} exists already`);
      const list: FetchItem[] = [];
      for await (const item of items) {
        if (item.index !== list.length) {
          throw new TypeError(`fetch list position ${item.index} where ${list.length} was expected`);
        }
        list.push(structuredClone(item));
      }
      const info: SegmentInfo = { ...segment, urls: list.length, state: 'generated' };
      stored.set(id, { info, list, fetched: new Map(), parsed: new Map(), responses: [], isBeingWritten: false });
      return info;
    },
    async open(id, mode): Promise<Segment> {
      const segment = stored.get(id);
      if (segment === undefined) {
        const known = [...stored.keys()].sort().join(', ') || 'none';
        throw new CrawlError('segment-missing', `no segment "${id}"; there are: ${known}`);
      }
      if (mode === 'write') {
        if (segment.isBeingWritten) throw new CrawlError('db-locked', `segment ${id} is being written already`);
        segment.isBeingWritten = true;
      }
      return new MemorySegment(segment, mode === 'write');
    },
    list: async () => [...stored.values()].map(({ info }) => info).sort((a, b) => (a.id < b.id ? -1 : 1)),
    info: async (id) => stored.get(id)?.info ?? null,
    ids: async () => [...stored.keys()].sort(),
    listIncomplete: async () => [],
    remove: async (id) => {
      stored.delete(id);
    },
  };
}

interface StoredSegment {
  info: SegmentInfo;
  readonly list: FetchItem[];
  readonly fetched: Map<number, FetchedRecord>;
  readonly parsed: Map<number, Uint8Array>;
  readonly responses: WireResponse[];
  isBeingWritten: boolean;
}

const STATES: readonly SegmentState[] = ['generated', 'fetched', 'parsed', 'updated'];

class MemorySegment implements Segment {
  private readonly stored: StoredSegment;
  private isWritable: boolean;

  constructor(stored: StoredSegment, isWritable: boolean) {
    this.stored = stored;
    this.isWritable = isWritable;
  }

  get info(): SegmentInfo {
    return this.stored.info;
  }

  get fetchedCount(): number {
    return this.stored.fetched.size;
  }

  get parsedCount(): number {
    return this.stored.parsed.size;
  }

  hasFetched(index: number): boolean {
    return this.stored.fetched.has(index);
  }

  hasParsed(index: number): boolean {
    return this.stored.parsed.has(index);
  }

  async *fetchList(from = 0): AsyncGenerator<FetchItem> {
    yield* this.stored.list.slice(from);
  }

  async addItems(items: readonly FetchItem[], hosts: SegmentInfo['hosts']): Promise<void> {
    this.checkWritable();
    const { list } = this.stored;
    checkPositions(items, list.length);
    list.push(...structuredClone(items));
    const { info } = this.stored;
    const followed = (info.followed ?? 0) + items.length;
    this.stored.info = { ...info, hosts: { ...hosts, ...info.hosts }, urls: list.length, followed };
  }

  async noteTurns(turns: Readonly<Record<string, number>>): Promise<void> {
    this.checkWritable();
    const { info } = this.stored;
    this.stored.info = { ...info, turns: { ...info.turns, ...turns } };
  }

  async addFetched(record: Omit<FetchedRecord, 'warc'>, response: WireResponse | null): Promise<FetchedRecord> {
    this.checkPosition(record.index);
    const { fetched, responses } = this.stored;
    if (fetched.has(record.index)) throw new TypeError(`position ${record.index} has been fetched already`);
    const warc =
      response === null ? null : { file: 'memory', offset: responses.push(asStored(response)) - 1, length: 1 };
    const stored = { ...structuredClone(record), warc };
    fetched.set(record.index, stored);
    return stored;
  }

  async addParsed(index: number, encoded: Uint8Array): Promise<void> {
    this.checkPosition(index);
    const { fetched, parsed } = this.stored;
    if (!fetched.has(index)) throw new TypeError(`position ${index} has not been fetched, so it cannot be parsed`);
    if (parsed.has(index)) throw new TypeError(`position ${index} has been parsed already`);
    parsed.set(index, encoded.slice());
  }

  async *fetched(): AsyncGenerator<FetchedRecord> {
    yield* [...this.stored.fetched.values()];
  }

  async *parsed({ texts = true }: { readonly texts?: boolean } = {}): AsyncGenerator<ParsedRecord> {
    for (const encoded of [...this.stored.parsed.values()]) {
      const record = unpack(encoded) as Record<string, unknown>;
      for (const [name, value] of Object.entries(record)) {
        if (value instanceof Uint8Array) record[name] = texts ? new TextDecoder().decode(value) : '';
      }
      yield record as unknown as ParsedRecord;
    }
  }

  async findFetched(url: string): Promise<FetchedRecord | undefined> {
    for await (const record of this.fetched()) if (record.url === url) return record;
    return undefined;
  }

  async findParsed(url: string): Promise<ParsedRecord | undefined> {
    for await (const record of this.parsed()) if (record.url === url) return record;
    return undefined;
  }

  async readResponse({ file, offset }: WarcPointer): Promise<WireResponse> {
    const response = file === 'memory' ? this.stored.responses[offset] : undefined;
    if (response === undefined) throw new CrawlError('segment-corrupt', `there is no response ${offset} in ${file}`);
    return response;
  }

  async resetParsed(): Promise<void> {
    this.checkWritable();
    this.stored.parsed.clear();
    if (STATES.indexOf(this.info.state) > STATES.indexOf('fetched')) {
      this.stored.info = { ...this.info, state: 'fetched' };
    }
  }

  replaceParsed(): ParsedReplacement {
    this.checkWritable();
    const fresh = new Map<number, Uint8Array>();
    let isOpen = true;
    const check = (): void => {
      if (!isOpen) throw new TypeError('the replacement has ended');
    };
    return {
      add: async (index, encoded) => {
        check();
        this.checkPosition(index);
        if (!this.hasFetched(index)) throw new TypeError(`position ${index} has not been fetched`);
        if (fresh.has(index)) throw new TypeError(`position ${index} has been replaced already`);
        fresh.set(index, encoded.slice());
      },
      commit: async () => {
        check();
        this.checkWritable();
        isOpen = false;
        for (const [index, encoded] of fresh) this.stored.parsed.set(index, encoded);
      },
    };
  }

  async setState(state: SegmentState): Promise<void> {
    this.checkWritable();
    if (STATES.indexOf(state) > STATES.indexOf(this.info.state)) this.stored.info = { ...this.info, state };
  }

  async close(): Promise<void> {
    if (this.isWritable) this.stored.isBeingWritten = false;
    this.isWritable = false;
  }

  private checkWritable(): void {
    if (!this.isWritable) throw new TypeError(`segment ${this.info.id} is open for reading only, or closed`);
  }

  private checkPosition(index: number): void {
    this.checkWritable();
    if (this.stored.list[index] === undefined) {
      throw new TypeError(`position ${index} is not in the fetch list of segment ${this.info.id}`);
    }
  }
}

function checkPositions(items: readonly FetchItem[], from: number): void {
  for (const [i, { index }] of items.entries()) {
    if (index !== from + i) throw new TypeError(`fetch list position ${index} where ${from + i} was expected`);
  }
}

function asStored(response: WireResponse): WireResponse {
  const rawHeaders: string[] = [];
  for (let i = 0; i + 1 < response.rawHeaders.length; i += 2) {
    const [name = '', value = ''] = response.rawHeaders.slice(i, i + 2);
    if (name.toLowerCase() !== 'transfer-encoding') rawHeaders.push(name, value);
  }
  const body = response.revisit === null ? Uint8Array.from(response.body ?? []) : null;
  const { bodySha256: _, ...kept } = response;
  return { ...kept, rawHeaders, body };
}
