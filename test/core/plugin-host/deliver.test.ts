import { describe, expect, it } from 'vitest';
import { addressOf, deliver, pauseMs } from '../../../src/core/plugin-host/exporting/deliver.ts';
import { type ScriptedAnswer, startScripted } from '../../site/scripted-server.ts';

/** The answers in turn, the last one for ever; the pauses made, and what came of it. */
async function sent(answers: readonly ScriptedAnswer[], retries = 4) {
  const server = await startScripted((_request, number) => answers[Math.min(number, answers.length) - 1] ?? null);
  const pauses: number[] = [];
  const deps = {
    now: () => 5_000,
    random: () => 1,
    sleep: async (ms: number) => {
      pauses.push(ms);
    },
  };
  const headers = (at: number) => ({ 'x-at': String(at) });
  const url = `${server.origin}/hook?token=secret`;
  try {
    const answer = await deliver({ url, headers, body: 'body', retries, timeoutMs: 10_000, firstPauseMs: 100 }, deps);
    return { answer, pauses, received: server.received };
  } catch (error) {
    return { error: (error as Error).message.replace(server.origin, 'ORIGIN'), pauses, received: server.received };
  } finally {
    await server.close();
  }
}

describe('a delivery', () => {
  it('sends the body, and gives the answer back', async () => {
    const { answer, received } = await sent([{ status: 202, body: 'thanks' }]);
    expect(answer).toMatchObject({ status: 202, text: 'thanks' });
    expect(received).toMatchObject([{ method: 'POST', body: 'body', headers: { 'x-at': '5000' } }]);
  });

  it('goes on after what passes, with pauses that double', async () => {
    const { answer, pauses } = await sent([{ status: 503 }, null, { status: 429 }, { status: 200 }]);
    expect(answer).toMatchObject({ status: 200 });
    expect(pauses).toEqual([100, 200, 400]);
  });

  it('waits as long as it is asked to, within bounds', async () => {
    const asked = (seconds: string): ScriptedAnswer => ({ status: 503, headers: { 'retry-after': seconds } });
    const { pauses } = await sent([asked('3'), asked('86400'), { status: 200 }]);
    expect(pauses).toEqual([3_000, 60_000]);
  });

  it.each([
    [[{ status: 400, body: 'no such\u001b[31m index' }], 'ORIGIN/hook answered 400: no such [31m index', 1],
    [[{ status: 302, headers: { location: 'http://elsewhere.example/' } }], 'ORIGIN/hook answered 302', 1],
    [[{ status: 500 }], 'ORIGIN/hook answered 500 (5 attempts)', 5],
  ] as const)('ends at %j', async (answers, message, attempts) => {
    const { error, received } = await sent(answers);
    expect(error).toBe(message);
    expect(received).toHaveLength(attempts);
  });

  it('says what broke', async () => {
    expect((await sent([null], 1)).error).toMatch(/^ORIGIN\/hook: .+ \(2 attempts\)$/);
  });
});

it('pauses are jittered by half and bounded', () => {
  expect(pauseMs(0, 500, () => 0)).toBe(250);
  expect(pauseMs(3, 500, () => 1)).toBe(4_000);
  expect(pauseMs(50, 500, () => 1)).toBe(60_000);
});

it.each([
  [null, undefined, 'an address is needed'],
  ['pages.json', undefined, 'expected an address such as'],
  ['ftp://example.org/', undefined, 'http or https'],
  ['https://me:secret@example.org/', undefined, 'no name and password'],
])('an address %j is refused', (place, configured, message) => {
  expect(() => addressOf(place, configured)).toThrow(message);
});
