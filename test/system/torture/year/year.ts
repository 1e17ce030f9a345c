import { once } from 'node:events';
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, statfsSync, writeFileSync, writeSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { plotFile } from '../../../../bench/harness/line-plot.ts';
import { mountDisk, unmount } from '../../support/mounts.ts';
import { answered } from '../program.ts';
import { randomOf } from '../random.ts';
import { MadeWeb } from './made-web.ts';
import { RecordedSites } from './recorded-sites.ts';
import type { Sleep, Wake } from './stepped-clock.ts';
import { SteppedProcess } from './stepped-process.ts';
import { yearPlots } from './year-plot.ts';
import { anonymousOf, type DaySample, descriptorsOf, filesOf, trendsOf, type WeekSample } from './year-samples.ts';

export interface YearOptions {
  readonly days: number;
  /** Of the made web. */
  readonly hosts: number;
  /** Folder of recorded sites; they are left out where it is missing. */
  readonly data: string;
  /** The process is killed or stopped, and started again, about once in so many days; 0: never. */
  readonly restartDays: number;
  /** Where the plot goes; absent: none is drawn. */
  readonly svg?: string | undefined;
  readonly seed: number;
}

const DAY_MS = 86_400_000;
const FROM = Date.UTC(2026, 0, 1);
/** Shorter sleeps are those within a run, in which the state directory is open. */
const BETWEEN_RUNS_MS = 600_000;
const KEEP_DAYS = 30;
/** What an operator does, every so many days. */
const EVERY = { look: 7, prune: 30, backup: 90 };
/** Segments are pruned by then. */
const LEFT_DAYS = KEEP_DAYS + EVERY.prune + 1;
/** Days at whose end the disk is full, for a day. */
const FULL = [60, 240];
/** Days at whose end the clock of the machine is set, ms. */
const SET: ReadonlyMap<number, number> = new Map([
  [40, DAY_MS],
  [41, -DAY_MS],
  [120, -3_600_000],
  [200, -30_000],
]);
const DISK_BYTES = 2 ** 31;

/**
 * A year of `schedule` in minutes, by a clock that this process moves: over a made web and recorded sites, with prune,
 * backup and restore, full disks and a clock that is set. What it holds must be flat after the first quarter, and its
 * state without a fault.
 */
export async function year(
  say: (line: string) => void,
  options: YearOptions,
): Promise<{ readonly failures: number; readonly faults: readonly string[]; readonly restarts: number }> {
  const folder = mkdtempSync(join(tmpdir(), 'incrawl-year-'));
  const disk = join(folder, 'disk');
  mkdirSync(disk);
  const isMounted = mountDisk(disk, DISK_BYTES);
  const run = new Year(say, options, folder, disk);
  try {
    await run.play(isMounted);
    const { faults, restarts } = run;
    return { failures: faults.length, faults, restarts };
  } finally {
    await run.close();
    if (isMounted) unmount(disk);
    rmSync(folder, { recursive: true, force: true });
  }
}

class Year {
  readonly faults: string[] = [];
  restarts = 0;
  readonly #say: (line: string) => void;
  readonly #options: YearOptions;
  readonly #folder: string;
  readonly #disk: string;
  readonly #random: () => number;
  readonly #server: Server;
  readonly #web: MadeWeb;
  readonly #recorded: RecordedSites;
  readonly #days: DaySample[] = [];
  readonly #weeks: WeekSample[] = [];
  #canFill = false;
  #dir: string;
  #process: SteppedProcess | null = null;
  /** Time of the web, and by how much the clock of the crawler is ahead of it, ms. */
  #now = FROM;
  #ahead = 0;
  #day = 0;
  #requests = 0;
  #end: (() => void) | null = null;

