import { Parser } from 'htmlparser2';
import type {
  FilePart,
  ObjectContent,
  ObjectEntry,
  ObjectReading,
  ObjectStore,
  ObjectVersion,
  PutCondition,
  StoredObject,
} from '../../core/ports/objects/object-store.ts';
import {
  codeOf,
  elementOf,
  fieldOf,
  refusedError,
  type S3Deps,
  type S3Options,
  S3Requests,
  type Settled,
  sha256Of,
} from './s3-requests.ts';

/** Services accept at most 10,000 parts of one object. */
const MOST_PARTS = 10_000;

/**
 * Writes an object in parts, because services accept at most 5 GiB in one request. The object appears as a whole, with
 * the last request; if that fails, the parts are removed.
 */
async function putInParts(
  requests: S3Requests,
  key: string,
  { file, start, end }: FilePart,
  partBytes: number,
): Promise<ObjectVersion> {
  const begun = await requests.ask({ method: 'POST', key, query: { uploads: '' } }, [200]);
  const uploadId = elementOf(begun, 'UploadId');
  const size = Math.max(partBytes, Math.ceil((end - start) / MOST_PARTS));
  try {
    const parts: string[] = [];
    for (let at = start, number = 1; at < end; at += size, number++) {
      const content = [{ file, start: at, end: Math.min(end, at + size) }];
      const query = { partNumber: String(number), uploadId };
      const answer = await requests.ask({ method: 'PUT', key, query, content }, [200]);
      parts.push(`<Part><PartNumber>${number}</PartNumber><ETag>${fieldOf(answer, 'etag')}</ETag></Part>`);
    }
    const body = `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`;
    const asked = { method: 'POST', key, query: { uploadId }, content: Buffer.from(body) } as const;
    const answer = await requests.ask(asked, [200]);
    // Only this request may fail after its status was sent.
    if (codeOf(answer) !== '') throw refusedError(`POST ${requests.name}/${key}`, answer);
    return { etag: elementOf(answer, 'ETag') };
  } catch (error) {
    await requests.ask({ method: 'DELETE', key, query: { uploadId } }, [204, 404]).catch(() => {});
    throw error;
  }
}

interface ListedPage {
  /** With their whole keys. */
  readonly entries: readonly ObjectEntry[];
  readonly folders: readonly string[];
  /** `null`: this is the last page. */
  readonly next: string | null;
}

/** The answer to ListObjectsV2. */
function listedPage(xml: string): ListedPage {
  const entries: ObjectEntry[] = [];
  const folders: string[] = [];
  let next: string | null = null;
  let isTruncated = false;
  let path: string[] = [];
  let text = '';
  let entry = { key: '', etag: '', bytes: 0 };
  const parser = new Parser(
    {
      onopentag(name) {
        path.push(name);
        text = '';
        if (name === 'Contents') entry = { key: '', etag: '', bytes: 0 };
      },
      ontext(chunk) {
        text += chunk;
      },
      onclosetag(name) {
        const within = path.at(-2);
        path = path.slice(0, -1);
        if (within === 'Contents') {
          if (name === 'Key') entry.key = text;
          else if (name === 'ETag') entry.etag = text;
          else if (name === 'Size') entry.bytes = Number(text);
        } else if (within === 'CommonPrefixes' && name === 'Prefix') folders.push(text);
        else if (name === 'NextContinuationToken') next = text;
        else if (name === 'IsTruncated') isTruncated = text === 'true';
        else if (name === 'Contents') entries.push(entry);
      },
    },
    { xmlMode: true, decodeEntities: true },
  );
  parser.end(xml);
  return { entries, folders, next: isTruncated ? next : null };
}

/** A file of at least this size is written in parts, unless the write is conditional. */
const PART_BYTES = 256 << 20;
/** Concurrent requests of one `remove`. */
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
    // An earlier attempt whose answer was lost may have been carried out.
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

/** By the clock of the server; 0 if it does not give the time. */
function ageOf(answer: Settled): number {
  const at = (name: string): number => Date.parse(fieldOf(answer, name) ?? '');
  const age = at('date') - at('last-modified');
  return Number.isNaN(age) ? 0 : Math.max(0, age);
}
