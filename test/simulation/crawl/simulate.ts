import { seeded } from '../../../bench/harness/seeded.ts';
import { defaultConfig } from '../../../src/core/config/load.ts';
import type { Config } from '../../../src/core/config/schema.ts';
import { CrawlError } from '../../../src/core/domain/errors.ts';
import { chance, choice } from './chance.ts';
import { type CrashKind, SimulatedDisk } from './disk.ts';
import { type EffectKind, Fate } from './fate.ts';
import { takeFileCalls } from './file-calls.ts';
import { findDamagedFiles } from './file-invariants.ts';
import { takeIntervals } from './intervals.ts';
import { type Checked, findFaults } from './invariants.ts';
import { finalState, Ledger, missingBy } from './ledger.ts';
import { SimulatedNetwork } from './network.ts';
import { PolitenessWatch } from './politeness.ts';
import {
  type LoadedProgram,
  loadProgram,
  openProcess,
  type SimulatedProcess,
  STATE_DIR,
  type Surroundings,
} from './process.ts';
import { SimulatedRows } from './rows.ts';
import { type Step, steps } from './steps.ts';
import { VirtualClock } from './virtual-clock.ts';
import { SimulatedWorld } from './world.ts';

/** A crawl of a simulated world that went wrong. */
export class SimulationFailure extends Error {}

export interface Simulated {
  readonly processes: number;
  readonly crashes: number;
  readonly requests: number;
  /** Writes and syncs of disk and db. */
  readonly effects: number;
  readonly records: number;
  /** Time that passed in the world, ms. */
  readonly elapsedMs: number;
}

const START = Date.UTC(2026, 0, 1);
const EFFECTS: readonly EffectKind[] = ['', 'write', 'write', 'batch', 'batch', 'fsync'];
/** An id above those that Linux gives. */
const NO_PROCESS = 4_194_305;
/** Rounds after the last crash, in a world that changes. */
const LAST_ROUNDS = 6;

/**
 * Crawls the world of a seed by processes that are cut off at any write or sync, and checks after each step what must
 * hold. A steady world is crawled once more without a crash: both crawls end at the same pages. Rejects with
 * {@link SimulationFailure}, whose message has the seed and the last events.
 */
export async function simulateCrawl(seed: number): Promise<Simulated> {
  const isSteady = chance(seed, 'steady') < 0.4;
  const stormy = new Simulation(seed, isSteady, true);
  const [summary, records] = await stormy.run();
  if (!isSteady) return summary;
  const calm = new Simulation(seed, isSteady, false);
  const [, expected] = await calm.run();
  const differences = differing(expected, records);
  if (differences.length > 0) stormy.fail(['the crashes changed the outcome:', ...differences.slice(0, 6)]);
  return summary;
}

class Simulation {
  readonly #seed: number;
  readonly #isSteady: boolean;
  readonly #isStormy: boolean;
  readonly #random: () => number;
  readonly #clock: VirtualClock;
  readonly #fate: Fate;
  readonly #disk: SimulatedDisk;
  readonly #rows: SimulatedRows;
  readonly #surroundings: Surroundings;
  readonly #checked: Checked;
  #processes = 0;
  #crashes = 0;

  constructor(seed: number, isSteady: boolean, isStormy: boolean) {
    this.#seed = seed;
    this.#isSteady = isSteady;
    this.#isStormy = isStormy;
    const random = seeded(seed);
    const clock = new VirtualClock(START);
    const fate = new Fate(() => clock.now());
    const world = new SimulatedWorld(seed, isSteady, START);
    const config = configOf(seed, isSteady);
    const politeness = new PolitenessWatch(config.fetch);
    const network = new SimulatedNetwork({ world, clock, fate, politeness });
    this.#random = random;
    this.#clock = clock;
    this.#fate = fate;
    this.#disk = new SimulatedDisk(fate, random, () => clock.now());
    this.#disk.prepareFolder(STATE_DIR);
    this.#rows = new SimulatedRows({ fate, clock, random });
    this.#surroundings = { config, clock, fate, random, network };
    this.#checked = { config, world, network, politeness, ledger: new Ledger() };
  }

