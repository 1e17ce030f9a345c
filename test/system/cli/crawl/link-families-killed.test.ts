import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { json, prepare } from '../../../support/program.ts';
import { workDir } from '../../../support/work-dir.ts';
import { start } from '../../support/binary.ts';

const KILLS = 8;

/** The shares of a whole run after which it is killed. */
const SHARES = Array.from({ length: KILLS }, (_, i) => 0.3 + (0.7 * i) / (KILLS - 1));

it('killed at any moment, applied link families are the old ones or the new ones', async () => {
  const cwd = workDir();
  await prepare(['inject', 'http://127.0.0.1:9/'], { cwd });
  const file = (name: string): string => {
    const lines = Array.from(
      { length: 3_000 },
      (_, n) => `h${n}.org\t0\t7\tnoise\t0.9000\thttps://h${n}.org/${name}/1`,
    );
    const path = join(cwd, `${name}.tsv`);
    writeFileSync(path, `${lines.join('\n')}\n`);
    return path;
  };
  const files = [file('one'), file('two')];
  const apply = (i: number) => start(['duplicates', 'families', '--apply', files[i % 2]!], { cwd });
  const startedAt = performance.now();
  expect((await apply(0).finished).code).toBe(0);
  const wholeMs = performance.now() - startedAt;
  let kills = 0;
  for (const [i, share] of SHARES.entries()) {
    const { child, finished } = apply(i + 1);
    await Promise.race([delay(share * wholeMs), finished]);
    child.kill('SIGKILL');
    if ((await finished).code === null) kills++;
    const kept = await json<readonly { readonly first: string }[]>(['duplicates', 'families', '--applied'], { cwd });
    expect(kept).toHaveLength(3_000);
    expect(new Set(kept.map(({ first }) => first.split('/')[1])).size).toBe(1);
  }
  expect(kills).toBeGreaterThan(0);
});
