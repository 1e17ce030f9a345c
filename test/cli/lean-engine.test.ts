import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { run } from './binary.ts';

it('sets no flag that this V8 does not know: it would say so with every command', async () => {
  expect(await run(['--version'])).toMatchObject({ code: 0, stderr: '' });
});

it('keeps the young generation of the main thread small with any Node, and gives workers theirs at once', () => {
  const engine = new URL('../../dist/src/cli/lean-engine.js', import.meta.url).href;
  // Each round leaves as much alive as makes V8 want a larger young generation, and a turn for those who watch.
  const script = `
    import { getHeapSpaceStatistics } from 'node:v8';
    import { isMainThread, parentPort, Worker } from 'node:worker_threads';
    import { keepEngineLean } from '${engine}';
    const young = () => getHeapSpaceStatistics().find((space) => space.space_name === 'new_space');
    async function churned() {
      let most = 0;
      const kept = [];
      for (let round = 0; round < 400; round++) {
        for (let i = 0; i < 20_000; i++) kept[i % 10_000] = { round, i, text: [i, round] };
        await new Promise((resolve) => setImmediate(resolve));
        most = Math.max(most, young().space_size);
      }
      return most;
    }
    if (isMainThread) {
      keepEngineLean();
      const main = await churned();
      const url = new URL('data:text/javascript,' + encodeURIComponent(process.env.SCRIPT));
      const worker = new Worker(url, { resourceLimits: { maxYoungGenerationSizeMb: 16 } });
      worker.once('message', (half) => console.log(JSON.stringify({ main: main / 2 ** 20, half: half / 2 ** 20 })));
    } else parentPort.postMessage(young().space_used_size + young().space_available_size);
  `;
  const child = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
    encoding: 'utf8',
    env: { ...process.env, SCRIPT: script },
  });
  expect(child.stderr).toBe('');
  const { main, half } = JSON.parse(child.stdout) as { main: number; half: number };
  expect(main).toBeGreaterThanOrEqual(8);
  expect(main).toBeLessThanOrEqual(40);
  expect(half).toBeCloseTo(8, 0);
});
