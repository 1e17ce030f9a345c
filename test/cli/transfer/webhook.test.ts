import { createHmac } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/crawler/index.ts';
import { ofOnePart } from '../../../src/operations/deps.ts';
import { crawlReader } from '../../../src/query/questions.ts';
import { answerQuestions, questionsPath } from '../../../src/remote/questions/answer-questions.ts';
import { openLevelCrawlDb } from '../../../src/store/leveldb/open-rows.ts';
import { changeOf } from '../../contracts/crawl-db-exam.ts';
import { type HookReceiver, startHookReceiver } from '../../site/hook-receiver.ts';
import { clockByHand } from '../../support/clock-by-hand.ts';
import { json, run, start } from '../../support/program.ts';
import { workDir } from '../../support/work-dir.ts';

const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const url = (i: number): string => `https://a.example/${i}`;
const signed = { INCRAWL_WEBHOOK_SECRET: 'topsecret' };
let receiver: HookReceiver;
let cwd = '';

async function add(...numbers: number[]): Promise<void> {
  const db = await openLevelCrawlDb({ dir: join(cwd, 'crawldb', 'db'), log });
  await db.write({ feed: { add: { notedAt: Date.now(), changes: numbers.map((i) => changeOf(url(i))) } } });
  await db.close();
}

/** A clock whose pauses last until the test ends them. */
function heldClock() {
  let now = Date.now();
  let wake: (() => void) | null = null;
  let onPause = (): void => {};
  const clock: Clock = {
    now: () => now,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        wake = () => {
          now += ms;
          resolve();
        };
        signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
        onPause();
      }),
  };
  return {
    clock,
    /** Runs `meanwhile` in the pause under way, or in the next one, and ends it. */
    async inPause(meanwhile: () => unknown): Promise<void> {
      if (wake === null) {
        await new Promise<void>((resolve) => {
          onPause = resolve;
        });
      }
      const end = wake;
      wake = null;
      await meanwhile();
      end?.();
    },
  };
}

interface Body {
  readonly type: string;
  readonly data: { readonly first: number; readonly last: number; readonly changes: { seq: number; url: string }[] };
}
const reported = (from: number): string[] =>
  receiver.received.slice(from).flatMap(({ body }) => (JSON.parse(body) as Body).data.changes.map((each) => each.url));

beforeAll(async () => {
  receiver = await startHookReceiver();
  cwd = workDir();
  await add(1, 2, 3);
});
afterAll(() => receiver.close());

