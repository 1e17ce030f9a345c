import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { nodeCost, treeCost } from '../../../bench/harness/processes.ts';

const BUSY_MS = 300;
/** Busy for a time of its own CPU. */
const BUSY = `for (let used = 0; used < ${BUSY_MS * 1_000}; ) {
  for (let i = 0; i < 1e6; i++);
  const { user, system } = process.cpuUsage();
  used = user + system;
}`;
const HELD_MB = 200;

describe('what a program costs', () => {
  it('counts the CPU of the program and of its children', async () => {
    const nested = `${BUSY} require('node:child_process').spawnSync(process.execPath, ['-e', ${JSON.stringify(BUSY)}])`;
    const { cpuMs, exitCode } = await treeCost([process.execPath, '-e', nested], { cwd: tmpdir() });
    expect(exitCode).toBe(0);
    // Times of a shell are in ticks of 10 ms.
    expect(cpuMs).toBeGreaterThanOrEqual(2 * BUSY_MS - 20);
  });

  it.runIf(process.platform === 'linux')('adds the peaks of processes that run at once', async () => {
    const hold = `const held = Buffer.alloc(${HELD_MB << 20}, 1); setTimeout(() => held.length, 1000);`;
    const nested = `require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(hold)}]); ${hold}`;
    const { peakMb } = await treeCost([process.execPath, '-e', nested], { cwd: tmpdir() });
    expect(peakMb).toBeGreaterThan(2 * HELD_MB);
  });

  it('hands on the exit code and the end of stderr', async () => {
    const script = 'console.error("no such page"); process.exit(3)';
    const { exitCode, stderr } = await treeCost([process.execPath, '-e', script]);
    expect(exitCode).toBe(3);
    expect(stderr).toContain('no such page');
  });

  it('of Node alone is exact, worker threads included, and a fault is thrown with its reason', async () => {
    const threaded = `new (require('node:worker_threads').Worker)(${JSON.stringify(BUSY)}, { eval: true });`;
    const { cpuMs, peakMb, stdout } = await nodeCost(['-e', `${threaded} console.log('done')`]);
    expect(cpuMs).toBeGreaterThanOrEqual(BUSY_MS);
    expect(peakMb).toBeGreaterThan(20);
    expect(stdout).toBe('done\n');
    await expect(nodeCost(['-e', 'console.error("no such page"); process.exit(3)'])).rejects.toThrow(
      /ended with 3: no such page/,
    );
  });
});
