import { DocumentReader, DocumentWriter, definePlugin } from 'incrawl/plugin';
import { z } from 'zod';
import { readDocument } from './read-document.ts';
import { ZipParts } from './zip-parts.ts';

const options = z.strictObject({
  maxText: z.int().min(1_000).max(100_000_000).default(2_000_000).describe('Most text read, characters.'),
  maxBytes: z
    .int()
    .min(1 << 20)
    .default(64 << 20)
    .describe('Largest size of the parts that are read, decompressed, bytes. A larger document is not parsed.'),
  maxRatio: z
    .int()
    .min(2)
    .default(200)
    .describe('A part above 1 MiB that becomes so many times as large when decompressed is not read.'),
  maxEntries: z.int().min(10).default(10_000).describe('Most parts of a document.'),
});

/** Memory of the process that parses documents: a multiple of their largest size, and the least. */
const [MEMORY_PER_BYTE, LEAST_MEMORY] = [4, 128 << 20] as const;

const OPEN_XML = 'application/vnd.openxmlformats-officedocument';
const OPEN_DOCUMENT = 'application/vnd.oasis.opendocument';

const TYPES = [
  ...['document', 'template'].map((kind) => `${OPEN_XML}.wordprocessingml.${kind}`),
  ...['sheet', 'template'].map((kind) => `${OPEN_XML}.spreadsheetml.${kind}`),
  ...['presentation', 'slideshow', 'template'].map((kind) => `${OPEN_XML}.presentationml.${kind}`),
  'application/vnd.ms-word.document.macroenabled.12',
  'application/vnd.ms-excel.sheet.macroenabled.12',
  'application/vnd.ms-powerpoint.presentation.macroenabled.12',
  ...['text', 'spreadsheet', 'presentation', 'graphics'].flatMap((kind) => [
    `${OPEN_DOCUMENT}.${kind}`,
    `${OPEN_DOCUMENT}.${kind}-template`,
  ]),
  'application/epub+zip',
];

export default definePlugin({
  name: 'parse-office',
  api: 1,
  options,
  setup: (host, { maxText, ...limits }) => {
    const reader = new DocumentReader(host.agent);
    return {
      types: TYPES,
      maxMemory: Math.max(LEAST_MEMORY, MEMORY_PER_BYTE * limits.maxBytes),
      content: 'office1',
      parse: async (page) => {
        const writer = new DocumentWriter({ maxText });
        const facts = await readDocument(await ZipParts.open(page.body, limits), writer);
        reader.fill(page, writer.document, facts);
        if (writer.isCut) page.result.metadata['parse-office.truncated'] = true;
      },
    };
  },
});
