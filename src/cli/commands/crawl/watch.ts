import { type Command, Option } from 'commander';
import type { Override } from '../../../core/config/override.ts';
import { addNetworkOptions, collect } from '../../../query/input/option-values.ts';
import type { Run } from '../../program/program.ts';
import { listPages, removePages, runWatch, type WatchOptions } from '../../watch/run-watch.ts';
import { everyOption } from './schedule.ts';

interface WatchFlags extends WatchOptions {
  readonly remove?: readonly string[];
  readonly list?: true;
}

const HOUR_MS = 3_600_000;
/** Longer than any watch: pages are visited when the watch makes them due. */
const NEVER = '3650d';

/** A watch visits the pages that it names and no others, and each is a page of its own. */
const PRESETS: readonly Override[] = Object.entries({
  'updatedb.additions': false,
  'updatedb.orphans': 'off',
  'sitemaps.mode': 'off',
  'dedup.mode': 'off',
  'crawl.hostWait': '1m',
  'schedule.interval': NEVER,
  'schedule.minInterval': NEVER,
  'schedule.maxInterval': NEVER,
  'schedule.retryInterval': NEVER,
  'schedule.maxRetryInterval': NEVER,
  'schedule.goneIntervals': [NEVER],
  'schedule.missingIntervals': [NEVER],
  'log.level': 'error',
}).map(([key, value]) => ({ key, value, origin: 'watch' }));

export function addWatch(program: Command, run: Run): void {
  const command = addNetworkOptions(
    program
      .command('watch')
      .argument('[url...]', 'pages to watch from now on, or files of URLs; without any, those watched so far')
      .description(
        'Watch single pages: report what changes on them, disappears or comes back, until a signal. The state ' +
          'directory keeps the pages.',
      )
      .addOption(
        new Option('--every <duration>', 'time between two looks')
          .argParser(everyOption)
          .default({ ms: HOUR_MS, text: '1h' }, '1h'),
      )
      .option('--select <css>', 'watch only what this CSS selector finds, on the URLs given; repeatable', collect)
      .option(
        '--notify <whom>',
        'who is told, beside standard output: a command for the shell, a webhook (https://..) or mailto:person@host; ' +
          'repeatable',
        collect,
      )
      .option('--any-change', 'report every change of words, also dates and adverts')
      .option('--once', 'look once and end, as under cron')
      .option('--remove <url>', 'stop watching this page, and end; repeatable', collect)
      .option('--list', 'list the watched pages, and end')
      .option('--secret-file <file>', 'key of the signatures of webhooks, as for changes'),
  ).addHelpText(
    'after',
    `
Examples:
  incrawl watch https://example.org/news https://example.org/jobs --contact me@example.org
  incrawl watch https://shop.example/lamp --select ".product .price" --every 6h
  incrawl watch --notify mailto:me@example.org --notify 'notify-send "$INCRAWL_SUMMARY" "$INCRAWL_URL"'
  incrawl watch --once --json >> changes.jsonl
  incrawl watch --remove https://example.org/jobs

A command gets the change as JSON on stdin, and INCRAWL_URL, INCRAWL_KIND, INCRAWL_TITLE, INCRAWL_SUMMARY and
INCRAWL_DIFF. "incrawl diff URL" shows a difference again. More: docs/watch-pages.md.`,
  );
  command.action((words: string[], flags: WatchFlags) => {
    const { list, remove, ...options } = flags;
    return run(
      command,
      async (session) => {
        if (list) return listPages(session);
        return remove === undefined ? runWatch(session, words, options) : removePages(session, remove);
      },
      'at-once',
      PRESETS,
    );
  });
}
