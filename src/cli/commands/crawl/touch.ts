import type { Command } from 'commander';
import type { Crawler, TouchQuery } from '../../../crawler/index.ts';
import type { TouchSummary } from '../../../crawler/views.ts';
import { hostName, moment } from '../../../query/input/option-values.ts';
import { EXIT } from '../../../render/exit.ts';
import { count } from '../../../render/quantities.ts';
import { touchText, untouchedLines } from '../../../render/text/steering-text.ts';
import { linesOf, listedUrls } from '../../input/seed-sources.ts';
import { DRY_RUN, withCrawlerOrCopy } from '../../program/dry-run.ts';
import { noMatchText } from '../../program/meant-hosts.ts';
import type { Run } from '../../program/program.ts';
import { noteSent, writeSummary } from '../../program/write-answer.ts';
import type { Session } from '../../session.ts';

interface TouchFlags {
  readonly all?: true;
  readonly host?: string;
  readonly where?: string;
  readonly at?: number;
  readonly stdin?: true;
  readonly add?: true;
  readonly dryRun?: true;
}

export function addTouch(program: Command, run: Run): void {
  const command = program
    .command('touch')
    .argument('[url...]', 'known URLs; - or --stdin reads them from stdin')
    .description(
      'Make known URLs due now, such as after a change notice. They rank before all others, in up to half of a round; ' +
        'those of --all keep their rank.',
    )
    .option('--all', 'all pages that are still visited')
    .option('--host <host>', 'those of this host (host or host:port)', hostName)
    .option('--where <expr>', 'those that match, gone and orphaned ones too: "incrawl help query"')
    .option('--at <when>', 'due at this time instead: such as 2026-03-01T08:00Z', moment)
    .option('--stdin', 'read URLs from stdin: one per line, or CSV with a column "url" in its header')
    .option('--add', 'inject unknown URLs')
    .option('--dry-run', DRY_RUN)
    .addHelpText(
      'after',
      `
Examples:
  incrawl due touch https://example.org/news
  incrawl due touch --all
  incrawl due touch --where "contentType = 'application/pdf' and lastFetchAt < now-30d"
  incrawl readdb --where "failures > 0" --format csv | incrawl due touch --stdin
  changed-urls | incrawl due touch --stdin --add

"incrawl crawl --all" makes all pages due and visits them.`,
    );
  command.action((words: readonly string[], flags: TouchFlags) =>
    run(command, async (session) => {
      const query = queryOf(flags);
      const reads = flags.stdin === true || words.includes('-');
      if (query === null) {
        if (words.length === 0 && !reads) return session.refuse('expected URLs, --stdin, --all, --host or --where');
        return touchUrls(session, flags, await namedUrls(session, words, reads));
      }
      if (words.length > 0 || reads) return session.refuse('expected either URLs, or --all, --host or --where');
      if (flags.add) return session.refuse('--add goes with URLs: --all, --host and --where choose known ones');
      return touchMatching(session, flags, query);
    }),
  );
}

/** `null`: URLs are named. */
function queryOf({ all, host, where }: TouchFlags): TouchQuery | null {
  if (host === undefined && where === undefined) return all ? {} : null;
  return { ...(host !== undefined && { host }), ...(where !== undefined && { where }) };
}

/** @param reads whether stdin is read as well */
export async function namedUrls(session: Session, words: readonly string[], reads: boolean): Promise<string[]> {
  const urls = words.filter((word) => word !== '-');
  if (!reads) return urls;
  for await (const url of listedUrls(linesOf(session.surroundings.stdin()))) urls.push(url);
  return urls;
}

const timeOf = ({ at }: TouchFlags): { at?: number } => (at === undefined ? {} : { at });

async function touchMatching(session: Session, flags: TouchFlags, query: TouchQuery): Promise<number> {
  const dryRun = flags.dryRun === true;
  const touch = (crawler: Crawler) => crawler.touchMatching(query, timeOf(flags));
  const summary = await withCrawlerOrCopy(session, dryRun, touch);
  const isNone = summary.touched + summary.unmoved === 0;
  const text = isNone ? await noMatchText(session, query.host) : touchedText(summary);
  await writeSummary(session, summary, () => `${text}\n`, dryRun);
  noteSent(session, summary);
  return isNone ? EXIT.error : EXIT.done;
}

export const touchedText = ({ touched, unmoved }: Pick<TouchSummary, 'touched' | 'unmoved'>): string =>
  `${count(touched)} made due, ${count(unmoved)} due already or in a segment.`;

async function touchUrls(session: Session, flags: TouchFlags, urls: readonly string[]): Promise<number> {
  const dryRun = flags.dryRun === true;
  const touch = async (crawler: Crawler) => {
    const touched = await crawler.touch(urls, timeOf(flags));
    const isAdded = flags.add === true && touched.unknown.length > 0;
    const injected = isAdded ? await crawler.inject([{ name: 'touch', lines: touched.unknown }]) : null;
    return { summary: touched, added: injected?.injected ?? 0 };
  };
  const mustExist = flags.add !== true;
  const { summary, added } = await withCrawlerOrCopy(session, dryRun, touch, { mustExist });
  const answer = { ...summary, added };
  const { touched, unmoved } = summary;
  const rest = flags.add ? `${count(added)} added` : undefined;
  await writeSummary(session, answer, () => `${touchText(summary, rest)}\n`, dryRun);
  noteSent(session, summary);
  const left = flags.add ? { ...summary, unknown: [] } : summary;
  if (!session.json) for (const line of untouchedLines(left)) session.note(line);
  return touched + unmoved + added === 0 ? EXIT.error : EXIT.done;
}
