import { describe, expect, it } from 'vitest';
import type { MovedTo, ServerStore } from '../../../src/cluster/ports/shared-store.ts';
import { WriteLease } from '../../../src/cluster/workers/write-lease.ts';

/** Contract of stores between which names move. `open` opens one of at least three. */
export function movesContract(product: string, open: (server: number) => ServerStore): void {
  describe(`${product}: names that move`, () => {
    let names = 0;
    const ALL = { gte: 'i', lt: 'j' };
    const text = (value: string): Buffer => Buffer.from(value);
    const withStores = async (use: (stores: readonly ServerStore[], name: string) => Promise<void>): Promise<void> => {
      const stores = [open(0), open(1), open(2)];
      try {
        await use(stores, `moves-${names++}:000`);
      } finally {
        for (const store of stores) await store.close();
      }
    };
    const contentOf = async (store: ServerStore, name: string): Promise<Record<string, string>> => {
      const rows = store.rows(name, null);
      const all = await rows.iterator({}).all();
      await rows.close();
      return Object.fromEntries(all.map(([key, value]) => [key, value.toString()]));
    };
    /** Moves a name whole; resolves with the token under which it arrived. */
    const move = async (
      [from, to]: readonly [ServerStore, ServerStore],
      name: string,
      server: string,
      meanwhile: (arrived: string) => Promise<void> = async () => {},
    ): Promise<string> => {
      const lease = await WriteLease.take({ store: from, name, leaseMs: 30_000, waitMs: 0 });
      const token = await to.moves.receive(name, { id: await from.id(name), token: lease.token, from: 'old' });
      const copy = to.rows(name, token);
      const put = (rows: readonly { readonly key: string; readonly value: Buffer }[]): Promise<void> =>
        copy.batch(rows.map(({ key, value }) => ({ type: 'put', key, value })));
      await put((await from.rows(name, null).iterator({}).all()).map(([key, value]) => ({ key, value })));
      await meanwhile(token);
      await from.moves.leave(name, lease.token, { to: server, token, range: ALL, appended: put });
      await lease.release();
      return token;
    };
    const begin = async (store: ServerStore, name: string): Promise<void> => {
      const lease = await WriteLease.take({ store, name, leaseMs: 30_000, waitMs: 0 });
      const rows = store.rows(name, lease.token);
      await rows.put('a', text('1'));
      await rows.put('b', text('2'));
      await store.id(name, 'its id');
      await rows.close();
      await lease.release();
    };
    const code = (error: unknown) => expect.objectContaining({ code: error });

    it('are whole on one server at each step, with what was appended meanwhile', async () => {
      await withStores(async ([old, fresh], name) => {
        if (old === undefined || fresh === undefined) return;
        expect(await old.moves.whereabouts(name)).toBe('nowhere');
        await begin(old, name);
        expect(await old.moves.whereabouts(name)).toBe('here');
        const writer = await WriteLease.take({ store: old, name, leaseMs: 30_000, waitMs: 0 });
        const late = old.rows(name, writer.token);
        await writer.release();
        const token = await move([old, fresh], name, 'new', async () => {
          expect(await fresh.moves.whereabouts(name)).toBe('arriving');
          await expect(fresh.leases.take(name, 'x', 1_000)).rejects.toEqual(code('db-moved'));
          await expect(fresh.id(name)).rejects.toEqual(code('db-moved'));
          await old.append(name, [{ key: 'i1', value: text('3') }]);
        });
        const mark: MovedTo = { to: 'new', token };
        expect(await old.moves.whereabouts(name)).toEqual(mark);
        await expect(late.put('late', text('x'))).rejects.toMatchObject({ code: 'lease-lost' });
        await expect(old.append(name, [{ key: 'i2', value: text('x') }])).rejects.toMatchObject({ ...mark, of: name });
        await expect(old.leases.take(name, 'x', 1_000)).rejects.toMatchObject(mark);
        await expect(old.id(name)).rejects.toMatchObject(mark);
        await expect(old.turns([name], 1_000).want([0])).rejects.toMatchObject(mark);
        await fresh.moves.settle(name, token);
        await fresh.moves.settle(name, token);
        expect(await fresh.moves.whereabouts(name)).toBe('here');
        expect(await fresh.id(name)).toBe('its id');
        expect(await contentOf(fresh, name)).toEqual({ a: '1', b: '2', i1: '3' });
        const turns = fresh.turns([name], 1_000);
        expect(await turns.take(1)).toHaveLength(1);
        await turns.close();
        await old.moves.forget(name, mark);
        await expect(contentOf(old, name)).rejects.toMatchObject(mark);
        await expect(late.put('late', text('x'))).rejects.toMatchObject(mark);
        await expect(old.append(name, [{ key: 'i2', value: text('x') }])).rejects.toMatchObject(mark);
        await late.close();
        const next = await WriteLease.take({ store: fresh, name, leaseMs: 30_000, waitMs: 0 });
        expect(Number(next.token)).toBeGreaterThan(Number(writer.token));
        await next.release();
        // And back.
        const again = await move([fresh, old], name, 'old');
        await old.moves.settle(name, again);
        expect(Number(again)).toBeGreaterThan(Number(next.token));
        expect(await contentOf(old, name)).toEqual({ a: '1', b: '2', i1: '3' });
      });
    });

    it('keep every row that was appended beside, or say that they have moved', async () => {
      await withStores(async ([old, fresh], name) => {
        if (old === undefined || fresh === undefined) return;
        await begin(old, name);
        const kept: string[] = [];
        let refused = 0;
        let isOver = false;
        const appending = Array.from({ length: 3 }, async (_, writer) => {
          for (let i = 0; !isOver; i++) {
            const key = `i${writer}-${i}`;
            await old.append(name, [{ key, value: text('x') }]).then(
              () => kept.push(key),
              (error: unknown) => {
                expect(error).toEqual(code('db-moved'));
                refused++;
              },
            );
          }
        });
        const token = await move([old, fresh], name, 'new', async () => {
          while (kept.length < 20) await new Promise((resolve) => setTimeout(resolve, 5));
        });
        while (refused < 3) await new Promise((resolve) => setTimeout(resolve, 5));
        isOver = true;
        await Promise.all(appending);
        await fresh.moves.settle(name, token);
        const { a: _, b: __, ...appended } = await contentOf(fresh, name);
        expect(Object.keys(appended).sort()).toEqual(kept.sort());
      });
    });

    it('stay where they are when the last step fails, and when another process has the lease', async () => {
      await withStores(async ([old, fresh], name) => {
        if (old === undefined || fresh === undefined) return;
        await begin(old, name);
        const lease = await WriteLease.take({ store: old, name, leaseMs: 30_000, waitMs: 0 });
        const token = await fresh.moves.receive(name, { id: 'its id', token: lease.token, from: 'old' });
        const how = { to: 'new', token, range: ALL };
        const failing = { ...how, appended: () => Promise.reject(new Error('the copy cannot be written')) };
        await expect(old.moves.leave(name, lease.token, failing)).rejects.toThrow('cannot be written');
        const older = String(Number(lease.token) - 1);
        const late = old.moves.leave(name, older, { ...how, appended: async () => {} });
        await expect(late).rejects.toMatchObject({ code: 'lease-lost' });
        expect(await old.moves.whereabouts(name)).toBe('here');
        await old.append(name, [{ key: 'i1', value: text('3') }]);
        await lease.release();
        expect(await contentOf(old, name)).toEqual({ a: '1', b: '2', i1: '3' });
        await fresh.moves.forget(name, { to: 'old', token: '' });
        expect(await fresh.moves.whereabouts(name)).toEqual({ to: 'old', token: '' });
        // A copy that is begun anew is empty, and the one before cannot be written.
        const second = await fresh.moves.receive(name, { id: 'its id', token, from: 'old' });
        await expect(fresh.rows(name, token).put('a', text('x'))).rejects.toMatchObject({ code: 'lease-lost' });
        await fresh.rows(name, second).put('z', text('1'));
        await fresh.moves.receive(name, { id: 'its id', token: second, from: 'old' });
        expect(await contentOf(fresh, name)).toEqual({});
      });
    });

    it('are not shown by a mark of an earlier move', async () => {
      await withStores(async ([one, two, three], name) => {
        if (one === undefined || two === undefined || three === undefined) return;
        await begin(one, name);
        const first = await move([one, two], name, 'two');
        await two.moves.settle(name, first);
        const second = await move([two, three], name, 'three');
        await three.moves.settle(name, second);
        await two.moves.forget(name, { to: 'three', token: second });
        const third = await two.moves.receive(name, { id: 'its id', token: second, from: 'three' });
        await two.moves.settle(name, first);
        expect(await two.moves.whereabouts(name)).toBe('arriving');
        await expect(two.moves.settle(name, third)).resolves.toBeUndefined();
        expect(await two.moves.whereabouts(name)).toBe('here');
      });
    });

    it('take no place of others', async () => {
      await withStores(async ([old, fresh], name) => {
        if (old === undefined || fresh === undefined) return;
        await begin(fresh, name);
        for (const [id, words] of [
          ['its id', 'of this crawl already'],
          ['another', 'of another crawl'],
        ] as const) {
          const received = fresh.moves.receive(name, { id, token: '1', from: 'old' });
          await expect(received).rejects.toMatchObject({
            code: 'config-invalid',
            message: expect.stringContaining(words),
          });
        }
        await expect(fresh.moves.forget(name, { to: 'old', token: '' })).rejects.toEqual(code('config-invalid'));
        expect(await contentOf(fresh, name)).toEqual({ a: '1', b: '2' });
        const held = `${name}-held`;
        const lease = await WriteLease.take({ store: fresh, name: held, leaseMs: 30_000, waitMs: 0 });
        const received = fresh.moves.receive(held, { id: null, token: '1', from: 'old' });
        await expect(received).rejects.toEqual(code('config-invalid'));
        await lease.release();
        expect(await fresh.moves.receive(held, { id: null, token: '7', from: 'old' })).toBe('8');
      });
    });
  });
}
