import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type HookReceiver, startHookReceiver } from '../../../site/hook-receiver.ts';
import { prepare } from '../../../support/program.ts';
import { workDir } from '../../../support/work-dir.ts';
import { NO_POSTGRES, startPostgres } from '../../cluster/postgres/postgres-server.ts';
import { json, start } from '../../support/binary.ts';
import { NETWORK, spreadAt, spreadPlace } from './spread-place.ts';

const SKIPPED = NO_POSTGRES === null ? '' : ` (skipped: ${NO_POSTGRES})`;

interface Change {
  readonly partition: string;
  readonly seq: number;
  readonly url: string;
}
const nameOf = ({ partition, seq, url }: Change): string => `${partition}:${seq} ${url}`;

describe.skipIf(NO_POSTGRES !== null)(`a webhook of a spread crawl${SKIPPED}`, () => {
  const place = spreadPlace(() => startPostgres());
  let receiver: HookReceiver;
  beforeAll(async () => {
    receiver = await startHookReceiver();
  });
  afterAll(() => receiver?.close());

  it('is sent each change of all partitions once, though workers die, and it does too', async () => {
    const where = spreadAt(join(workDir(), 'shared'), place.url, 'hooked');
    await prepare(['inject', place.seeds(), ...where]);
    const hook = ['changes', '--webhook', receiver.url, '--batch', '5', '--json', ...where];
    const before = place.hosts.asked.length;
    const victim = start(['work', ...where, ...NETWORK]);
    const following = start([...hook, '--follow']);
    await place.hosts.seen(before + 20);
    victim.child.kill('SIGKILL');
    const worker = start(['work', ...where, ...NETWORK]);
    // It dies over a message, which may have arrived.
    receiver.script.push('hang');
    await receiver.seen(receiver.received.length + 1);
    following.child.kill('SIGKILL');
    await following.finished;
    expect((await worker.finished).code).toBe(0);
    await json(hook);
    expect(await json(hook)).toMatchObject({ delivered: 0, missed: 0, failed: null });

    const messages = receiver.received.map(({ headers, body }) => {
      const { changes } = (JSON.parse(body) as { data: { changes: Change[] } }).data;
      return { id: headers['webhook-id'], changes: changes.map(nameOf) };
    });
    const once = new Map(messages.map(({ id, changes }) => [id, changes]));
    for (const { id, changes } of messages) expect(changes).toEqual(once.get(id));
    expect(messages.length - once.size).toBeLessThanOrEqual(1);
    const { stdout } = await prepare(['changes', '--since', '1h', '--format', 'jsonl', ...where]);
    const all = stdout.split('\n').flatMap((line) => (line === '' ? [] : [nameOf(JSON.parse(line) as Change)]));
    expect(new Set(all.map((name) => name.slice(0, 3))).size).toBeGreaterThan(1);
    expect([...once.values()].flat().sort()).toEqual(all.sort());
  }, 120_000);
});
