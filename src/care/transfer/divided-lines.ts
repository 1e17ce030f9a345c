import { shareOfFact } from '../../cluster/partitions/merged-facts.ts';
import { HELD_KEY } from '../../cluster/partitions/open-partition.ts';
import { hostOf } from '../../core/domain/url/canonical/url-key.ts';
import type { PartitionBy } from '../../core/domain/url/hash/partition.ts';
import type { CrawlDb } from '../../core/ports/crawl-db.ts';
import type { OnWork } from '../../core/ports/work-progress.ts';
import { TURNS_KEY } from '../../core/steps/facts/host-rest.ts';
import { counted } from '../../core/steps/work-meter.ts';
import { READ_KEY } from '../../operations/loop/sitemaps.ts';
import { ImportSink } from './db-transfer.ts';
import type { DumpLine } from './dump-lines.ts';
import { LinkedElsewhere } from './import-spread.ts';

export interface DividedHalf {
  readonly records: number;
  readonly hosts: number;
}

export interface DividedInto {
  /** Two empty crawl dbs: one for the hosts that stay, one for those that leave. */
  readonly dbs: readonly [CrawlDb, CrawlDb];
  readonly by: PartitionBy;
  /** Oldest number of its change feed. */
  readonly firstChange: number;
  /** Whether a host moves to the new partition. */
  leaves(host: string): boolean;
  /** Named facts of the partition, written with the last batch. */
  readonly facts: Readonly<Record<string, string>>;
  readonly onWork?: OnWork | undefined;
}

/**
 * Divides the lines of a partition. Rows of a URL, a host or a domain go with it. Changes keep their numbers and both
 * halves continue with the next number, so that a cursor of the partition is valid for both. Both have all segments.
 * Links in transit from and to other partitions stay with the partition, whose holder forwards those that are no longer
 * its own.
 */
export async function importDivided(
  lines: AsyncIterable<DumpLine>,
  { dbs, by, firstChange, leaves, facts, onWork }: DividedInto,
): Promise<readonly [DividedHalf, DividedHalf]> {
  const placeOf = (host: string): 0 | 1 => (leaves(host) ? 1 : 0);
  const sinkOf = (db: CrawlDb): ImportSink => new ImportSink(db, 'whole', firstChange);
  const sinks = [sinkOf(dbs[0]), sinkOf(dbs[1])] as const;
  const elsewhere = new LinkedElsewhere(dbs, placeOf);
  let areRecordsWritten = false;
  for await (const line of counted(lines, onWork, 'dividing rows')) {
    if ('record' in line) await sinks[placeOf(hostOf(line.record.url))].add(line);
    else if ('links' in line) {
      // The records come before the links, and must exist to be marked.
      if (!areRecordsWritten) for (const sink of sinks) await sink.flush();
      areRecordsWritten = true;
      await sinks[placeOf(hostOf(line.links.url))].add(line);
      await elsewhere.note(line.links.url, line.links.targets);
    } else if ('host' in line) await sinks[placeOf(line.host.host)].add(line);
    else if ('change' in line) await sinks[placeOf(hostOf(line.change.url))].add(line);
    else if ('waiting' in line) await sinks[placeOf(hostOf(line.waiting.url))].add(line);
    else if ('families' in line && by === 'domain') await sinks[placeOf(line.families.domain)].add(line);
    else if ('families' in line || 'segment' in line || 'feed' in line) for (const sink of sinks) await sink.add(line);
    else if ('meta' in line) {
      const { name, value } = line.meta;
      for (const place of [0, 1] as const) {
        const share = factOf(name, value, place, placeOf);
        if (share !== null) await sinks[place].add({ meta: { name, value: share } });
      }
    } else if ('outbox' in line || 'inbox' in line || 'forwarding' in line) await sinks[0].add(line);
  }
  await elsewhere.flush();
  for (const [name, value] of Object.entries(facts)) await sinks[0].add({ meta: { name, value } });
  for (const sink of sinks) await sink.finish();
  const half = async (place: 0 | 1): Promise<DividedHalf> => {
    const { urls: records, hosts } = await dbs[place].counters();
    return { records, hosts };
  };
  return [await half(0), await half(1)];
}

/** Facts about the hosts of both: which of them rest, and whether that is known. */
const OF_BOTH: ReadonlySet<string> = new Set([TURNS_KEY, HELD_KEY]);

/** The partition keeps facts about its rounds; the new one has had none. */
function factOf(name: string, value: string, place: 0 | 1, placeOf: (host: string) => 0 | 1): string | null {
  const share = shareOfFact(name, value, place, 2, placeOf);
  return share ?? (OF_BOTH.has(name) || (place === 0 && !name.startsWith(READ_KEY)) ? value : null);
}
