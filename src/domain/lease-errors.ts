import { CrawlError } from './errors.ts';

/** The error for a batch whose token is not the newest. */
export function tokenIsOld(): CrawlError {
  return new CrawlError(
    'lease-lost',
    'another process has taken the write lease of the crawl db, since this one sent no heartbeat for too long; ' +
      'nothing was written',
  );
}

/** The error for a batch without a token. */
export function readingOnly(): CrawlError {
  return new CrawlError('db-locked', 'the crawl db was opened for reading only; writing needs the write lease');
}

/** The error of a server whose rows of a name lie on another one. */
export class MovedError extends CrawlError {
  /** The name. */
  readonly of: string;
  /** Server that has them, as `ServerMap` names it. */
  readonly to: string;
  /** Token under which they arrived there. */
  readonly token: string;

  constructor(name: string, { to, token }: { readonly to: string; readonly token: string }) {
    super('db-moved', `the crawl db "${name}" lies on another server now: ${to === '' ? 'that of cluster.store' : to}`);
    this.of = name;
    this.to = to;
    this.token = token;
  }
}
