import { madeZip, type ZipEntry } from './made-zip.ts';

const MAIN = {
  word: ['word/document.xml', 'wordprocessingml.document'],
  slides: ['ppt/presentation.xml', 'presentationml.presentation'],
  workbook: ['xl/workbook.xml', 'spreadsheetml.sheet'],
} as const;

export const TYPES = {
  word: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  slides: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  workbook: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  text: 'application/vnd.oasis.opendocument.text',
  epub: 'application/epub+zip',
} as const;

const NAMESPACES =
  'xmlns:w="w" xmlns:r="r" xmlns:a="a" xmlns:p="p" xmlns:mc="mc" xmlns:dc="dc" xmlns:cp="cp" xmlns:dcterms="dcterms"';
const xml = (root: string, content: string): string =>
  `<?xml version="1.0" encoding="UTF-8"?><${root} ${NAMESPACES}>${content}</${root.split(' ')[0]}>`;

/** `[id, type, target]`; targets with a scheme are external. */
export type Reference = readonly [id: string, type: string, target: string];

function references(all: readonly Reference[]): string {
  const rows = all.map(([id, type, target]) => {
    const mode = /^(?:[a-z]+:|\.\.\/)/.test(target) ? ' TargetMode="External"' : '';
    return `<Relationship Id="${id}" Type="http://schemas.example/${type}" Target="${target}"${mode}/>`;
  });
  return xml('Relationships', rows.join(''));
}

export interface MadePart {
  readonly root: string;
  readonly content: string;
  readonly references?: readonly Reference[];
}

/** Writes a file of Office Open XML: parts by their paths, the main one by its usual path, and core properties. */
export function madeOffice(kind: keyof typeof MAIN, parts: Readonly<Record<string, MadePart>>, core = ''): Buffer {
  const [main] = MAIN[kind];
  const entries: ZipEntry[] = [
    { name: '[Content_Types].xml', data: xml('Types', '') },
    {
      name: '_rels/.rels',
      data: references([
        ['rId1', 'officeDocument', main],
        ['rId2', 'core-properties', 'docProps/core.xml'],
      ]),
    },
    { name: 'docProps/core.xml', data: xml('cp:coreProperties', core) },
  ];
  for (const [name, { root, content, references: its }] of Object.entries(parts)) {
    entries.push({ name, data: xml(root, content) });
    if (its === undefined) continue;
    const slash = name.lastIndexOf('/');
    entries.push({ name: `${name.slice(0, slash)}/_rels/${name.slice(slash + 1)}.rels`, data: references(its) });
  }
  return madeZip(entries);
}

/** A text document of Word with a paragraph for each line. */
export const madeWord = (paragraphs: readonly string[], core = ''): Buffer =>
  madeOffice(
    'word',
    {
      'word/document.xml': {
        root: 'w:document',
        content: `<w:body>${paragraphs.map((text) => `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`).join('')}</w:body>`,
      },
    },
    core,
  );

/** Writes an OpenDocument file. */
export function madeOpenDocument(body: string, meta = '', more: readonly ZipEntry[] = []): Buffer {
  const names =
    'xmlns:office="o" xmlns:text="t" xmlns:table="ta" xmlns:draw="d" xmlns:xlink="x" xmlns:presentation="p"';
  return madeZip([
    { name: 'mimetype', data: TYPES.text, isStored: true },
    {
      name: 'content.xml',
      data: `<office:document-content ${names}><office:body>${body}</office:body></office:document-content>`,
    },
    { name: 'meta.xml', data: xml('office:document-meta', `<office:meta>${meta}</office:meta>`) },
    ...more,
  ]);
}

/** Writes an EPUB with a chapter for each text. */
export function madeEpub(chapters: readonly string[], metadata = '', more: readonly ZipEntry[] = []): Buffer {
  const items = chapters.map(
    (_, i) => `<item id="c${i}" href="text/c%20${i}.xhtml" media-type="application/xhtml+xml"/>`,
  );
  const refs = chapters.map((_, i) => `<itemref idref="c${i}"/>`);
  return madeZip([
    { name: 'mimetype', data: TYPES.epub, isStored: true },
    {
      name: 'META-INF/container.xml',
      data: '<container><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>',
    },
    {
      name: 'OPS/book.opf',
      data: xml(
        'package',
        `<metadata>${metadata}</metadata><manifest>${items.join('')}</manifest><spine>${refs.join('')}</spine>`,
      ),
    },
    ...chapters.map((text, i) => ({
      name: `OPS/text/c ${i}.xhtml`,
      data: `<html xmlns="http://www.w3.org/1999/xhtml"><head><title/></head><body>${text}</body></html>`,
    })),
    ...more,
  ]);
}
