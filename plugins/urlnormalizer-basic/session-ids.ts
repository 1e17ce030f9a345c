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

/**
 * In a path as well as in a query, whose parts some sites put a semicolon between: `;jsessionid=...` is unmistakable,
 * `;sid=...` is not.
 */
const MATRIX_PARAM = new RegExp(`;(_?(?:${CERTAIN}|sid))=([^;/?&]*)`, 'gi');
/** ASP.NET without cookies: `/(S(24 characters))/page.aspx`. */
const ASP_SEGMENT = /\/\((?:[A-Z]\([0-9a-z]{16,}\))+\)(?=\/)/gi;

/** A path or query without session ids of these two kinds, but for those whose names `isExempt`. */
export function withoutMatrixSessions(
  part: string,
  mode: 'tokens' | 'names',
  isExempt: (name: string) => boolean = () => false,
): string {
  let kept = part;
  if (kept.includes(';')) {
    kept = kept.replace(MATRIX_PARAM, (whole, name: string, value: string) =>
      isSessionParam(name, value, mode) && !isExempt(name.toLowerCase()) ? '' : whole,
    );
  }
  if (kept.includes('/(')) kept = kept.replace(ASP_SEGMENT, '');
  return kept;
}
