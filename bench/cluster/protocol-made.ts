/** A plugin that answers for the hosts of the rehearsal, without a network. */
import type { FetchProtocol } from '../../src/core/ports/fetch-protocol.ts';
import { seeded } from '../harness/seeded.ts';
import { vocabularyOf, wordsOf } from '../harness/words.ts';

export const PAGES_OF_A_HOST = 2_000;
/** Links of a page: to known pages of its host, to those of other hosts, to a new one. */
const [OWN_LINKS, OTHER_LINKS] = [6, 3];
const WORDS = 150;
const VOCABULARY = vocabularyOf(1, 5_000, 3, 9);

/** A URL of 80 characters. */
export const madeUrl = (host: number, page: number): string =>
  `https://www.site${String(host).padStart(5, '0')}.example/section-${String(page % 13).padStart(2, '0')}` +
  `/article-with-some-words-${String(page).padStart(10, '0')}.html`;

function madePage(host: number, page: number): string {
  const random = seeded(host * PAGES_OF_A_HOST + page);
  const below = (count: number): number => Math.floor(random() * count);
  const links = [
    ...Array.from({ length: OWN_LINKS }, () => madeUrl(host, below(PAGES_OF_A_HOST))),
    ...Array.from({ length: OTHER_LINKS }, () => madeUrl(below(host + 1), below(PAGES_OF_A_HOST))),
    madeUrl(host, PAGES_OF_A_HOST + page),
  ].map((url) => `<a href="${url}">${wordsOf(random, VOCABULARY, 2)}</a>`);
  const title = wordsOf(random, VOCABULARY, 6);
  return `<html lang="en"><title>${title}</title><p>${wordsOf(random, VOCABULARY, WORDS)}</p>${links.join(' ')}</html>`;
}

const protocol: FetchProtocol = {
  schemes: ['http', 'https'],
  async exchange({ url, method, onHead, onSend }) {
    onSend?.();
    const [, host, page] = /site(\d+).*-(\d+)\.html$/.exec(url) ?? [];
    const head = {
      ...(page === undefined ? { status: 404, statusText: 'Not Found' } : { status: 200, statusText: 'OK' }),
      ...{ httpVersion: '1.1', headers: { 'content-type': 'text/html; charset=utf-8' } },
      ...{ rawHeaders: [], remoteAddress: null },
    };
    const isRead = onHead?.(head) !== 'drop' && method === 'GET' && page !== undefined;
    const body = isRead ? Buffer.from(madePage(Number(host), Number(page))) : null;
    const bytes = body?.length ?? 0;
    return { head, wireBody: body, body, truncated: false, bodyBytes: bytes, receivedBytes: bytes, ms: 0 };
  },
  close: async () => {},
};

export default { name: 'protocol-made', api: 1, setup: () => protocol };