  async run(): Promise<[Simulated, FinalStates]> {
    const program = await loadProgram(this.#surroundings);
    const giveBackFiles = takeFileCalls(this.#disk, this.#fate);
    const giveBackIntervals = takeIntervals(this.#clock);
    try {
      if (this.#isStormy) await this.#storm(program);
      return await this.#calm(program);
    } catch (error) {
      if (error instanceof SimulationFailure) throw error;
      return this.fail([`a step failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`]);
    } finally {
      giveBackIntervals();
      giveBackFiles();
    }
  }

  fail(faults: readonly string[]): never {
    const replay = `npm run torture -- --simulate --seed ${this.#seed}`;
    const trace = this.#fate.trace.map((line) => `    ${line}`);
    throw new SimulationFailure([`seed ${this.#seed}: ${replay}`, ...faults, '  last events:', ...trace].join('\n'));
  }

  async #storm(program: LoadedProgram): Promise<void> {
    const processes = 3 + Math.floor(this.#random() * 12);
    for (let i = 0; i < processes; i++) {
      // From the first effect on to deep in a round. Batches of the crawl db are few, and much hangs on them.
      const kind = EFFECTS[Math.floor(this.#random() * EFFECTS.length)] as EffectKind;
      const effects = Math.floor(Math.exp(this.#random() * (kind === '' ? 7 : 4)));
      if (this.#random() < 0.85) this.#fate.crashIn(effects, kind);
      await this.#process(program, 1 + Math.floor(this.#random() * 3));
      if (this.#random() < 0.3) this.#crash(this.#random() < 0.5 ? 'power' : 'disorder');
      const downMs = this.#isSteady ? 60_000 : 1_000 * 10 ** (this.#random() * 6);
      this.#clock.skip(Math.ceil(this.#random() * downMs));
    }
    this.#fate.revive();
  }

  /** A last process that nothing cuts off crawls until nothing is due. */
  async #calm(program: LoadedProgram): Promise<[Simulated, FinalStates]> {
    this.#fate.note('a last process');
    const process = await this.#driven(this.#open(program));
    if (process === null) return this.fail(['a process that nothing cuts off has crashed']);
    await this.#check(process, false);
    const { world } = this.#checked;
    // Pages that change or lead ever further are never done.
    const rounds = this.#isSteady ? {} : { rounds: LAST_ROUNDS };
    await this.#driven(process.crawl({ seeds: [{ name: 'seeds', lines: world.seeds }], ...rounds }));
    await this.#check(process, true);
    await this.#driven(this.#checked.ledger.noteRounds(process));
    const leased = (await this.#driven(process.db.counters()))?.leased;
    if (leased !== 0) this.fail([`lease forgotten: ${leased} when nothing was left to do`]);
    const open = (await this.#driven(process.db.segments()))?.filter(({ state }) => state === 'generated');
    if (open?.length !== 0) this.fail([`a segment was not applied: ${JSON.stringify(open)}`]);
    const records: FinalStates = new Map();
    const read = async (): Promise<void> => {
      for await (const datum of process.db.scan()) {
        records.set(datum.url, { text: finalState(datum, world.isUnique(datum.url)), missing: missingBy(datum) });
      }
      await process.close();
    };
    await this.#driven(read());
    await this.#powerCut(program);
    const { requests } = this.#surroundings.network;
    const sums = { processes: this.#processes, crashes: this.#crashes, requests, effects: this.#fate.effects };
    return [{ ...sums, records: records.size, elapsedMs: this.#clock.now() - START }, records];
  }

  /** What was promised up to the last step is there after the machine has stopped. */
  async #powerCut(program: LoadedProgram): Promise<void> {
    this.#crash(this.#random() < 0.5 ? 'power' : 'disorder');
    const process = await this.#driven(this.#open(program));
    if (process === null) return this.fail(['a process that nothing cuts off has crashed']);
    await this.#check(process, false);
    await this.#driven(process.close());
    const damaged = await this.#driven(findDamagedFiles(this.#disk));
    if (damaged?.length !== 0) this.fail(damaged ?? []);
  }

  async #process(program: LoadedProgram, count: number): Promise<void> {
    const process = await this.#driven(this.#open(program));
    if (process === null) return;
    if (!(await this.#check(process, false))) return;
    for (let i = 0; i < count; i++) {
      const step: Step = choice(steps(this.#isSteady), this.#seed, this.#fate.effects, i);
      this.#fate.note(`step: ${step.name}`);
      const ended = await this.#driven(
        step.run(process, { ...this.#surroundings, world: this.#checked.world }).catch(expected),
      );
      if (ended === null || !(await this.#check(process, step.isDurable))) return;
      if (!step.savesRounds) continue;
      if ((await this.#driven(this.#checked.ledger.noteRounds(process).then(() => true))) === null) return;
    }
    const closed = await this.#driven(process.close().then(() => true));
    if (closed === true) this.#fate.note('closed');
    this.#clock.forget();
  }

  #open(program: LoadedProgram): Promise<SimulatedProcess> {
    this.#processes++;
    this.#fate.note(`process ${this.#processes} opens`);
    return openProcess(this.#surroundings, program, this.#rows.open());
  }

  /** `null`: the process was cut off, and the next one may begin. */
  async #driven<Value>(work: Promise<Value>): Promise<Value | null> {
    const ended = await this.#clock.drive(work, () => this.#fate.isDown);
    if (ended !== 'crashed') return ended.value;
    this.#crash(choice<CrashKind>(['kill', 'kill', 'power', 'disorder'], this.#seed, this.#fate.effects, 'crash'));
    return null;
  }

  #crash(kind: CrashKind): void {
    this.#crashes++;
    this.#clock.forget();
    this.#fate.revive();
    this.#fate.note(`crash: ${kind}`);
    this.#disk.crash(kind);
    this.#rows.crash(kind);
    this.#checked.politeness.crash();
    // The next process is another one, at times with the same id, which the locks of this one must not keep out.
    for (const path of this.#disk.paths()) {
      if (!path.endsWith('/writer.lock')) continue;
      const text = this.#disk
        .file(path)
        .content.toString()
        .replace(/"startedAt":[\d.]+/, '"startedAt":1');
      this.#disk.replaceContent(path, this.#random() < 0.5 ? text : text.replace(/"pid":\d+/, `"pid":${NO_PROCESS}`));
    }
  }

  /**
   * Whether the process still runs: what it does beside the steps may be cut off meanwhile.
   * @param isDurable whether all that was found so far must be so ever after
   */
  async #check(process: SimulatedProcess, isDurable: boolean): Promise<boolean> {
    const faults = await this.#driven(findFaults(process, this.#checked, this.#clock.now()));
    if (faults === null) return false;
    if (faults.length > 0) this.fail(faults);
    return !isDurable || (await this.#driven(this.#checked.ledger.note(process).then(() => true))) === true;
  }
}

/** Steps that find nothing to do say so by an error. */
function expected(error: unknown): void {
  if (error instanceof CrawlError && error.code === 'segment-missing') return;
  throw error;
}

function configOf(seed: number, isSteady: boolean): Config {
  const pick = <Value>(name: string, ...values: readonly Value[]): string => `${name}=${choice(values, seed, name)}`;
  const config = defaultConfig([
    'agent.contact=mailto:owner@crawler.example',
    pick('fetch.delay', '1s', '2s', '5s'),
    pick('fetch.concurrency', 1, 3, 20),
    ...choice(
      [
        ['fetch.connectionsPerHost=1', pick('fetch.probe', 'auto', 'head', 'headers', 'off')],
        ['fetch.connectionsPerHost=2', 'fetch.probe=headers'],
      ],
      seed,
      'connections',
    ),
    pick('fetch.followRedirects', true, true, false),
    pick('fetch.timeLimit', '0s', '0s', '20s'),
    pick('fetch.soft404', false, false, true),
    pick('generate.topN', 5, 20, 50, 1_000),
    pick('generate.maxPerHost', 0, 0, 4, 15),
    pick('updatedb.chunk', 1, 3, 10, 500),
    pick('updatedb.orphanSweepEvery', '1m', '1h', '7d'),
    pick('sitemaps.mode', 'off', 'off', 'discover'),
    pick('dedup.mode', 'mark', 'mark', 'skip-outlinks', 'off'),
    pick('dedup.scope', 'host', 'domain', 'all'),
    pick('seen.filter', 'memory', 'memory', 'off'),
    'seen.leafBits=8192',
    'seen.expectedUrls=100',
    ...(isSteady
      ? ['schedule.name=fixed', 'schedule.interval=365d', 'schedule.maxInterval=365d', 'fetch.soft404=false']
      : []),
  ]);
  // Far smaller than users may have them, so that a round has several.
  const warcMaxBytes = choice([1_000, 5_000, 1_000_000], seed, 'warcMaxBytes');
  return { ...config, segments: { ...config.segments, warcMaxBytes } };
}

/** How a crawl has left its records, by URL. */
type FinalStates = Map<string, { readonly text: string; readonly missing: ReturnType<typeof missingBy> }>;

function differing(expected: FinalStates, found: FinalStates): string[] {
  const urls = [...new Set([...expected.keys(), ...found.keys()])].sort();
  return urls.flatMap((url) => {
    const [one, other] = [expected.get(url), found.get(url)];
    // Which URLs of a folder are requested before it is known to have none depends on the order of the visits.
    const isMissingInBoth = one?.missing && other?.missing && one.missing !== other.missing;
    return one?.text === other?.text || isMissingInBoth ? [] : [`${url}: ${other?.text} instead of ${one?.text}`];
  });
}
