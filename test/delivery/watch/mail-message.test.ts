import { expect, it } from 'vitest';
import { mailMessage } from '../../../src/delivery/watch/mail-message.ts';
import type { ReportedChange } from '../../../src/delivery/watch/receivers.ts';

const change = (url: string, summary: string): ReportedChange => ({
  ...{ seq: 1, kind: 'modified', url, target: null, title: null, at: '2026-03-01T08:00:00.000Z', distance: 12 },
  ...{ select: [], missing: '', problem: null, places: null, summary, diff: '[-12-]{+13+} EUR' },
});

function read(mail: string) {
  const [head = '', body = ''] = mail.split(/\n\n([\s\S]*)/);
  const words = head.replace(/\?=\n =\?utf-8\?B\?/g, '\n');
  const subject = /Subject: =\?utf-8\?B\?([\s\S]*?)\?=/.exec(words)?.[1] ?? '';
  const decoded = subject.split('\n').map((word) => Buffer.from(word, 'base64').toString());
  return { head, subject: decoded.join(''), text: Buffer.from(body, 'base64').toString() };
}

it('has the line and the difference of each change', () => {
  const mail = mailMessage('me@example.org', [
    change('https://a.example/x', 'changed: Lamp'),
    change('https://b.example/', 'gone'),
  ]);
  expect(mail).toContain('To: me@example.org\nSubject: 2 changes on a.example, b.example\n');
  expect(read(mail).text).toBe(
    'changed: Lamp\nhttps://a.example/x\n\n[-12-]{+13+} EUR\n\n\ngone\nhttps://b.example/\n\n[-12-]{+13+} EUR\n',
  );
});

it('a title in any script is one subject, and adds no header', () => {
  const title = `Lämpchen für Großmutter 新しいランプ\r\nBcc: all@example.org`;
  const mail = mailMessage('me@example.org', [change('https://a.example/', `changed: ${title}`)]);
  const { head, subject } = read(mail);
  expect(subject).toBe('a.example: changed: Lämpchen für Großmutter 新しいランプ Bcc: all@example.org');
  expect(head.split('\n').filter((line) => /^bcc/i.test(line))).toEqual([]);
  expect(head.split('\n').every((line) => line.length <= 90)).toBe(true);
  const plain = mailMessage('me@example.org', [change('https://a.example/', 'changed: x\nBcc: all@example.org')]);
  expect(plain).toContain('Subject: a.example: changed: x Bcc: all@example.org\n');
});
