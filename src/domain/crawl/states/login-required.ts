import type { FetchFailed, FetchRedirect, FetchSuccess } from './outcome.ts';

/** An answer that was the login page in place of the page, as a failure: what is known of the page stays. */
export function asLoginRequired(answer: FetchSuccess | FetchRedirect, login: string): FetchFailed {
  const { at, requests, bodyBytes, receivedBytes, ms, status } = answer;
  const message = `answered as its login page ${login.slice(0, 200)}`;
  const costs = { at, requests, bodyBytes, receivedBytes, ms };
  return { kind: 'failed', code: 'login-required', message, status, retryAt: null, ...costs };
}
