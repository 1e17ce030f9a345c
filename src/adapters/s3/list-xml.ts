import { Parser } from 'htmlparser2';
import type { ObjectEntry } from '../../ports/objects/object-store.ts';

export interface ListedPage {
  /** With their whole keys. */
  readonly entries: readonly ObjectEntry[];
  readonly folders: readonly string[];
  /** `null`: this page is the last one. */
  readonly next: string | null;
}

/** The answer to ListObjectsV2. */
export function listedPage(xml: string): ListedPage {
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
