import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { requireSpread, type SpreadShape } from '../../../../src/cluster/partitions/shared-partitions.ts';
import { openCrawlStore } from '../../../../src/cluster/servers/crawl-store.ts';
import { readClusterMark } from '../../../../src/operations/state/cluster-mark.ts';
import { makeStateFolder } from '../../../../src/operations/state/state-folder.ts';
import { prepare, run } from '../../../support/program.ts';
import { workDir } from '../../../support/work-dir.ts';
import { NO_POSTGRES, type PostgresServer, startPostgres } from '../postgres/postgres-server.ts';

const SKIPPED = NO_POSTGRES === null ? '' : ` (skipped: ${NO_POSTGRES})`;
const segments = 's3://bucket/crawl';

describe.skipIf(NO_POSTGRES !== null)(`a machine with a folder of its own that joins a crawl${SKIPPED}`, () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  }, 60_000);
  afterAll(() => server?.stop());

  /** A new machine; `partitions`: as its configuration has it. */
  async function machine(name: string, partitions: number): Promise<{ dir: string; shape: Promise<SpreadShape> }> {
    const store = await openCrawlStore({ store: server.url, servers: [], name, leaseMs: 2_000 });
    onTestFinished(() => store.close());
    const dir = join(workDir(), 'crawldb');
    await makeStateFolder(dir);
    const shape = requireSpread({ store, dir, name, partitions, segments });
    shape.catch(() => {});
    return { dir, shape };
  }

  it('learns the number of partitions from the crawl', async () => {
    await (await machine('joined', 4)).shape;
    const other = await machine('joined', 0);
    expect(await other.shape).toEqual({ partitions: 4, splits: [], by: 'domain' });
    expect(readClusterMark(other.dir)?.partitions).toBe(4);
  });

  it.each([1, 2, 8])('is refused where it names %i in place of 4', async (partitions) => {
    await (await machine('fixed', 4)).shape;
    const { dir, shape } = await machine('fixed', partitions);
    await expect(shape).rejects.toMatchObject({
      code: 'config-invalid',
      message: expect.stringContaining('its number of partitions is 4'),
    });
    expect(readClusterMark(dir)).toBeNull();
  });

  it('agrees with the others that begin the crawl at the same moment by other numbers', async () => {
    const all = await Promise.all([2, 8, 0, 32, 2, 8].map((partitions) => machine('at-once', partitions)));
    const ends = await Promise.allSettled(all.map(({ shape }) => shape));
    const numbers = new Set(ends.flatMap((end) => (end.status === 'fulfilled' ? [end.value.partitions] : [])));
    expect(numbers.size).toBe(1);
    const marks = all.flatMap(({ dir }) => readClusterMark(dir)?.partitions ?? []);
    expect(new Set(marks)).toEqual(numbers);
  });

  it('is told so by commands that write, rather than that rows are lost', async () => {
    const where = [
      '-D',
      `cluster.store=${server.url}`,
      '-D',
      'cluster.name=told',
      '-D',
      'agent.contact=me@example.org',
    ];
    await prepare(['inject', 'https://example.org/', '-D', 'cluster.partitions=4', '--dir', workDir(), ...where]);
    const dir = join(workDir(), 'crawldb');
    for (const command of [
      ['due', 'touch', '--all'],
      ['inject', 'https://example.org/'],
    ]) {
      const { code, stderr } = await run([...command, '--dir', dir, ...where]);
      expect([code, stderr]).toEqual([2, expect.stringContaining('has 4 partitions')]);
      expect(stderr).toContain('"incrawl work" joins it');
    }
  });
});
