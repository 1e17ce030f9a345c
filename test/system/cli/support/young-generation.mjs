import { getHeapSpaceStatistics } from 'node:v8';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import { keepEngineLean } from '../../../../dist/src/cli/process/lean-engine.js';

// For `lean-engine.test.ts`: prints the largest young generation of the main thread, and the half of a worker's, MiB.

const MIB = 2 ** 20;

function youngGeneration() {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
}

/**
 * Leaves as much alive in each round as makes V8 want a larger young generation, and gives those who watch it a turn.
 */
async function largestWhileChurning() {
  let largest = 0;
  const kept = [];
  for (let round = 0; round < 400; round++) {
    for (let i = 0; i < 20_000; i++) kept[i % 10_000] = { round, i, text: [i, round] };
    await new Promise((resolve) => setImmediate(resolve));
    largest = Math.max(largest, youngGeneration().space_size);
  }
  return largest;
}

if (isMainThread) {
  keepEngineLean();
  const main = await largestWhileChurning();
  const worker = new Worker(new URL(import.meta.url), { resourceLimits: { maxYoungGenerationSizeMb: 12 } });
  worker.once('message', (half) => console.log(JSON.stringify({ main: main / MIB, half: half / MIB })));
} else {
  const { space_used_size, space_available_size } = youngGeneration();
  parentPort.postMessage(space_used_size + space_available_size);
}
