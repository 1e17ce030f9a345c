import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { type Health, openHealthFile } from '../../../src/cli/schedule/health.ts';
import { askStatus, schedulerPlace, serveStatus, statusPath } from '../../../src/cli/schedule/status-socket.ts';

const root = mkdtempSync(join(tmpdir(), 'incrawl-health-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const healthAt = (ms: number, part: Partial<Health> = {}): Health => ({
  pid: 7,
  state: 'running',
  at: new Date(ms).toISOString(),
  startedAt: new Date(0).toISOString(),
  timetable: 'every 1m',
  runs: 0,
  failedRuns: 0,
  skippedStarts: 0,
  nextRunAt: null,
  run: null,
  lastRun: null,
  ...part,
});
const listening = () => {
  const warnings: string[] = [];
  return {
    warnings,
    log: { debug: () => {}, info: () => {}, warn: (text: string) => void warnings.push(text), error: () => {} },
  };
};

describe('the health file', () => {
  it('is refused where it cannot be written', async () => {
    const file = openHealthFile(join(root, 'nowhere', 'health.json'), listening().log);
    await expect(file.tell(healthAt(0))).rejects.toMatchObject({ code: 'usage-invalid' });
  });

  it('that cannot be written any more ends no schedule, and is written again when it can be', async () => {
    const { log, warnings } = listening();
    const dir = mkdtempSync(join(root, 'dir-'));
    const file = openHealthFile(join(dir, 'health.json'), log);
    await file.tell(healthAt(0));
    renameSync(dir, `${dir}-away`);
    await file.tell(healthAt(1, { runs: 1 }));
    expect(warnings).toEqual([expect.stringContaining('cannot be written')]);
    renameSync(`${dir}-away`, dir);
    await file.tell(healthAt(2, { runs: 2 }));
    expect(JSON.parse(readFileSync(join(dir, 'health.json'), 'utf8'))).toMatchObject({ runs: 2 });
  });

  it('is written for progress only when it is old, and never out of order', async () => {
    const path = join(root, 'beat.json');
    const file = openHealthFile(path, listening().log);
    const written = (): Health => JSON.parse(readFileSync(path, 'utf8')) as Health;
    await file.tell(healthAt(0));
    file.progress(healthAt(29_000, { runs: 1 }));
    expect(file.last?.runs).toBe(1);
    await file.tell(healthAt(29_001, { runs: 2 }));
    file.progress(healthAt(60_000, { runs: 3 }));
    await file.tell(healthAt(60_001, { runs: 4 }));
    expect(written().runs).toBe(4);
    file.progress(healthAt(60_002, { runs: 5 }));
    await new Promise((done) => setImmediate(done));
    expect(written().runs).toBe(4);
  });
});

it('is never put in the place of a pipe or a device', async () => {
  const pipe = join(root, 'pipe');
  execFileSync('mkfifo', [pipe]);
  await expect(openHealthFile(pipe, listening().log).tell(healthAt(0))).rejects.toMatchObject({
    code: 'usage-invalid',
  });
  expect(statSync(pipe).isFIFO()).toBe(true);
});

it('is written for progress after the clock was set back', async () => {
  const path = join(root, 'back.json');
  const file = openHealthFile(path, listening().log);
  await file.tell(healthAt(3_600_000));
  file.progress(healthAt(0, { runs: 1 }));
  await vi.waitFor(() => expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ runs: 1 }));
});

describe('the place of the scheduler', () => {
  it('is one for each state directory', async () => {
    const dir = mkdtempSync(join(root, 'p-'));
    const { log } = listening();
    const first = schedulerPlace(dir, () => healthAt(0), log);
    await first.hold();
    await first.hold();
    const second = schedulerPlace(dir, () => healthAt(0, { pid: 8 }), log);
    await expect(second.hold()).rejects.toMatchObject({ code: 'db-locked' });
    await first.close();
    await second.hold();
    await second.close();
  });

  it('is done without where no socket can be opened', async () => {
    const dir = mkdtempSync(join(root, 'n-'));
    mkdirSync(statusPath(dir));
    const { log, warnings } = listening();
    const place = schedulerPlace(dir, () => healthAt(0), log);
    await place.hold();
    expect(warnings).toEqual([expect.stringContaining('socket cannot be opened')]);
    await place.close();
  });
});

describe('the status socket', () => {
  it('answers, and a client that never hangs up does not hold up its end', async () => {
    const path = statusPath(mkdtempSync(join(root, 's-')));
    expect(await askStatus(path)).toBeNull();
    const socket = await serveStatus(path, () => healthAt(0));
    expect(await askStatus(path)).toEqual(healthAt(0));
    const mute = connect({ path, allowHalfOpen: true });
    mute.on('error', () => {});
    await once(mute, 'connect');
    await socket.close();
    mute.destroy();
    expect(await askStatus(path)).toBeNull();
  });
});
