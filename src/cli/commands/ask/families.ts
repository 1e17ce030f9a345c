import { type Command, Option } from 'commander';
import type { Crawler } from '../../../crawler/index.ts';
import type { AppliedFamilies, DomainFamilies, UndoneFamilies } from '../../../crawler/views.ts';
import { isSpread } from '../../../operations/state/cluster-mark.ts';
import { EXIT } from '../../../render/exit.ts';
import type { ListFormat } from '../../../render/listing.ts';
import { counted } from '../../../render/quantities.ts';
import { ANY_LENGTH, type Column } from '../../../render/table.ts';
import { batchFiles } from '../../input/seed-sources.ts';
import { DRY_RUN, withCrawlerOrCopy } from '../../program/dry-run.ts';
import type { Run } from '../../program/program.ts';
import { writeList, writeSummary } from '../../program/write-answer.ts';
import type { Session } from '../../session.ts';

interface ClusterView {
  readonly domain: string;
  readonly family: number;
  readonly size: number;
  readonly noise: boolean;
  readonly similarityToNoise: number;
  readonly first: string;
  /** Template of URLs that are noise judged by their visited pages; absent: a cluster. */
  readonly template?: string;
  readonly visits?: number;
}

type Judged = Pick<ClusterView, 'similarityToNoise' | 'first' | 'template' | 'visits'>;

const SIMILARITY: Column<Judged> = {
  title: 'similarity',
  rank: 1,
  cell: ({ similarityToNoise, visits }) => (visits === undefined ? similarityToNoise.toFixed(2) : ''),
  align: 'right',
};
/** Visited pages that brought nothing. */
const EMPTY: Column<Judged> = {
  title: 'empty visits',
  rank: 2,
  cell: ({ similarityToNoise, visits }) =>
    visits === undefined ? '' : `${Math.round(similarityToNoise * visits)} of ${visits}`,
  align: 'right',
};

const COLUMNS: readonly Column<ClusterView>[] = [
  { title: 'domain', max: ANY_LENGTH, cell: ({ domain }) => domain },
  { title: 'URLs', cell: ({ size }) => String(size), align: 'right' },
  { title: 'noise', cell: ({ noise }) => (noise ? 'yes' : '') },
  SIMILARITY,
  EMPTY,
  { title: 'first URL, or template', max: ANY_LENGTH, cell: ({ first, template }) => template ?? first },
];

export function addFamilies(program: Command, run: Run): void {
  const command = program
    .command('families')
    .description(
      'Clusters of the URLs that crawled pages link to, by domain and longest common subsequence. Clusters like the ' +
        'links that parsefilter-noise-links marked are noise, and so are URLs of one template whose visited pages brought ' +
        'nothing. --apply keeps them: links found later that are like them are treated as linkclusters.noise says.',
    )
    .option(
      '--apply [files...]',
      'keep the noise clusters, in place of those before: of the crawl, or of all these files, output of "incrawl mr ' +
        'reduce linkclusters", gzip or not, folders of such files, or - for stdin',
    )
    .option(
      '--undo [domain]',
      'withdraw the clusters of a domain, or all, and restore the scores of the URLs that they lowered',
    )
    .option('--applied', 'list the noise clusters that are kept')
    .option('--dry-run', DRY_RUN)
    .addOption(
      new Option('--format <format>', '--json prints one JSON array').choices(['table', 'jsonl', 'csv', 'tsv']),
    )
    .addHelpText(
      'after',
      `
Examples:
  incrawl duplicates families
  incrawl duplicates families --apply --dry-run
  incrawl duplicates families --format tsv > families.tsv
  incrawl duplicates families --apply families/
  incrawl duplicates families --undo example.org`,
    );
  command.action((flags: FamiliesFlags) =>
    run(command, (session) => {
      const { apply, undo, applied, dryRun = false, format } = flags;
      if ([apply, undo, applied].filter((each) => each !== undefined).length > 1) {
        return session.refuse('one of --apply, --undo and --applied was expected');
      }
      if (dryRun && apply === undefined && undo === undefined) {
        return session.refuse('--dry-run was given without --apply or --undo: a list changes nothing');
      }
      if (apply !== undefined) return applyClusters(session, apply, dryRun);
      if (undo !== undefined) return undoClusters(session, undo === true ? null : undo, dryRun);
      return applied ? listApplied(session, format) : listClusters(session, format);
    }),
  );
}

