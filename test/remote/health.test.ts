import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { type Health, openHealthFile } from '../../src/remote/schedule/health.ts';
import { askStatus, schedulerLock, serveStatus, statusPath } from '../../src/remote/schedule/status-socket.ts';

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
    await expect(file.report(healthAt(0))).rejects.toMatchObject({ code: 'usage-invalid' });
  });

  it('a later failure to write ends no schedule; the next report writes again', async () => {
    const { log, warnings } = listening();
    const dir = mkdtempSync(join(root, 'dir-'));
    const file = openHealthFile(join(dir, 'health.json'), log);
    await file.report(healthAt(0));
    renameSync(dir, `${dir}-away`);
    await file.report(healthAt(1, { runs: 1 }));
    expect(warnings).toEqual([expect.stringContaining('cannot write the health file')]);
    renameSync(`${dir}-away`, dir);
    await file.report(healthAt(2, { runs: 2 }));
    expect(JSON.parse(readFileSync(join(dir, 'health.json'), 'utf8'))).toMatchObject({ runs: 2 });
  });

  it('is written for progress only when it is old, and never out of order', async () => {
    const path = join(root, 'beat.json');
    const file = openHealthFile(path, listening().log);
    const written = (): Health => JSON.parse(readFileSync(path, 'utf8')) as Health;
    await file.report(healthAt(0));
    file.progress(healthAt(29_000, { runs: 1 }));
    expect(file.last?.runs).toBe(1);
    await file.report(healthAt(29_001, { runs: 2 }));
    file.progress(healthAt(60_000, { runs: 3 }));
    await file.report(healthAt(60_001, { runs: 4 }));
    expect(written().runs).toBe(4);
    file.progress(healthAt(60_002, { runs: 5 }));
    await new Promise((done) => setImmediate(done));
    expect(written().runs).toBe(4);
  });
});

it('is written for progress after the clock was set back', async () => {
  const path = join(root, 'back.json');
  const file = openHealthFile(path, listening().log);
  await file.report(healthAt(3_600_000));
  file.progress(healthAt(0, { runs: 1 }));
  await vi.waitFor(() => expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ runs: 1 }));
});

describe('the lock of the scheduler', () => {
  it('is held once for each state directory', async () => {
    const dir = mkdtempSync(join(root, 'p-'));
    const { log } = listening();
    const first = schedulerLock(dir, () => healthAt(0), log);
    await first.acquire();
    await first.acquire();
    const second = schedulerLock(dir, () => healthAt(0, { pid: 8 }), log);
    await expect(second.acquire()).rejects.toMatchObject({ code: 'db-locked' });
    await first.close();
    await second.acquire();
    await second.close();
  });

  it('is not held where no socket can be opened', async () => {
    const dir = mkdtempSync(join(root, 'n-'));
    mkdirSync(statusPath(dir));
    const { log, warnings } = listening();
    const place = schedulerLock(dir, () => healthAt(0), log);
    await place.acquire();
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
