const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

const decoded = (text: string): string =>
  text.replace(/&(?:#(\d+)|#x([0-9a-f]+)|(amp|lt|gt|quot|apos));/gi, (whole, decimal, hex, name) => {
    const code = Number.parseInt(decimal ?? hex, decimal === undefined ? 16 : 10);
    return name === undefined
      ? code <= 0x10ffff
        ? String.fromCodePoint(code)
        : whole
      : (NAMED[name.toLowerCase()] ?? whole);
  });

/** Attributes of a tag, by name in lower case. */
function attributesOf(tag: string): ReadonlyMap<string, string> {
  const found = tag.matchAll(/([^\s"'<>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?/g);
  return new Map([...found].map(([, name = '', a, b, c]) => [name.toLowerCase(), decoded(a ?? b ?? c ?? '')] as const));
}

interface Form {
  readonly attributes: ReadonlyMap<string, string>;
  readonly inputs: readonly ReadonlyMap<string, string>[];
}

const formsIn = (html: string): Form[] =>
  [...html.matchAll(/<form\b([^>]*)>([\s\S]*?)<\/form>/gi)].map(([, head = '', body = '']) => ({
    attributes: attributesOf(head),
    inputs: [...body.matchAll(/<input\b([^>]*)>/gi)].map(([, tag = '']) => attributesOf(tag)),
  }));

const hasField = ({ inputs }: Form, name: string): boolean => inputs.some((input) => input.get('name') === name);

/** Whether a page has a form with a field of this name. */
export const hasForm = (html: string, name: string): boolean => formsIn(html).some((form) => hasField(form, name));

/** The form that has all fields of `values`, filled in; hidden fields, such as a token against forgery, stay. */
export function fillIn(
  html: string,
  page: URL,
  values: Readonly<Record<string, string>>,
): { readonly action: URL; readonly fields: URLSearchParams } | null {
  const form = formsIn(html).find((each) => Object.keys(values).every((name) => hasField(each, name)));
  const action = form?.attributes.get('action') || page.href;
  if (form === undefined || !URL.canParse(action, page.href)) return null;
  const target = new URL(action, page);
  // The password goes to the site of the login page alone.
  if (target.origin !== page.origin) return null;
  const hidden = form.inputs.filter((input) => input.get('type')?.toLowerCase() === 'hidden' && input.has('name'));
  const kept = hidden.map((input): [string, string] => [input.get('name') ?? '', input.get('value') ?? '']);
  return { action: target, fields: new URLSearchParams([...kept, ...Object.entries(values)]) };
}
