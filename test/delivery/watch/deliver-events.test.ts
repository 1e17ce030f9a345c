import { expect, it } from 'vitest';
import { deliverEvents } from '../../../src/delivery/watch/deliver-events.ts';
import type { WatchEvent, WatchKind } from '../../../src/delivery/watch/page-verdict.ts';
import type { Receiver } from '../../../src/delivery/watch/receivers.ts';
import { type Delivered, keptEvents } from '../../../src/delivery/watch/watch-list.ts';

const event = (seq: number, kind: WatchKind = 'modified'): WatchEvent => ({
  ...{ seq, kind, url: `https://example.org/${seq}`, target: null, title: null, at: '2026-03-01T08:00:00.000Z' },
  ...{ distance: null, select: [], missing: '', problem: null, places: null },
});

/** A receiver that fails at the attempts with these numbers, from 1. */
function receiver(key: string, batch: number, fails: (attempt: number) => boolean = () => false) {
  const got: string[] = [];
  let attempts = 0;
  const each: Receiver = {
    ...{ key, name: key, batch, wants: (kind) => kind !== 'new' },
    deliver: async (id, changes) => {
      if (fails(++attempts))
        return { isTaken: false, status: 500, reason: 'status 500', retryAfterMs: null, isFinal: false };
      got.push(`${id}: ${changes.map(({ seq }) => seq)}`);
      return { isTaken: true, status: 204 };
    },
  };
  return { each, got };
}

async function deliver(events: readonly WatchEvent[], receivers: readonly Receiver[], before: Delivered) {
  const [saved, notes]: [Delivered[], string[]] = [[], []];
  const deps = {
    save: (delivered: Delivered) => saved.push(delivered),
    changeOf: (one: WatchEvent) => ({ ...one, summary: '', diff: '' }),
    note: (text: string) => notes.push(text),
    now: () => 0,
    random: () => 0.5,
    sleep: async () => {},
  };
  const list = { source: 'list', lastSeq: 5, events };
  const isDone = await deliverEvents(deps, list, receivers, before, new AbortController().signal);
  return { isDone, saved, notes };
}

const EVENTS = [event(1, 'new'), event(2), event(3), event(4), event(5, 'new')];

it('gives each receiver what it has not taken yet, in messages of its size', async () => {
  const [one, many] = [receiver('one', 1), receiver('many', 100)];
  const { isDone, saved } = await deliver(EVENTS, [one.each, many.each], { one: 2, many: 0 });
  expect(one.got).toEqual(['list_3_3: 3', 'list_4_4: 4']);
  expect(many.got).toEqual(['list_2_4: 2,3,4']);
  expect([isDone, saved.at(-1)]).toEqual([true, { one: 5, many: 5 }]);
});

it('repeats an attempt under the same id, and notes it', async () => {
  const { each, got } = receiver('one', 1, (attempt) => attempt === 1);
  expect((await deliver(EVENTS, [each], { one: 3 })).notes).toEqual(['one: status 500; next attempt in 1 s']);
  expect(got).toEqual(['list_4_4: 4']);
});

it('a receiver that fails keeps its place, and holds up no other', async () => {
  const [broken, sound] = [receiver('broken', 1, (attempt) => attempt > 1), receiver('sound', 1)];
  const { isDone, saved } = await deliver(EVENTS, [broken.each, sound.each], { broken: 0, sound: 0 });
  expect([isDone, saved.at(-1)]).toEqual([false, { broken: 2, sound: 5 }]);
  expect(sound.got).toHaveLength(3);
});

it('says what is no longer kept', async () => {
  const { each } = receiver('one', 1);
  expect((await deliver([event(4)], [each], { one: 1 })).notes).toEqual([
    '2 changes are no longer kept, and were not delivered to one',
  ]);
});

it('events are kept until all receivers have taken them', () => {
  expect(keptEvents(EVENTS, { one: 2, many: 4 }).map(({ seq }) => seq)).toEqual([3, 4, 5]);
  const many = Array.from({ length: 900 }, (_, i) => event(i + 1));
  expect(keptEvents(many, { gone: 0 }).map(({ seq }) => seq)[0]).toBe(401);
});
