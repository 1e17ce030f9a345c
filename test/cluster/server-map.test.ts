import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  FIRST_SERVER,
  ONE_SERVER,
  parseServerMap,
  partOfName,
  serverIn,
  serversIn,
  spreadMap,
  withMove,
  withServer,
} from '../../src/cluster/servers/server-map.ts';

const B = 'postgres://b/crawl';
const C = 'postgres://c/crawl';
const three = (partition: number): string => String(partition).padStart(3, '0');

describe('the map from partitions to servers', () => {
  it('spreads the partitions of a new crawl over its servers in turn, and names no password', () => {
    const map = spreadMap(5, ['postgres://crawler:secret@b/crawl', C, C]);
    expect([0, 1, 2, 3, 4].map((partition) => serverIn(map, three(partition)))).toEqual([
      ...[FIRST_SERVER, 'postgres://crawler@b/crawl', C],
      ...[FIRST_SERVER, 'postgres://crawler@b/crawl'],
    ]);
    expect(JSON.stringify(map)).not.toContain('secret');
  });

  it('is that of one server where there is none, and is read as it was written', () => {
    expect(parseServerMap(undefined)).toEqual(ONE_SERVER);
    expect(serverIn(ONE_SERVER, '007')).toBe(FIRST_SERVER);
    const map = withMove(spreadMap(4, [B]), '001', { from: B, to: C });
    expect(parseServerMap(JSON.stringify(map))).toEqual(map);
    expect(withMove(map, '001', null)).toEqual(spreadMap(4, [B]));
  });

  it('has each partition where it was put last, whatever was put before', () => {
    const moves = fc.array(fc.tuple(fc.nat(15), fc.constantFrom(FIRST_SERVER, B, C)));
    fc.assert(
      fc.property(moves, (all) => {
        let map = spreadMap(16, [B]);
        const model = new Map(Array.from({ length: 16 }, (_, i) => [i, i % 2 === 0 ? FIRST_SERVER : B]));
        for (const [partition, server] of all) {
          map = withServer(map, three(partition), server);
          model.set(partition, server);
        }
        for (const [partition, server] of model) expect(serverIn(map, three(partition))).toBe(server);
        expect(new Set(serversIn(map))).toEqual(new Set([FIRST_SERVER, ...model.values()]));
        expect(serversIn(map)[0]).toBe(FIRST_SERVER);
      }),
    );
  });

  it.each([
    ['crawl:017', { crawl: 'crawl', partition: '017' }],
    ['a:b:255', { crawl: 'a:b', partition: '255' }],
    ['crawl', null],
    ['crawl:shared', null],
    ['crawl:17', null],
    [':0177', null],
  ])('%s is a name of %j', (name, expected) => {
    expect(partOfName(name)).toEqual(expected);
  });
});
