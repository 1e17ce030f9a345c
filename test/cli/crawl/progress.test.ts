import { describe, expect, it, vi } from 'vitest';
import { resumeCommand } from '../../../src/cli/program/write-answer.ts';
import type { CrawlProgress } from '../../../src/core/steps/summaries.ts';
import { createLive } from '../../../src/render/live/live.ts';
import { progressFields, progressLines } from '../../../src/render/live/progress.ts';
import { afterThisTest } from '../../support/ends.ts';
import { run } from '../../support/program.ts';
import { workDir } from '../../support/work-dir.ts';
import { startSite } from '../support/local-site.ts';

const PROGRESS: CrawlProgress = {
  round: 2,
  stage: 'fetch',
  segment: '20260302',
  urls: 1200,
  done: 300,
  inFlight: 12,
  waiting: 888,
  parsing: 3,
  pagesPerSecond: 41.26,
  bytesReceived: 2048,
  bytesSaved: 1024 ** 2,
  busiest: [
    { host: 'a.test', waiting: 700, running: 1 },
    { host: 'b\u001b.test', waiting: 10, running: 1 },
  ],
};

describe('progress', () => {
  it('shows round, speed, queue, busiest hosts and bytes saved', () => {
    expect(progressLines(PROGRESS, 120)).toEqual([
      'round 2 · fetching · 300 of 1,200 (25 %) · 41.3 pages/s',
      '  in flight 12 · waiting 888 · parsing 3 · received 2 KiB · saved 1 MiB',
      '  busiest hosts: a.test 701, b\\x1b.test 11',
    ]);
  });

  it('fits the terminal', () => {
    for (const line of progressLines(PROGRESS, 20)) expect(line.length).toBeLessThanOrEqual(20);
  });

  it('is a log record every few seconds where there is no terminal', async () => {
    let now = 0;
    const records: unknown[] = [];
    const live = await createLive({ terminal: null, now: () => now, record: (...record) => records.push(record) });
    for (now = 0; now <= 12_000; now += 200) live.progress(PROGRESS);
    expect(records).toHaveLength(2);
    expect(records[0]).toEqual(['progress', progressFields(PROGRESS)]);
    expect(progressFields(PROGRESS)).toMatchObject({ pagesPerSecond: 41.3, busiest: ['a.test', 'b\u001b.test'] });
  });
});

describe('records of progress', () => {
  it.each([
    ['beside an output of its own', [], {}, true],
    ['between the lines of the output', [], { isOneOutput: true }, false],
    ['between them, as --verbose asks for', ['--verbose'], { isOneOutput: true }, true],
  ])('%s', async (_, more, options, isRecorded) => {
    // The first record comes after five seconds of a crawl.
    let now = Date.UTC(2026, 0, 1);
    vi.spyOn(Date, 'now').mockImplementation(() => {
      now += 6_000;
      return now;
    });
    afterThisTest(vi.restoreAllMocks);
    const site = await startSite({ pages: 2 });
    afterThisTest(() => site.close());
    const args = ['crawl', `${site.origin}/`, '--allow', '127.0.0.1', '--delay', '0', ...more];
    const { code, stderr } = await run(args, { cwd: workDir(), ...options });
    expect(code, stderr).toBe(0);
    expect(stderr.includes('"progress"')).toBe(isRecorded);
  });
});

describe('the command that resumes', () => {
  it.each([
    [['crawl', 'https://a/', '--rounds', '3'], ['https://a/'], 'incrawl crawl --rounds 3'],
    [['crawl', '-D', 'agent.contact=a b', 'x.txt'], ['x.txt'], "incrawl crawl -D 'agent.contact=a b'"],
    [
      ['work', '-D', 'cluster.store=postgres://me:secret@h:1/crawl'],
      [],
      "incrawl work -D 'cluster.store=postgres://me:***@h:1/crawl'",
    ],
    [['crawl', '--all', '--rounds', '3'], ['--all'], 'incrawl crawl --rounds 3'],
    [['--dir', "it's", 'crawl'], [], "incrawl --dir 'it'\\''s' crawl"],
  ])('%j without %j', (argv, seeds, command) => expect(resumeCommand(argv, seeds)).toBe(command));
});
