import { DocumentReader, definePlugin } from 'incrawl/plugin';
import { z } from 'zod';
import { MemoryGuard } from './memory-guard.ts';
import { findPdfjs } from './pdfjs.ts';
import { isCutOff, readPdf } from './read-pdf.ts';

const MIB = 1 << 20;
/** What the process that parses PDFs takes before it opens one. */
const PROCESS_BYTES = 64 * MIB;

const options = z.strictObject({
  maxPages: z.int().min(1).max(100_000).default(1_000).describe('Most pages read; the rest is left out.'),
  maxText: z.int().min(1_000).max(100_000_000).default(2_000_000).describe('Most text read, characters.'),
  maxMemory: z
    .int()
    .min(128 * MIB)
    .default(256 * MIB)
    .describe('Most memory of the process that parses PDFs, bytes. A PDF that needs more is not parsed.'),
});

export default definePlugin({
  name: 'parse-pdf',
  api: 1,
  options,
  setup: (host, { maxPages, maxText, maxMemory }) => {
    const reading = { pdfjs: findPdfjs(), guard: new MemoryGuard(maxMemory - PROCESS_BYTES), maxPages, maxText };
    const reader = new DocumentReader(host.agent);
    return {
      types: ['application/pdf', 'application/x-pdf'],
      maxMemory,
      content: 'pdf1',
      parse: async (page) => {
        const { writer, facts, pages, pagesRead } = await readPdf(page.body, page.url, reading);
        reader.fill(page, writer.document, facts);
        const { metadata } = page.result;
        metadata['parse-pdf.pages'] = pages;
        if (pagesRead < pages || writer.isCut) metadata['parse-pdf.truncated'] = true;
        if (isCutOff(page.body)) metadata['parse-pdf.cutOff'] = true;
      },
    };
  },
});
