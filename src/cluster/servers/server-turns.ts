import { setTimeout as delay } from 'node:timers/promises';
import { MovedError } from '../../core/domain/errors.ts';
import { isAway } from '../ports/shared-store.ts';
import type { TakenTurn, TurnResult, Turns, TurnsState } from '../ports/turns.ts';
import type { WorkerReport } from '../ports/workers.ts';
import { FIRST_SERVER } from './server-map.ts';

export interface ServerTurnsDeps {
  /** Id of the worker, on all servers. */
  readonly worker: string;
  readonly partitions: number;
  /** The turns on one server: those of all partitions of the crawl whose rows it has. */
  open(server: string): Turns;
  serverOf(partition: number): string;
  /** All servers of the crawl, the first one first. */
  servers(): readonly string[];
  /** Reads the map of servers if the last reading is older than that. */
  refresh(olderThanMs: number): Promise<void>;
  /** Learns where a partition lies from a server that it has left. */
  follow(error: MovedError): Promise<void>;
}

/** Age at which the map is read again, ms: partitions may have moved. */
const MAP_MS = 5_000;
/** Time until a server that does not answer is tried again, ms. */
const AWAY_MS = 1_000;
/** How often a partition is followed to another server. */
const HOPS = 8;

/**
 * The turns of a crawl on several servers: each partition has its turn on the server that has its rows. If a server
 * does not answer, the turns of the others go on, and its partitions count as open. Without the first server none go
 * on.
 */
export class ServerTurns implements Turns {
  readonly #deps: ServerTurnsDeps;
  readonly #branches = new Map<string, Branch>();
  /** The server that each turn was taken from. */
  readonly #takenFrom = new Map<number, string>();
  /** The server whose turns are taken first; it rotates, so that no server is neglected. */
  #next = 0;
  #report: (() => WorkerReport) | null = null;

  constructor(deps: ServerTurnsDeps) {
    this.#deps = deps;
  }

  get worker(): string {
    return this.#deps.worker;
  }

  tell(report: () => WorkerReport): void {
    this.#report = report;
    for (const { turns } of this.#branches.values()) turns.tell(report);
  }

  async want(partitions: Iterable<number>): Promise<void> {
    let left: readonly number[] = [...new Set(partitions)];
    for (let hop = 1; left.length > 0; hop++) {
      const moved: number[] = [];
      for (const server of new Set(left.map(this.#deps.serverOf))) {
        const own = left.filter((partition) => this.#deps.serverOf(partition) === server);
        try {
          await this.#branch(server).turns.want(own);
        } catch (error) {
          if (!(error instanceof MovedError) || hop === HOPS) throw error;
          await this.#deps.follow(error);
          moved.push(...own);
        }
      }
      left = moved;
    }
  }

  async take(limit: number): Promise<readonly TakenTurn[]> {
    const taken: TakenTurn[] = [];
    const branches = this.#all();
    this.#next++;
    for (let i = 0; i < branches.length && taken.length < limit; i++) {
      const branch = branches[(this.#next + i) % branches.length] as Branch;
      const turns = await branch.ask((own) => own.take(limit - taken.length), []);
      for (const turn of turns) this.#takenFrom.set(turn.partition, branch.server);
      taken.push(...turns);
    }
    return taken;
  }

  end(turn: TakenTurn, result: TurnResult): Promise<void> {
    return this.#takenOn(turn).end(turn, result);
  }

  fail(turn: TakenTurn, reason: string): Promise<void> {
    return this.#takenOn(turn).fail(turn, reason);
  }

  async state(): Promise<TurnsState> {
    await this.#deps.refresh(MAP_MS);
    const states = await Promise.all(this.#all().map((each) => each.ask((own) => own.state(), this.#awayState(each))));
    const times = states.flatMap(({ nextMs }) => (nextMs === null ? [] : [nextMs]));
    return {
      open: states.reduce((sum, { open }) => sum + open, 0),
      nextMs: times.length === 0 ? null : Math.min(...times),
      workers: (states[0] as TurnsState).workers,
      failed: states.flatMap(({ failed }) => failed).sort((a, b) => a.partition - b.partition),
    };
  }

  async forgetFailed(): Promise<void> {
    for (const branch of this.#all()) await branch.ask((own) => own.forgetFailed(), undefined);
  }

  async wait(ms: number, signal: AbortSignal): Promise<void> {
    const over = new AbortController();
    const each = AbortSignal.any([signal, over.signal]);
    await Promise.race(this.#all().map(({ turns }) => turns.wait(ms, each)));
    over.abort();
  }

  async close(fault?: string): Promise<void> {
    // It may end before it has wanted a turn.
    if (fault !== undefined) this.#branch(FIRST_SERVER);
    for (const branch of this.#branches.values()) await branch.close(fault);
  }

  #all(): readonly Branch[] {
    return this.#deps.servers().map((server) => this.#branch(server));
  }

  #branch(server: string): Branch {
    const known = this.#branches.get(server);
    if (known !== undefined) return known;
    const branch = new Branch(server, this.#deps.open(server));
    if (this.#report !== null) branch.turns.tell(this.#report);
    this.#branches.set(server, branch);
    return branch;
  }

  #takenOn({ partition }: TakenTurn): Turns {
    return this.#branch(this.#takenFrom.get(partition) ?? this.#deps.serverOf(partition)).turns;
  }

  /** The reported state of the partitions of a server that does not answer. */
  #awayState({ server }: Branch): TurnsState {
    let open = 0;
    for (let partition = 0; partition < this.#deps.partitions; partition++) {
      if (this.#deps.serverOf(partition) === server) open++;
    }
    return { open, nextMs: AWAY_MS, workers: 0, failed: [] };
  }
}

/** The turns on one server. Nothing waits for a server that does not answer or takes no writes. */
class Branch {
  readonly server: string;
  readonly turns: Turns;
  /** Whether it is checking that the server answers again. */
  #isLooking = false;
  #isClosed = false;

  constructor(server: string, turns: Turns) {
    this.server = server;
    this.turns = turns;
  }

  async ask<Answer>(call: (turns: Turns) => Promise<Answer>, ifAway: Answer): Promise<Answer> {
    if (this.#isLooking) return ifAway;
    try {
      return await call(this.turns);
    } catch (error) {
      if (this.server === FIRST_SERVER || !isAway(error)) throw error;
      void this.#look();
      return ifAway;
    }
  }

  close(fault?: string): Promise<void> {
    this.#isClosed = true;
    return this.turns.close(fault);
  }

  /** Other failures are reported to the next call. */
  async #look(): Promise<void> {
    this.#isLooking = true;
    while (!this.#isClosed) {
      const fault = await this.turns.state().then(
        () => null,
        (error: unknown) => error,
      );
      if (!isAway(fault)) break;
      await delay(AWAY_MS, undefined, { ref: false });
    }
    this.#isLooking = false;
  }
}
