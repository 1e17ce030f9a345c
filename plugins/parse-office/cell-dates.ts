import { readXml } from './read-xml.ts';

export interface CellStyles {
  /** Whether cells of a style show dates or times. */
  isDate(style: number): boolean;
}

/** Formats with fixed numbers that are dates or times (ECMA-376, part 1, 18.8.30). */
const isBuiltInDate = (format: number): boolean =>
  (format >= 14 && format <= 22) ||
  (format >= 27 && format <= 36) ||
  (format >= 45 && format <= 47) ||
  (format >= 50 && format <= 58);

export function cellStyles(bytes: Buffer | null): CellStyles {
  const dates = new Set<number>();
  const formats: number[] = [];
  let isCellStyle = false;
  if (bytes !== null) {
    readXml(bytes, {
      open: (name, { numFmtId = '', formatCode = '' }) => {
        if (name === 'cellXfs') isCellStyle = true;
        else if (name === 'numFmt' && isDateFormat(formatCode)) dates.add(Number(numFmtId));
        else if (name === 'xf' && isCellStyle) formats.push(Number(numFmtId));
      },
      close: (name) => {
        if (name === 'cellXfs') isCellStyle = false;
      },
    });
  }
  return {
    isDate: (style) => {
      const format = formats[style];
      return format !== undefined && (isBuiltInDate(format) || dates.has(format));
    },
  };
}

/** Letters of dates and times outside of quotations, conditions and colours. */
const isDateFormat = (code: string): boolean => /[ymdhs]/i.test(code.replaceAll(/"[^"]*"|\[[^\]]*\]|\\./g, ''));

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
/** Day 0: 1900 is taken for a leap year, so that only days from March 1900 on are right. */
const EPOCH_1900 = Date.UTC(1899, 11, 30);
const EPOCH_1904 = Date.UTC(1904, 0, 1);

/** A date, or a date and time, as ISO 8601 has it; `null`: it is out of range, or a time of day alone. */
export function serialDate(serial: number, is1904: boolean): string | null {
  if (!(serial >= 1 && serial < 2_958_466)) return null;
  const ms = (is1904 ? EPOCH_1904 : EPOCH_1900) + Math.round((serial * DAY_MS) / MINUTE_MS) * MINUTE_MS;
  const [date, time] = new Date(ms).toISOString().split('T') as [string, string];
  return Number.isInteger(serial) ? date : `${date} ${time.slice(0, 5)}`;
}