interface FamiliesFlags {
  readonly apply?: readonly string[] | true;
  readonly undo?: string | true;
  readonly applied?: true;
  readonly dryRun?: boolean;
  readonly format?: Format;
}

type Format = Exclude<ListFormat, 'json'> | 'tsv';

async function applyClusters(session: Session, words: readonly string[] | true, dryRun: boolean): Promise<number> {
  const files = words === true ? undefined : batchFiles(session, words);
  const summary = await withCrawlerOrCopy(session, dryRun, (crawler) => crawler.applyLinkClusters(files));
  await writeSummary(session, summary, () => appliedText(summary), dryRun);
  return EXIT.done;
}

function appliedText({ domains, families, urls, removed }: AppliedFamilies): string {
  const gone = removed === 0 ? '' : ` ${counted(removed, 'domain')} had some before, and none now.`;
  if (families === 0) return `No noise clusters of five URLs or more.${gone}\n`;
  const from = `${counted(urls, 'URL')} of ${counted(domains, 'domain')}`;
  return `${counted(families, 'noise cluster')} kept, made of ${from}.${gone}\n`;
}

async function undoClusters(session: Session, domain: string | null, dryRun: boolean): Promise<number> {
  const summary = await withCrawlerOrCopy(session, dryRun, (crawler) => crawler.undoLinkClusters(domain));
  await writeSummary(session, summary, () => undoneText(summary), dryRun);
  return EXIT.done;
}

const undoneText = ({ domains, families, restored }: UndoneFamilies): string =>
  `${counted(families, 'noise cluster')} of ${counted(domains, 'domain')} taken back, ${counted(restored, 'URL')} restored.\n`;

async function listClusters(session: Session, format: Format | undefined): Promise<number> {
  const list = async (crawler: Crawler): Promise<number> => {
    if (format === 'tsv') {
      for await (const line of crawler.linkClusters()) await session.out.write(`${line}\n`);
      return EXIT.done;
    }
    await writeList(session, clusterViews(crawler.linkClusters()), COLUMNS, { format, empty: 'No links yet.' });
    return EXIT.done;
  };
  return isSpread(session.options.dir) ? session.withSnapshot(list) : session.withSegments(list);
}

async function listApplied(session: Session, format: Format | undefined): Promise<number> {
  if (format === 'tsv') return session.refuse('--applied prints a table, jsonl, csv or --json');
  return session.withSnapshot(async (crawler) => {
    const rows = keptViews(crawler.linkFamilies());
    await writeList(session, rows, KEPT_COLUMNS, { format, empty: 'No noise clusters are kept.' });
    return EXIT.done;
  });
}

interface KeptView extends Judged {
  readonly domain: string;
  readonly size: number;
  readonly appliedAt: string;
}

const KEPT_COLUMNS: readonly Column<KeptView>[] = [
  { title: 'domain', max: ANY_LENGTH, cell: ({ domain }) => domain },
  { title: 'URLs', cell: ({ size }) => String(size), align: 'right' },
  SIMILARITY,
  EMPTY,
  { title: 'applied', rank: 3, cell: ({ appliedAt }) => appliedAt },
  { title: 'path of the first URL, or template', max: ANY_LENGTH, cell: ({ first, template }) => template ?? first },
];

async function* keptViews(rows: AsyncIterable<DomainFamilies>): AsyncGenerator<KeptView> {
  for await (const { domain, appliedAt, families } of rows) {
    for (const { leader: first, size, isNoise, similarityToNoise, visited } of families) {
      if (!isNoise) continue;
      yield { domain, size, similarityToNoise, appliedAt: new Date(appliedAt).toISOString(), first, ...visited };
    }
  }
}

async function* clusterViews(lines: AsyncIterable<string>): AsyncGenerator<ClusterView> {
  for await (const line of lines) {
    const [domain = '', family = '', size = '', verdict, similarity, first, template, visits] = line.split('\t');
    if (first === undefined) continue;
    yield {
      domain,
      family: Number(family),
      size: Number(size),
      noise: verdict === 'noise',
      similarityToNoise: Number(similarity),
      first,
      ...(template !== undefined && { template, visits: Number(visits) }),
    };
  }
}
