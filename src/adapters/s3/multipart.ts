import type { FilePart, ObjectVersion } from '../../ports/objects/object-store.ts';
import { codeOf, elementOf, fieldOf, refusedError } from './s3-answer.ts';
import type { S3Requests } from './s3-requests.ts';

/** Services take 10,000 parts of one object at most. */
const MOST_PARTS = 10_000;

/**
 * Writes an object in parts, as services take at most 5 GiB in one request. It appears whole, with the last request;
 * the parts of one that fails are removed.
 */
export async function putInParts(
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
    // This request alone may fail after its status was sent.
    if (codeOf(answer) !== '') throw refusedError(`POST ${requests.name}/${key}`, answer);
    return { etag: elementOf(answer, 'ETag') };
  } catch (error) {
    await requests.ask({ method: 'DELETE', key, query: { uploadId } }, [204, 404]).catch(() => {});
    throw error;
  }
}
