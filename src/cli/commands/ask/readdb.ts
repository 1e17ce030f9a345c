import { type Command, Option } from 'commander';
import {
  collectList,
  crawlState,
  domainName,
  durationMs,
  hostName,
  listFormatOption,
  urlPrefix,
  wholeNumber,
} from '../../../query/input/option-values.ts';
import type { Run } from '../../program/program.ts';
import { answer } from '../../readdb/answer.ts';
import { questionOf, type ReaddbFlags } from '../../readdb/flags.ts';

export function addReaddb(program: Command, run: Run): void {
  const command = program
    .command('readdb')
    .description('Query the crawl db, one question at a time; --stats is the default.')
    .option('--stats', 'URLs by state, depth, type and failures; due URLs; distribution of the intervals')
    .addOption(new Option('--by <group>', 'of --stats: URLs grouped by this').choices(['host', 'domain', 'tld']))
    .option('--full', 'of --stats and --hosts: read the whole due index for figures without a counter')
    .option('--url <url>', 'the record of one URL with its visits')
    .option('--dump', 'all records')
    .option('--top-n <n>', 'the records with the highest scores, or the highest values of --sort', wholeNumber(1))
    .option('--due', 'due URLs, in the order of the due index')
    .addOption(
      new Option('--overdue [duration]', 'URLs that have been due for this long; default: a day')
        .preset('1d')
        .argParser(durationMs),
    )
    .option('--hosts', 'hosts with their counts and what their visits showed')
    .option('--inlinks <url>', 'pages that link to this URL, with the text of their links')
    .option('--broken', 'links to URLs that are gone or fail, with the pages that have them')
    .option('--seen', 'how new URLs are recognised: cache, Bloom filter with its leaves, reads of the crawl db')
    .option('--host <host>', 'only records of this host (host or host:port)', hostName)
    .option('--domain <domain>', 'only records of this domain and the hosts below it', domainName)
    .option('--status <state>', 'only records in this state', crawlState)
    .option('--prefix <url>', 'only records whose URL begins with this', urlPrefix)
    .option('--type <type>', 'only records of this content type: application/pdf, image/, or a part such as pdf')
    .option('--retry-min <n>', 'only records with at least this many failed visits in a row', wholeNumber(1))
    .option(
      '--where <expr>',
      'only records that match, such as "depth > 3 and keywords ~ login"; of --hosts: only such hosts',
    )
    .option('--sample <n>', 'a uniform random sample of this size', wholeNumber(1))
    .option('--sort <field>', 'order by this field; FIELD:desc for descending')
    .option('--fields <names>', 'only these fields, separated by commas', collectList)
    .option('--limit <n>', 'at most this many rows', wholeNumber(1))
    .addOption(listFormatOption())
    .option('--explain-query', 'note on stderr which index was used and how many rows were read')
    .addHelpText(
      'after',
      `
Examples:
  incrawl readdb --stats --by domain --limit 20
  incrawl readdb --url https://example.org/
  incrawl readdb --host example.org --status gone --format csv > gone.csv
  incrawl readdb --domain example.org --top-n 20 --sort changesPerDay --fields url,changesPerDay,interval
  incrawl readdb --inlinks https://example.org/about
  incrawl readdb --broken --format csv > broken.csv
  incrawl readdb --hosts --where "dnsFailures > 3 or latencyP90 > 5s" --sort receivedBytes:desc
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
