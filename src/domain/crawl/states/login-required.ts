import type { FetchFailed, FetchOutcome, FetchRedirect, FetchSuccess } from './outcome.ts';

const LOGIN_REQUIRED = 'login-required';

/** Visits that met a login page in place of their page, of these reasons of failures. */
export const loginsMet = (failures: readonly { readonly code: string; readonly visits: number }[]): number =>
  failures.reduce((sum, { code, visits }) => (code === LOGIN_REQUIRED ? sum + visits : sum), 0);

/** Whether a visit has met one. */
export const hasMetLogin = (outcome: FetchOutcome): boolean =>
  outcome.kind === 'failed' && outcome.code === LOGIN_REQUIRED;

/** An answer that was the login page in place of the page, as a failure: what is known of the page stays. */
export function asLoginRequired(answer: FetchSuccess | FetchRedirect, login: string): FetchFailed {
  const { at, requests, bodyBytes, receivedBytes, ms, status } = answer;
  const message = `answered as its login page ${login.slice(0, 200)}`;
  const costs = { at, requests, bodyBytes, receivedBytes, ms };
  return { kind: 'failed', code: LOGIN_REQUIRED, message, status, retryAt: null, ...costs };
}
