import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Command, Option } from 'commander';
import type { CrawlState } from '../../crawler.ts';
import type { Run } from '../program.ts';
import { crawlStates } from '../shared-options.ts';

interface ExportFlags {
  readonly format: string;
  readonly output?: string;
  readonly status?: CrawlState[];
  readonly host?: string;
  readonly mergeBy?: 'depth';
}

export function addExport(program: Command, run: Run): void {
  const command = program
    .command('export')
    .description('What was crawled, for other tools. Formats come from exporter plugins.')
    .option('--format <format>', 'name of an exporter', 'jsonl')
    .option('-o, --output <file>', 'write to a file, which appears when it is whole; default: stdout')
    .option('--status <states>', 'only pages in these states, separated by commas', crawlStates)
    .option('--host <host>', 'only pages of this host')
    .addOption(
      new Option('--merge-by <order>', 'layer by layer: seeds first, then the pages they link to').choices(['depth']),
    )
    .addHelpText('after', '\nExample:\n  incrawl export --format jsonl --status fetched,notmodified -o pages.jsonl');
  command.action(({ format, output, status, host, mergeBy }: ExportFlags) =>
    run(command, async (session) => {
      const query = { format, ...(status && { status }), ...(host && { host }), ...(mergeBy && { mergeBy }) };
      await session.withCrawler(async (crawler) => {
        const chunks = crawler.export(query);
        if (output !== undefined) {
          const bytes = await writeWhole(output, chunks);
          if (session.json) await session.out.write(`${JSON.stringify({ format, file: output, bytes })}\n`);
          return;
        }
        for await (const chunk of chunks) {
          await session.out.write(chunk);
          if (session.out.closed) break;
        }
      });
    }),
  );
}

/** Under another name first: whoever waits for the file never sees half of it. Resolves with its size in bytes. */
async function writeWhole(file: string, chunks: AsyncIterable<string>): Promise<number> {
  const partial = `${file}.partial`;
  try {
    const target = createWriteStream(partial);
    await pipeline(Readable.from(chunks), target);
    await rename(partial, file);
    return target.bytesWritten;
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}
