/** A reference page: Markdown in `docs/reference`, and text from `incrawl help TOPIC`. */
export interface ReferencePage {
  readonly title: string;
  readonly intro: string;
  readonly parts: readonly ReferencePart[];
}

export interface ReferencePart {
  readonly heading: string;
  readonly prose?: string;
  readonly columns?: readonly string[];
  readonly rows?: readonly (readonly string[])[];
  /** Shown verbatim. */
  readonly code?: string;
}

export function asMarkdown(page: ReferencePage): string {
  const parts = page.parts.map((part) =>
    [
      ...(part.heading === '' ? [] : [`## ${part.heading}`]),
      ...(part.prose === undefined ? [] : [escaped(part.prose)]),
      ...(part.rows === undefined || part.rows.length === 0 ? [] : [tableOf(part.columns ?? [], part.rows)]),
      ...(part.code === undefined ? [] : [indented(part.code, '    ')]),
    ].join('\n\n'),
  );
  return `${[`# ${page.title}`, escaped(page.intro), ...parts].join('\n\n')}\n`;
}

/** The page for a terminal. */
export function asText(page: ReferencePage, bold: (text: string) => string): string {
  const parts = page.parts.map((part) =>
    [
      ...(part.heading === '' ? [] : [bold(part.heading)]),
      ...(part.prose === undefined ? [] : [`  ${part.prose}`]),
      ...(part.rows ?? []).map(([first = '', ...rest]) => {
        const facts = rest.slice(0, -1).filter((fact) => fact !== '');
        const prose = rest.at(-1) ?? '';
        return `  ${first}${facts.length === 0 ? '' : `  (${facts.join('; ')})`}\n      ${prose}`;
      }),
      ...(part.code === undefined ? [] : [indented(part.code, '  ')]),
    ].join('\n'),
  );
  return `${[bold(page.title), page.intro, ...parts].join('\n\n')}\n`;
}

function tableOf(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const body = rows.map((row) =>
    line(row.map((cell, i) => (i === 0 && cell !== '' ? `\`${cell.replaceAll('|', '\\|')}\`` : escaped(cell)))),
  );
  return [line(columns), line(columns.map(() => '---')), ...body].join('\n');
}

const indented = (text: string, by: string): string =>
  text
    .split('\n')
    .map((each) => (each === '' ? '' : by + each))
    .join('\n');

const escaped = (text: string): string => text.replace(/[|<>*]/g, '\\$&');
