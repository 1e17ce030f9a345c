/**
 * Labelled pages: a folder with `pages.jsonl.gz` (a line of JSON each: file, url, type, lang, contentType, text, title,
 * authors, date; most may be missing) and `html/<file>.gz`.
 */
import { readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { getDomain } from 'tldts';
import { MarkupScanner } from '../../plugins/parse-html/markup/markup-scanner.ts';
import { decodeBody } from '../../src/core/plugin-host/parsing/decode.ts';
import { domOfTape } from '../../src/core/plugin-host/parsing/tape-dom.ts';
import type { PageNode } from '../../src/page/page-block.ts';
import { Tape } from '../../src/page/tape/tape.ts';
import { UsageError } from '../harness/measurement.ts';
import { PAGE_LIMITS } from '../harness/parser.ts';
import { dataAt } from '../harness/places.ts';

/** What a person, or the page's own data, says of it. */
export interface Labels {
  readonly file: string;
  readonly url?: string;
  readonly type?: string;
  readonly lang?: string;
  readonly contentType?: string;
  /** Reference text of the main content. */
  readonly text?: string;
  readonly title?: string;
  readonly authors?: readonly string[];
  readonly date?: string;
  /** Name of its folder. */
  readonly set: string;
  readonly body: Buffer;
}

/** @param folders of the option `--pages` */
export function labelsIn(folders: readonly string[]): Labels[] {
  if (folders.length === 0)
    throw new UsageError('--pages FOLDER is needed: labelled pages (bench/content/labelled-pages.ts)');
  return folders.flatMap((folder) =>
    gunzipSync(readFileSync(dataAt(join(folder, 'pages.jsonl.gz'), '--pages', 'a folder of labelled pages')))
      .toString()
      .trim()
      .split('\n')
      .map((line) => {
        const row = JSON.parse(line) as Labels;
        const body = gunzipSync(readFileSync(join(folder, 'html', `${row.file}.gz`)));
        return { ...row, set: basename(resolve(folder)), body };
      }),
  );
}

export interface LabelledPage {
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

/** Those of which the main content is labelled. */
export const labelledPages = (folders: readonly string[]): LabelledPage[] =>
  labelsIn(folders).flatMap(({ set, file, url, type, lang, contentType, text, body }) => {
    if (text === undefined) return [];
    const content = decodeBody(body, { contentType: contentType ?? null, kind: 'html' }).text;
    return [{ set, file, part: lang ?? type ?? '', site: getDomain(url ?? '') ?? file, content, gold: text }];
  });

const scanner = new MarkupScanner();
const tape = new Tape();

/** What parse-html reads of a page; valid until the next call. */
export function tapeOf({ content }: Pick<LabelledPage, 'content'>): Tape {
  scanner.scan(Buffer.from(content), tape, PAGE_LIMITS, false);
  return tape;
}

export const domOf = (page: Pick<LabelledPage, 'content'>): PageNode =>
  domOfTape(tapeOf(page)).document as unknown as PageNode;
