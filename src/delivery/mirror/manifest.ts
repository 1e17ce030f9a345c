import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { packageVersion } from '../../core/config/package-version.ts';
import { CrawlError } from '../../core/domain/errors.ts';
import { replaceFile } from '../../store/files/durable-file.ts';
import type { MirrorKind } from './mirror-entries.ts';

/** A file of a mirror, as its manifest has it. */
export interface MirrorFile {
  readonly url: string;
  readonly file: string;
  readonly kind: MirrorKind;
  readonly contentType: string;
  /** ISO 8601; `null`: not known. */
  readonly fetchedAt: string | null;
  /** What the server sent: as `digest` of the crawl db, or the target of a redirect. */
  readonly digest: string;
  /** Of the file, whose addresses are relative ones: 64 hex digits. */
  readonly sha256: string;
  /** It is no longer on the web, and was kept. */
  readonly gone?: true;
}

export interface Manifest {
  readonly format: 1;
  readonly software: string;
  /** The crawl whose mirror it is. */
  readonly crawl: string;
  /** When the mirror was made, and the time that it shows, ISO 8601. */
  readonly madeAt: string;
  readonly shows: string;
  readonly files: readonly MirrorFile[];
}

const MANIFEST = 'manifest.json';
const LINKS = '.incrawl-links.json';

/** What a run leaves that was killed, or found the disk full, before the first manifest was there. */
const BEGUN: ReadonlySet<string> = new Set([`${MANIFEST}.new`, LINKS, `${LINKS}.new`]);

const schema: z.ZodType<Manifest> = z.object({
  format: z.literal(1),
  software: z.string(),
  crawl: z.string(),
  madeAt: z.string(),
  shows: z.string(),
  files: z.array(
    z.object({
      url: z.string(),
      file: z.string().refine((file) => !file.split('/').some((name) => name === '..' || name === '')),
      kind: z.enum(['page', 'requisite', 'redirect']),
      contentType: z.string(),
      fetchedAt: z.string().nullable(),
      digest: z.string(),
      sha256: z.string(),
      gone: z.literal(true).optional(),
    }),
  ),
}) as unknown as z.ZodType<Manifest>;

/**
 * The manifest of a folder; a new one is made in a folder that is empty or not there. Throws `usage-invalid` for a
 * folder that holds other things, or the mirror of another crawl.
 */
export function openManifest(folder: string, crawl: string): Manifest {
  const file = join(folder, MANIFEST);
  if (!existsSync(file)) {
    mkdirSync(folder, { recursive: true });
    if (readdirSync(folder).some((name) => !BEGUN.has(name)))
      throw new CrawlError(
        'usage-invalid',
        `${folder} holds other files: expected a mirror, or an empty or new folder`,
      );
    const begun = newManifest(crawl, 0, 0, []);
    writeManifest(folder, begun, new Map());
    return begun;
  }
  const manifest = read(file);
  if (manifest === null)
    throw new CrawlError(
      'usage-invalid',
      `${file} is not the manifest of a mirror: expected a mirror, or a new folder`,
    );
  if (manifest.crawl === crawl) return manifest;
  const what = `${folder} is the mirror of another crawl`;
  throw new CrawlError('usage-invalid', `${what}: choose another folder, or name its state directory (--dir)`);
}

function read(file: string): Manifest | null {
  try {
    return schema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return null;
  }
}

export const newManifest = (crawl: string, now: number, at: number, files: readonly MirrorFile[]): Manifest => ({
  format: 1,
  software: `incrawl/${packageVersion()}`,
  crawl,
  madeAt: new Date(now).toISOString(),
  shows: new Date(at).toISOString(),
  files,
});

/** Hashes of the addresses in each file: it is written again when one of them joins or leaves the mirror. */
export type LinkHashes = Map<string, Uint32Array>;

/** Those that were kept; files without them count as unknown. */
export function readLinks(folder: string): LinkHashes {
  try {
    const stored = JSON.parse(readFileSync(join(folder, LINKS), 'utf8')) as Record<string, string>;
    return new Map(
      Object.entries(stored).map(([file, text]) => {
        const bytes = Buffer.from(text, 'base64');
        return [file, new Uint32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length))];
      }),
    );
  } catch {
    return new Map();
  }
}

/** Atomically; a line for each file. Links come first: what they say holds for older files, too. */
export function writeManifest(folder: string, { files, ...head }: Manifest, links: LinkHashes): void {
  const encoded = [...links].map(([file, hashes]) => [file, Buffer.from(hashes.buffer).toString('base64')]);
  replaceFile(join(folder, LINKS), JSON.stringify(Object.fromEntries(encoded)));
  const lines = files.map((file) => `    ${JSON.stringify(file)}`).join(',\n');
  const start = JSON.stringify(head, null, 2).slice(0, -2);
  replaceFile(join(folder, MANIFEST), `${start},\n  "files": [\n${lines}\n  ]\n}\n`);
}