describe('changes --webhook', { sequential: true }, () => {
  it('delivers all, signed, goes on after a 500, and delivers only new entries the next time', async () => {
    receiver.script.push(500);
    const first = await run(['changes', '--webhook', receiver.url, '--batch', '2'], {
      cwd,
      env: signed,
      clock: clockByHand(),
    });
    expect(first).toMatchObject({ code: 0, stdout: '3 changes delivered in 2 messages, up to number 3.\n' });
    expect(first.stderr).toContain('status 500; next attempt in 1 s');
    expect(receiver.received).toHaveLength(3);
    const [again, taken] = receiver.received;
    expect(again?.headers['webhook-id']).toBe(taken?.headers['webhook-id']);
    expect(again?.body).toBe(taken?.body);
    expect(reported(1)).toEqual([1, 2, 3].map(url));
    const { headers, body } = taken!;
    const text = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`;
    expect(headers['webhook-signature']).toBe(`v1,${createHmac('sha256', 'topsecret').update(text).digest('base64')}`);
    await add(4);
    const secret = join(cwd, 'secret');
    writeFileSync(secret, 'topsecret\n');
    const next = ['changes', '--webhook', receiver.url, '--secret-file', secret];
    expect(await json(next, { cwd })).toEqual({
      delivered: 1,
      messages: 1,
      attempts: 1,
      missed: 0,
      cursor: 4,
      failed: null,
    });
    expect(reported(3)).toEqual([url(4)]);
  });

  it('keeps its cursor when the receiver fails, and does not store the address', async () => {
    await add(5);
    receiver.script.push(500, 503);
    const words = ['changes', '--webhook', receiver.url, '--retries', '1'];
    const failed = await run(words, { cwd, clock: clockByHand() });
    expect(failed.code).toBe(1);
    expect(failed.stdout).toContain('0 changes delivered in 0 messages, up to number 4. Then it failed: status 503.');
    expect(failed.stderr).toContain('Messages are not signed');
    const [file = ''] = readdirSync(join(cwd, 'crawldb', 'webhooks'));
    expect(readFileSync(join(cwd, 'crawldb', 'webhooks', file), 'utf8')).not.toContain('127.0.0.1');
    const before = receiver.received.length;
    expect(await json(['changes', '--webhook', receiver.url, '--since', '3'], { cwd })).toMatchObject({ delivered: 2 });
    expect(reported(before)).toEqual([url(4), url(5)]);
  });

  it('follows the feed until it is stopped, while others use the crawl db', async () => {
    const { clock, inPause } = heldClock();
    const before = receiver.received.length;
    const words = ['changes', '--webhook', receiver.url, '--follow', '--json'];
    const running = start(words, { cwd, env: signed, clock });
    await inPause(() => add(6, 7));
    await receiver.seen(before + 1);
    await inPause(() => add(8));
    await receiver.seen(before + 2);
    await inPause(running.stop);
    const { code, stdout, stderr } = await running.finished;
    expect([code, stderr]).toEqual([0, '']);
    expect(JSON.parse(stdout)).toMatchObject({ delivered: 3, failed: null });
    expect(reported(before)).toEqual([6, 7, 8].map(url));
  });

  it('prints new entries, a line for each', async () => {
    const { clock, inPause } = heldClock();
    const running = start(['changes', '--since', '7', '--follow', '--json'], { cwd, clock });
    await running.saying(/\n/);
    await inPause(() => add(9));
    await running.saying(/\n.*\n/);
    running.stop();
    const { code, stdout } = await running.finished;
    expect(code).toBe(0);
    const seqs = stdout
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { seq: number }).seq);
    expect(seqs).toEqual([8, 9]);
  });

  it('says so where there is no crawl to follow, and makes none', async () => {
    const running = start(['changes', '--follow', '--dir', 'mistyped'], { cwd, clock: heldClock().clock });
    await running.saying(/mistyped holds no crawl/);
    running.stop();
    expect(await running.finished).toMatchObject({ code: 0, stdout: '' });
    expect(existsSync(join(cwd, 'mistyped'))).toBe(false);
  });

  it('asks the process that holds the crawl db, and so shows changes while a crawl runs', async () => {
    const dir = join(cwd, 'crawldb');
    const db = await openLevelCrawlDb({ dir: join(dir, 'db'), log });
    const notAsked = (): Promise<never> => Promise.reject(new Error('the change feed needs the crawl db alone'));
    const deps = { dir, clock: { now: Date.now }, random: Math.random, db: async () => ofOnePart(db, dir) };
    const reader = crawlReader({ ...deps, indexes: notAsked, config: notAsked, plugins: notAsked });
    const socket = await answerQuestions(questionsPath(dir), reader);
    const before = receiver.received.length;
    const { clock, inPause } = heldClock();
    try {
      const words = ['changes', '--webhook', receiver.url, '--since', '8', '--follow', '--json'];
      const running = start(words, { cwd, env: signed, clock });
      await receiver.seen(before + 1);
      await inPause(() => db.write({ feed: { add: { notedAt: Date.now(), changes: [changeOf(url(10))] } } }));
      await receiver.seen(before + 2);
      await inPause(running.stop);
      expect(await running.finished).toMatchObject({ code: 0, stderr: '' });
      expect(reported(before)).toEqual([url(9), url(10)]);
    } finally {
      await socket.close();
      await db.close();
    }
  });

  it.each([
    [['--webhook', 'https://user:pass@a.example/'], 'may not hold a user name and password'],
    [['--follow', '--limit', '3'], '--follow prints lines'],
  ])('refuses %j', async (words, message) => {
    expect(await run(['changes', ...words], { cwd })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(message),
    });
  });
});
