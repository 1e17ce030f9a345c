// http/exchange/: one request and its response, by got.

import { CrawlError } from '../../core/domain/errors.ts';

/** A URL without credentials and fragment, neither of which is sent. Throws `CrawlError('url-invalid')`. */
export function bareUrl(text: string): URL {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw new CrawlError('url-invalid', `"${text}" is not an absolute URL`);
  }
  if (url.username !== '') url.username = '';
  if (url.password !== '') url.password = '';
  if (url.href.includes('#')) url.hash = '';
  return url;
}
