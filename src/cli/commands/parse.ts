import type { Command } from 'commander';
import { EXIT } from '../exit.ts';
import type { Run } from '../program.ts';
import { count } from '../render/quantities.ts';
import { listenForStop } from '../stop-signal.ts';

export function addParse(program: Command, run: Run): void {
  const command = program
    .command('parse')
    .argument('[segment]', 'default: the newest one that is fetched and not parsed yet')
    .description('Parse the pages of a segment: text, title, links, signature. Needs no crawl db.')
    .option('--force', 'throw earlier parse output away and parse anew, after plugins have changed')
    .addHelpText('after', '\nExample:\n  incrawl parse --force');
  command.action((segment: string | undefined, options: { readonly force?: true }) =>
    run(command, async (session) => {
      const stop = listenForStop(() => session.note('Finishing the pages at hand; once more stops at once.'));
      try {
        const summary = await session.withCrawler(
          (crawler) =>
            crawler.parse({
              ...(segment === undefined ? {} : { segment }),
              force: options.force === true,
              signal: stop.signal,
            }),
          'read',
        );
        const text = `Segment ${summary.segment}: ${count(summary.parsed)} pages parsed, ${count(summary.failed)} failed, ${count(summary.outlinks)} outlinks.`;
        await session.out.write(session.json ? `${JSON.stringify(summary)}\n` : `${text}\n`);
        return stop.signal.aborted ? EXIT.stopped : EXIT.done;
      } finally {
        stop.release();
      }
    }),
  );
}
