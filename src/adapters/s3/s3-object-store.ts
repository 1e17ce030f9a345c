import type {
  ObjectContent,
  ObjectEntry,
  ObjectReading,
  ObjectStore,
  ObjectVersion,
  PutCondition,
  StoredObject,
} from '../../ports/objects/object-store.ts';
import { type ListedPage, listedPage } from './list-xml.ts';
import { putInParts } from './multipart.ts';
import { fieldOf } from './s3-answer.ts';
import { type S3Deps, type S3Options, S3Requests, type Settled, sha256Of } from './s3-requests.ts';

/** A file from this size on, written without a condition, goes in parts. */
const PART_BYTES = 256 << 20;
/** Requests of one `remove` under way at a time. */
const REMOVALS = 8;

/** Objects below a prefix of a bucket. */
export function createS3ObjectStore(options: S3Options, deps: S3Deps): ObjectStore {
  const requests = new S3Requests(options, deps);
  const { prefix } = options;

  async function get(key: string, { range, signal }: ObjectReading = {}): Promise<StoredObject | null> {
    const headers = range === undefined ? {} : { range: `bytes=${range.start}-${range.end - 1}` };
    const answer = await requests.ask({ method: 'GET', key, headers, signal }, [200, 206, 404, 416]);
    if (answer.status === 404) return null;
    if (answer.status === 416) return { etag: '', bytes: Buffer.alloc(0), ageMs: 0 };
    const isWhole = range !== undefined && answer.status === 200;
    const bytes = isWhole ? answer.body.subarray(range.start, range.end) : answer.body;
    return { ...versionOf(answer), bytes, ageMs: ageOf(answer) };
  }

  async function put(key: string, content: ObjectContent, condition?: PutCondition): Promise<ObjectVersion | null> {
    const large =
      condition === undefined && !(content instanceof Uint8Array) && content.length === 1 ? content[0] : null;
    const { partBytes = PART_BYTES } = options;
    if (large && large.end - large.start > partBytes) return putInParts(requests, key, large, partBytes);
    const isStale = async (): Promise<boolean> => {
      const { status, headers } = await requests.ask({ method: 'HEAD', key }, [200, 404]);
      return condition === 'new' ? status === 200 : headers.etag !== condition?.etag;
    };
    const headers = conditionHeaders(condition);
    const asked = { method: 'PUT', key, headers, content, ...(condition !== undefined && { isStale }) } as const;
    const answer = await requests.ask(asked, [200, 404, 412]);
    if (answer.status === 200) return versionOf(answer);
    // An earlier attempt, whose answer was lost, may have been carried out.
    const stored = answer.isRepeated ? await get(key) : null;
    const isOwn = stored !== null && (await sha256Of(stored.bytes)) === (await sha256Of(content));
    return isOwn ? { etag: stored.etag } : null;
  }

  async function* pages(listed: string, delimiter: string): AsyncGenerator<ListedPage> {
    let next: string | null = null;
    do {
      const query: Record<string, string> = {
        'list-type': '2',
        prefix: prefix + listed,
        ...(delimiter !== '' && { delimiter }),
        ...(next !== null && { 'continuation-token': next }),
      };
      const page: ListedPage = listedPage(
        (await requests.ask({ method: 'GET', key: null, query }, [200])).body.toString('utf8'),
      );
      yield page;
      next = page.next;
    } while (next !== null);
  }

  return {
    name: requests.name,
    get,
    put,
    async *list(listed): AsyncGenerator<ObjectEntry> {
      for await (const { entries } of pages(listed, '')) {
        for (const entry of entries) yield { ...entry, key: entry.key.slice(prefix.length) };
      }
    },
    async *folders(listed): AsyncGenerator<string> {
      const start = prefix.length + listed.length;
      for await (const { folders } of pages(listed, '/')) for (const folder of folders) yield folder.slice(start, -1);
    },
    async remove(keys) {
      for (let from = 0; from < keys.length; from += REMOVALS) {
        const some = keys.slice(from, from + REMOVALS);
        await Promise.all(some.map((key) => requests.ask({ method: 'DELETE', key }, [200, 204, 404])));
      }
    },
    close: () => requests.close(),
  };
}

function conditionHeaders(condition: PutCondition | undefined): Record<string, string> {
  if (condition === undefined) return {};
  return condition === 'new' ? { 'if-none-match': '*' } : { 'if-match': condition.etag };
}

const versionOf = (answer: Settled): ObjectVersion => ({ etag: fieldOf(answer, 'etag') ?? '' });

/** By the clock of the server alone; 0 where it does not say. */
function ageOf(answer: Settled): number {
  const at = (name: string): number => Date.parse(fieldOf(answer, name) ?? '');
  const age = at('date') - at('last-modified');
  return Number.isNaN(age) ? 0 : Math.max(0, age);
}
