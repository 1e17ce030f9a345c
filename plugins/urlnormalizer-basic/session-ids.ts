/** Names that stand for a session and nothing else. */
const CERTAIN = '(?:j|l|php|bv_|asp|web)?_?sess(?:ion)?_?id|aspsessionid[a-z]*|zenid|oscsid|cftoken';
/** Names that may as well stand for a story or a section. */
const AMBIGUOUS = '(?:l|j|bv_)?sid|cfid|sess';

const CERTAIN_NAME = new RegExp(`^_?(?:${CERTAIN})$`, 'i');
const ANY_NAME = new RegExp(`^_?(?:${CERTAIN}|${AMBIGUOUS})$`, 'i');

/** At least 16 characters with both letters and digits: made by a machine. */
const TOKEN = /^(?=.*\d)(?=.*[a-z])[\w.~-]{16,}$/i;

/** Whether a query parameter is a session id. */
export function isSessionParam(name: string, value: string, mode: 'tokens' | 'names'): boolean {
  if (name.length < 3 || !ANY_NAME.test(name)) return false;
  return mode === 'names' || CERTAIN_NAME.test(name) || TOKEN.test(value);
}

/** `;jsessionid=...` is unmistakable, in a path as well as behind a query; a bare `;sid=` is taken for one too. */
const MATRIX_PARAM = new RegExp(`;_?(?:${CERTAIN}|sid)=[^;/?&]*`, 'gi');
/** ASP.NET without cookies: `/(S(24 characters))/page.aspx`. */
const ASP_SEGMENT = /\/\((?:[A-Z]\([0-9a-z]{16,}\))+\)(?=\/)/gi;

/** A path or query without session ids of these two kinds. */
export function withoutMatrixSessions(part: string): string {
  let kept = part;
  if (kept.includes(';')) kept = kept.replace(MATRIX_PARAM, '');
  if (kept.includes('/(')) kept = kept.replace(ASP_SEGMENT, '');
  return kept;
}
