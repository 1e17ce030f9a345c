interface MailedChange {
  readonly url: string;
  /** In one line. */
  readonly summary: string;
  /** Words removed and added; may be empty. */
  readonly diff: string;
}

/** Longest line of base64 in a mail (RFC 2045). */
const LINE_CHARS = 76;
/** Bytes in an encoded word, which may have 75 characters (RFC 2047). */
const WORD_BYTES = 42;
const MOST_SUBJECT_CHARS = 120;

/** A mail about some changes, as `sendmail -t` reads it. */
export function mailMessage(to: string, changes: readonly MailedChange[]): string {
  const body = changes.map(({ url, summary, diff }) => [summary, url, ...(diff === '' ? [] : ['', diff])].join('\n'));
  const base64 = Buffer.from(`${body.join('\n\n\n')}\n`).toString('base64');
  const lines = base64.match(new RegExp(`.{1,${LINE_CHARS}}`, 'g')) ?? [];
  return `${[
    `To: ${to}`,
    `Subject: ${encodedWords(subjectOf(changes))}`,
    'MIME-Version: 1.0',
    'Content-Type: text/plain; charset=utf-8',
    'Content-Transfer-Encoding: base64',
    'Auto-Submitted: auto-generated',
    '',
    ...lines,
  ].join('\n')}\n`;
}

function subjectOf(changes: readonly MailedChange[]): string {
  const [first] = changes;
  if (changes.length === 1 && first !== undefined) return `${hostOf(first.url)}: ${first.summary}`;
  const hosts = [...new Set(changes.map(({ url }) => hostOf(url)))];
  return `${changes.length} changes on ${hosts.slice(0, 3).join(', ')}${hosts.length > 3 ? ', ..' : ''}`;
}

const hostOf = (url: string): string => new URL(url).host;

/** A header field of any text: titles are of strangers, and no line end of theirs may begin another field. */
function encodedWords(text: string): string {
  const line = text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').slice(0, MOST_SUBJECT_CHARS);
  if (/^[\x20-\x7e]*$/.test(line)) return line;
  const words: string[] = [''];
  for (const char of line) {
    if (Buffer.byteLength(`${words.at(-1)}${char}`) > WORD_BYTES) words.push('');
    words[words.length - 1] += char;
  }
  return words.map((word) => `=?utf-8?B?${Buffer.from(word).toString('base64')}?=`).join('\n ');
}
