/**
 * Labelled pages for main content: a folder with `pages.jsonl.gz` (file, url, type, lang, contentType, text) and
 * `html/<file>.gz`.
 */
import { readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { getDomain } from 'tldts';
import { MarkupScanner } from '../../plugins/parse-html/markup/markup-scanner.ts';
import type { PageNode } from '../../src/domain/page/page-node.ts';
import { Tape } from '../../src/domain/page/tape/tape.ts';
import { decodeBody } from '../../src/plugin-host/parsing/decode.ts';
import { domOfTape } from '../../src/plugin-host/parsing/tape-dom.ts';

export interface LabelledPage {
  /** Name of its folder. */
  readonly set: string;
  readonly file: string;
  /** What its set is divided into: languages where these are known, else types. */
  readonly part: string;
  /** Registrable domain; of a page without a URL, its file. */
  readonly site: string;
  readonly content: string;
  /** Reference text of the main content, labelled by a person. */
  readonly gold: string;
}

interface Row {
  readonly file: string;
  readonly url?: string;
  readonly type?: string;
  readonly lang?: string;
  readonly contentType?: string;
  readonly text?: string;
}

export function labelledPages(folders: readonly string[]): LabelledPage[] {
  return folders.flatMap((folder) =>
    gunzipSync(readFileSync(join(folder, 'pages.jsonl.gz')))
      .toString()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Row)
      .flatMap(({ file, url, type, lang, contentType, text }) => {
        if (text === undefined) return [];
        const body = gunzipSync(readFileSync(join(folder, 'html', `${file}.gz`)));
        const content = decodeBody(body, { contentType: contentType ?? null, kind: 'html' }).text;
        const site = getDomain(url ?? '') ?? file;
        return [{ set: basename(resolve(folder)), file, part: lang ?? type ?? '', site, content, gold: text }];
      }),
  );
}

export const PAGE_LIMITS = { maxDepth: 512, maxAttributes: 256, maxNodes: 500_000 };
const scanner = new MarkupScanner();
const tape = new Tape();

/** What parse-html reads of a page; valid until the next call. */
export function tapeOf({ content }: Pick<LabelledPage, 'content'>): Tape {
  scanner.scan(Buffer.from(content), tape, PAGE_LIMITS, false);
  return tape;
}

export const domOf = (page: Pick<LabelledPage, 'content'>): PageNode =>
  domOfTape(tapeOf(page)).document as unknown as PageNode;
