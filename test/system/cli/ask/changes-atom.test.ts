import { beforeAll, describe, expect, it } from 'vitest';
import { noteHostileChanges } from '../../../cli/support/hostile-changes.ts';
import { workDir } from '../../../support/work-dir.ts';
import { run } from '../../support/binary.ts';
import { HAS_FEEDPARSER, HAS_XML_PARSER, readAsFeedReader, xmlFaults } from '../support/feed-parsers.ts';

const cwd = workDir();
beforeAll(() => noteHostileChanges(cwd));

const atom = async (...args: string[]): Promise<string> => {
  const { code, stdout, stderr } = await run(['changes', '--format', 'atom', ...args], { cwd });
  expect(code, stderr).toBe(0);
  return stdout;
};

describe('changes --format atom', () => {
  it.skipIf(!HAS_XML_PARSER)(
    `is well-formed for a strict parser, empty or not${HAS_XML_PARSER ? '' : ' (no xmllint or python3 here)'}`,
    async () => {
      expect(xmlFaults(await atom())).toBe('');
      const none = await atom('--where', 'url = "https://nowhere.example/<&>"');
      expect(xmlFaults(none)).toBe('');
      expect(none).not.toContain('<entry>');
      expect(xmlFaults('<a>')).not.toBe('');
    },
  );

  it.skipIf(!HAS_FEEDPARSER)(
    `is understood by the library of feed readers${HAS_FEEDPARSER ? '' : ' (no python3-feedparser here)'}`,
    async () => {
      const feed = readAsFeedReader(await atom('--host', 'a.example'));
      expect(feed).toMatchObject({ bozo: false, version: 'atom10', title: 'Changes of a.example' });
      expect(feed.entries.map(({ link }) => link)).toEqual([
        'https://a.example/dropped',
        'https://a.example/back',
        'https://a.example/news',
        'https://a.example/?x=1&y=%3C',
      ]);
      expect(feed.entries[2]).toMatchObject({ title: 'Modified: Größe', updated: '2026-03-01T08:00:01.000Z' });
    },
  );
});
