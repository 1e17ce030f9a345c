import type { Command } from 'commander';
import { Option } from 'commander';
import { EXIT } from '../../exit.ts';
import type { Run } from '../../program/program.ts';
import { writeList } from '../../program/write-answer.ts';
import type { ListFormat } from '../../render/listing.ts';
import { ANY_LENGTH, type Column } from '../../render/table.ts';

interface ClusterView {
  readonly domain: string;
  readonly family: number;
  readonly size: number;
  readonly noise: boolean;
  readonly similarityToNoise: number;
  readonly first: string;
}

const COLUMNS: readonly Column<ClusterView>[] = [
  { title: 'domain', max: ANY_LENGTH, cell: ({ domain }) => domain },
  { title: 'URLs', cell: ({ size }) => String(size), align: 'right' },
  { title: 'noise', cell: ({ noise }) => (noise ? 'yes' : '') },
  { title: 'similarity', rank: 1, cell: ({ similarityToNoise }) => similarityToNoise.toFixed(2), align: 'right' },
  { title: 'first URL', max: ANY_LENGTH, cell: ({ first }) => first },
];

export function addLinkclusters(program: Command, run: Run): void {
  const command = program
    .command('linkclusters')
    .description(
      'Clusters of the URLs that crawled pages link to, by domain and longest common subsequence. Clusters like the ' +
        'links that parsefilter-noise-links marked are noise.',
    )
    .addOption(
      new Option('--format <format>', '--json prints one JSON array').choices(['table', 'jsonl', 'csv', 'tsv']),
    )
    .addHelpText('after', '\nExamples:\n  incrawl linkclusters\n  incrawl linkclusters --format tsv > families.tsv');
  command.action((flags: { readonly format?: Exclude<ListFormat, 'json'> | 'tsv' }) =>
    run(command, (session) =>
      session.withSegments(async (crawler) => {
        const { format } = flags;
        if (format === 'tsv') {
          for await (const line of crawler.linkClusters()) await session.out.write(`${line}\n`);
          return EXIT.done;
        }
        await writeList(session, clusterViews(crawler.linkClusters()), COLUMNS, { format, empty: 'No links yet.' });
        return EXIT.done;
      }),
    ),
  );
}

async function* clusterViews(lines: AsyncIterable<string>): AsyncGenerator<ClusterView> {
  for await (const line of lines) {
    const [domain = '', family = '', size = '', verdict, similarity, first] = line.split('\t');
    if (first === undefined) continue;
    yield {
      domain,
      family: Number(family),
      size: Number(size),
      noise: verdict === 'noise',
      similarityToNoise: Number(similarity),
      first,
    };
  }
}
