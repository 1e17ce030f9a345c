/**
 * The program by a clock that its parent moves, from `YEAR_NOW`: where the machine's clock would sleep, the parent is
 * told, and time goes on at once when it answers. Arguments are those of the command.
 */
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { keepEngineLean } from '../../../../src/cli/process/lean-engine.ts';
import { processStops } from '../../../../src/cli/process/stop-signal.ts';
import { runCommand } from '../../../../src/cli/program/run-command.ts';
import type { Clock } from '../../../../src/crawler/index.ts';
import { messageOf } from '../../../../src/render/text/error-text.ts';
import { type Sleep, STEPPED_MS, type Wake } from './stepped-clock.ts';

keepEngineLean();
const { argv, env, stdout, stderr } = process;
let base = Number(env.YEAR_NOW);
let slept = 0;
const elapsed = (): number => performance.now() + slept;

const clock: Clock = {
  now: () => Math.round(base + elapsed()),
  elapsed,
  async sleep(ms, signal) {
    if (ms < STEPPED_MS || process.send === undefined) {
      await delay(Math.max(0, ms), undefined, signal === undefined ? {} : { signal }).catch(() => {
        throw signal?.reason;
      });
      return;
    }
    process.channel?.ref();
    try {
      const woken = once(process, 'message', signal === undefined ? {} : { signal }) as Promise<[Wake]>;
      process.send({ now: clock.now(), ms } satisfies Sleep);
      const [{ setBy }] = await woken;
      slept += ms;
      base += setBy;
    } catch {
      throw signal?.reason;
    } finally {
      process.channel?.unref();
    }
  },
};
process.on('disconnect', () => process.exit(1));
process.channel?.unref();

process.exitCode = await runCommand(
  { argv: argv.slice(2), env, stdin: () => process.stdin, stdout, stderr, clock, stops: processStops },
  (error) => stderr.write(`${messageOf(error)}\n`),
);
setTimeout(() => process.exit(), 3_000).unref();