  constructor(say: (line: string) => void, options: YearOptions, folder: string, disk: string) {
    const { hosts, days, seed, data } = options;
    this.#say = say;
    this.#options = options;
    this.#folder = folder;
    this.#disk = disk;
    this.#dir = join(disk, 'state');
    this.#random = randomOf(seed);
    this.#server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
      const address = request.socket.localAddress ?? '';
      const path = request.url ?? '/';
      if (path !== '/robots.txt') this.#requests++;
      const { method = 'GET', headers } = request;
      const answer =
        this.#web.answer(address, path, headers, this.#now) ??
        this.#recorded.answer(address, { method, url: path, headers }, this.#now);
      if (answer === undefined) return void response.writeHead(404).end();
      if (answer === null) return void response.socket?.destroy();
      response.sendDate = false;
      response.writeHead(answer.status, { date: new Date(this.#now).toUTCString(), ...answer.headers });
      response.end(method === 'HEAD' ? undefined : answer.body);
    });
    this.#web = new MadeWeb({ hosts, days, from: FROM, seed }, () => this.#port);
    this.#recorded = new RecordedSites(data, FROM);
  }

  get #port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** @param canFill whether the disk of the state directory is one of its own */
  async play(canFill: boolean): Promise<void> {
    const { days, hosts, svg, restartDays } = this.#options;
    this.#canFill = canFill;
    this.#server.listen(0, '0.0.0.0');
    await once(this.#server, 'listening');
    const addresses = [...this.#web.addresses, ...this.#recorded.addresses];
    writeFileSync(this.#seeds, addresses.map((address) => `http://${address}:${this.#port}/\n`).join(''));
    if (!canFill) this.#say('full disks are left out: no file system can be mounted here');
    if (this.#recorded.addresses.length === 0) this.#say('recorded sites are left out: there are none');
    const isOver = new Promise<void>((resolve) => {
      this.#end = resolve;
    });
    this.#start();
    await isOver;
    this.#end = null;
    await this.#process?.end('SIGTERM');
    await this.#command('state', 'verify');
    const trends = trendsOf(this.#days, this.#weeks, days);
    const requests = this.#days.reduce((sum, each) => sum + each.requests, 0);
    const how = restartDays === 0 ? 'one process' : `${this.restarts} restarts`;
    this.#say(
      `year  ${this.#day} days, ${hosts} made hosts, ${this.#recorded.addresses.length} recorded, ${how}: ${requests} requests`,
    );
    for (const { what, early, late, isFlat } of trends) {
      const line = `${what.padEnd(24)} ${early.toFixed(1)} in the second quarter, ${late.toFixed(1)} in the last`;
      this.#say(`  ${line}`);
      if (!isFlat) this.faults.push(`it grows: ${line}`);
    }
    for (const fault of this.faults) this.#say(`  FAILED: ${fault}`);
    if (svg !== undefined) writeFileSync(svg, plotFile('A year of a crawl', yearPlots(this.#days, this.#weeks)));
  }

  async close(): Promise<void> {
    this.#end = null;
    await this.#process?.end('SIGKILL');
    this.#server.closeAllConnections();
    this.#server.close();
  }

  get #seeds(): string {
    return join(this.#folder, 'seeds.txt');
  }

  #settings(): string[] {
    const pages = [...this.#web.pages(this.#now)].length;
    return [
      'agent.contact=a@example.org',
      'fetch.delay=0',
      'http.allowAddresses=["127.0.0.0/8"]',
      'changes.keep=90d',
      `generate.budgetPerDay=${Math.ceil(pages / 3)}`,
    ].flatMap((setting) => ['-D', setting]);
  }

  #start(): void {
    const args = ['schedule', this.#seeds, '--every', '12h', '--dir', this.#dir, ...this.#settings()];
    const started: SteppedProcess = new SteppedProcess(args, this.#now + this.#ahead, (sleep) =>
      this.#onSleep(started, sleep),
    );
    this.#process = started;
    void started.ended.then(({ code, signal }) => {
      if (this.#process !== started || this.#end === null) return;
      this.faults.push(
        `the scheduler ended with ${code ?? signal} on day ${this.#day}: ${started.errors.slice(-1_000)}`,
      );
      this.#end();
    });
  }

  async #onSleep(sleeper: SteppedProcess, { now, ms }: Sleep): Promise<Wake> {
    if (sleeper !== this.#process) return { setBy: 0 };
    this.#now = now + ms - this.#ahead;
    if (ms < BETWEEN_RUNS_MS) return { setBy: 0 };
    let setBy = 0;
    try {
      while (this.#end !== null && this.#day < Math.floor((this.#now - FROM) / DAY_MS)) {
        this.#day++;
        setBy += await this.#endDay(sleeper, this.#day);
      }
    } catch (error) {
      this.faults.push(`day ${this.#day}: ${error instanceof Error ? error.message : String(error)}`);
      this.#end?.();
    }
    if (this.#day >= this.#options.days) this.#end?.();
    this.#ahead += setBy;
    return { setBy };
  }

  /** Resolves with how far the clock is set, ms. */
  async #endDay(sleeper: SteppedProcess, day: number): Promise<number> {
    const requests = this.#requests;
    this.#requests = 0;
    if (FULL.includes(day - 1)) rmSync(this.#ballast, { force: true });
    const held = { anonymous: anonymousOf(sleeper.pid), descriptors: descriptorsOf(sleeper.pid) };
    this.#days.push({ day, ...held, ...filesOf(this.#dir, this.#now - LEFT_DAYS * DAY_MS), requests });
    if (day % EVERY.prune === 0) await this.#command('state', 'prune', '--keep-days', String(KEEP_DAYS), '--compact');
    if (day % EVERY.backup === 0) await this.#backUp();
    if (day % EVERY.look === 0) await this.#look(day);
    if (day === this.#options.days >> 1) await this.#restore();
    if (this.#canFill && FULL.includes(day)) this.#fill();
    const { restartDays } = this.#options;
    if (restartDays > 0 && this.#random() < 1 / restartDays) this.#restartSoon();
    return SET.get(day) ?? 0;
  }

  async #backUp(): Promise<void> {
    rmSync(this.#backup, { recursive: true, force: true });
    await this.#command('state', 'backup', this.#backup);
    await this.#command('state', 'verify');
  }

  get #backup(): string {
    return join(this.#folder, 'backup');
  }

  get #ballast(): string {
    return join(this.#disk, 'ballast');
  }

  /** The state directory is lost; the crawl goes on from its backup, in a process that is started anew. */
  async #restore(): Promise<void> {
    await this.#backUp();
    const old = this.#process;
    this.#process = null;
    await old?.end('SIGTERM');
    rmSync(this.#dir, { recursive: true, force: true });
    this.#dir = join(this.#disk, 'restored');
    await this.#command('state', 'restore', this.#backup);
    this.#start();
  }

  /** In the middle of the next run, or before it. */
  #restartSoon(): void {
    const signal = this.#random() < 0.7 ? 'SIGKILL' : 'SIGTERM';
    setTimeout(() => {
      const old = this.#process;
      if (old === null || this.#end === null) return;
      this.#process = null;
      this.restarts++;
      void old.end(signal).then(() => {
        if (this.#end !== null) this.#start();
      });
    }, 1_500 * this.#random());
  }

  #fill(): void {
    const { bavail, bsize } = statfsSync(this.#disk);
    const file = openSync(this.#ballast, 'w');
    try {
      const block = Buffer.alloc(2 ** 20, 1);
      for (let left = bavail * bsize; left > 0; left -= block.length)
        writeSync(file, block, 0, Math.min(left, block.length));
    } finally {
      closeSync(file);
    }
  }

  async #look(day: number): Promise<void> {
    const rows = await this.#command('readdb', '--dump', '--fields', 'url,lastFetchAt', '--format', 'jsonl');
    const seen = new Map<string, number>();
    let urls = 0;
    for (const line of rows.split('\n')) {
      if (line === '') continue;
      const { url, lastFetchAt } = JSON.parse(line) as { readonly url: string; readonly lastFetchAt: string | null };
      urls++;
      if (lastFetchAt !== null) seen.set(url, Date.parse(lastFetchAt));
    }
    let [pages, fresh] = [0, 0];
    for (const { url, changedAt } of this.#web.pages(this.#now)) {
      pages++;
      if ((seen.get(url) ?? 0) >= changedAt) fresh++;
    }
    const feed = await this.#command('changes', '--since', '0', '--format', 'jsonl');
    this.#weeks.push({ day, urls, changes: feed.split('\n').length - 1, fresh: fresh / pages });
    if (day % (4 * EVERY.look) === 0)
      this.#say(
        `  day ${day}: ${urls} URLs, ${((100 * fresh) / pages).toFixed(1)} % fresh, ${this.faults.length} faults`,
      );
  }

  /** Output of a command on the state directory, at this moment of the crawler; rejects unless it ends with 0. */
  async #command(...args: readonly string[]): Promise<string> {
    const now = (): number => this.#now + this.#ahead;
    const clock = { now, sleep: async () => {} };
    const { code, stdout, stderr } = await answered([...args, '--dir', this.#dir, ...this.#settings()], '', clock);
    if (code === 0) return stdout;
    throw new Error(`incrawl ${args.join(' ')} ended with ${code}: ${stderr.slice(-1_000)}`);
  }
}
