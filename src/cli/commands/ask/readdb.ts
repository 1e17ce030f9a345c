import { type Command, Option } from 'commander';
import type { Run } from '../../program/program.ts';
import {
  collectList,
  crawlState,
  domainName,
  durationMs,
  hostName,
  urlPrefix,
  wholeNumber,
} from '../../program/shared-options.ts';
import { answer } from '../../readdb/answer.ts';
import { questionOf, type ReaddbFlags } from '../../readdb/flags.ts';

export function addReaddb(program: Command, run: Run): void {
  const command = program
    .command('readdb')
    .description('Ask the crawl db. One question at a time; --stats when none is named.')
    .option('--stats', 'counts by state, depth, type and failures, what is due, spread of the intervals')
    .addOption(new Option('--by <group>', 'of --stats: URLs by this').choices(['host', 'domain', 'tld']))
    .option('--full', 'of --stats and --hosts: read the whole due index for what is not counted')
    .option('--url <url>', 'the record of one URL with its visits')
    .option('--dump', 'all records')
    .option('--top-n <n>', 'the records with the highest scores, or the highest values of --sort', wholeNumber(1))
    .option('--due', 'what is due, in the order of the due index')
    .addOption(
      new Option('--overdue [duration]', 'what has been due for so long; default: a day')
        .preset('1d')
        .argParser(durationMs),
    )
    .option('--hosts', 'hosts with their counts and what fetching taught about them')
    .option('--seen', 'how new URLs are told from known ones: cache, filter with its leaves, reads')
    .option('--host <host>', 'only records of this host (host or host:port)', hostName)
    .option('--domain <domain>', 'only records of this domain and the hosts below it', domainName)
    .option('--status <state>', 'only records in this state', crawlState)
    .option('--prefix <url>', 'only records whose URL begins so', urlPrefix)
    .option('--retry-min <n>', 'only records with at least so many failed visits in a row', wholeNumber(1))
    .option('--where <expr>', 'only records of which this is true, such as "depth > 3 and title ~ login"')
    .option('--sample <n>', 'so many of them, each with the same chance', wholeNumber(1))
    .option('--sort <field>', 'by this field; field:desc for the largest first')
    .option('--fields <names>', 'only these fields, separated by commas', collectList)
    .option('--limit <n>', 'rows at most', wholeNumber(1))
    .addOption(
      new Option('--format <format>', 'of lists; --json prints one JSON array').choices(['table', 'jsonl', 'csv']),
    )
    .option('--explain-query', 'say on stderr which index served and how many rows were read')
    .addHelpText(
      'after',
      `
Examples:
  incrawl readdb --stats --by domain --limit 20
  incrawl readdb --url https://example.org/
  incrawl readdb --host example.org --status gone --format csv > gone.csv
  incrawl readdb --domain example.org --top-n 20 --sort changesPerDay --fields url,changesPerDay,interval
  incrawl readdb --where "failures >= 3 and errorAt > now-7d" --fields url,error,failures

"incrawl help query" names the fields and operators of --where.`,
    );
  command.action((flags: ReaddbFlags) =>
    run(
      command,
      async (session) => {
        const asked = questionOf(flags);
        return 'error' in asked ? session.refuse(asked.error) : answer(session, asked);
      },
      'when-asked',
    ),
  );
}
