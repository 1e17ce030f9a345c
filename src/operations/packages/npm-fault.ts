import { CrawlError } from '../../domain/errors.ts';

/** What the codes of npm mean for the installation of a package with a pinned version and known digests. */
const MEANINGS: readonly (readonly [codes: RegExp, meaning: string])[] = [
  [
    /^(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ERR_SOCKET_TIMEOUT|EHOSTUNREACH|ENETUNREACH|EIDLETIMEOUT)$/,
    'npm does not reach its registry. Try again with a network; "npm config set registry URL" names a mirror',
  ],
  [/^ENOTCACHED$/, 'npm is set to work offline, and its cache has not all files. Try again with a network'],
  [/^(?:E404|ETARGET|ENOVERSIONS)$/, 'the registry of npm does not have it, or not a package that it needs'],
  [
    /^(?:E401|E403|ENEEDAUTH)$/,
    'the registry of npm refuses to give it. Check "npm config get registry" and its login',
  ],
  [/^EINTEGRITY$/, 'a file of the registry is not the one with which incrawl was tested. Nothing was installed'],
  [/^EBADENGINE$/, `it does not run on Node ${process.versions.node}`],
  [/CERT|SIGNED/, 'the registry of npm has a certificate that is not trusted; "npm config set cafile FILE" names one'],
];

/** The fault of an npm that ended with an error: its meaning where it is known, else its own last words. */
export function npmFault(output: string, exitCode: number | null, what: string): CrawlError {
  const lines = output.split('\n').flatMap((line) => /^npm (?:error|ERR!) (.*)/.exec(line)?.[1] ?? []);
  const code = lines.map((line) => /^code (\S+)$/.exec(line)?.[1]).find((each) => each !== undefined) ?? '';
  if (code === 'ENOSPC') return new CrawlError('disk-full', `no space left to install ${what}`);
  const meaning = MEANINGS.find(([codes]) => codes.test(code))?.[1];
  const words = lines.filter(
    (line) => !/^(?:\s|$|code |errno |syscall |A complete log |network (?:This|In) )/.test(line),
  );
  const detail = [code, ...words.slice(0, meaning === undefined ? 3 : 1)].filter((each) => each !== '').join(': ');
  const ending = detail === '' ? `npm ended with ${exitCode}` : `npm: ${detail}`;
  const text = meaning === undefined ? ending : `${meaning}. ${ending}`;
  return new CrawlError('install-failed', `${what} was not installed: ${text}`);
}
