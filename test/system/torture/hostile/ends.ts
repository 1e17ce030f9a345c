import { ERRORS } from '../../../../src/core/domain/errors.ts';

/** What `readdb` gives of a URL, as far as it is looked at. */
export interface VisitedUrl {
  readonly url: string;
  readonly state: string;
  readonly lastError: { readonly code: string; readonly message: string } | null;
}

/** The class of a visit, as the tables of behaviours name it. */
export function endOf(record: VisitedUrl | undefined): string {
  if (record === undefined) return 'no record';
  const { state, lastError } = record;
  if (lastError !== null) return lastError.code;
  if (state === 'unfetched') return 'waits';
  if (state.startsWith('redir_')) return 'moved';
  return state === 'notmodified' ? 'fetched' : state;
}

/** Errors that no record may have: of the program, of no name, or without a reason. */
export function wrongsOf(records: readonly VisitedUrl[]): string[] {
  return records.flatMap(({ url, lastError }) => {
    if (lastError === null) return [];
    const { code, message } = lastError;
    if (code === 'internal') return [`${url}: an internal error: ${message}`];
    if (!(code in ERRORS)) return [`${url}: no error has the code ${code}`];
    return message.trim() === '' ? [`${url}: ${code} without a reason`] : [];
  });
}
