import {
  type CharacterSet,
  CLASS_ESCAPES,
  complementOf,
  foldCase,
  NO_CHARACTER,
  ofCode,
  ofRange,
} from './character-set.ts';

/** A regular expression as far as the guard against backtracking needs it. */
export type Pattern =
  | { readonly kind: 'character'; readonly set: CharacterSet }
  | { readonly kind: 'sequence'; readonly items: readonly Pattern[] }
  | { readonly kind: 'choice'; readonly options: readonly Pattern[] }
  | { readonly kind: 'repeat'; readonly body: Pattern; readonly min: number; readonly max: number }
  | { readonly kind: 'group'; readonly index: number; readonly body: Pattern }
  | { readonly kind: 'reference'; readonly to: Pattern }
  | { readonly kind: 'look'; readonly body: Pattern }
  | { readonly kind: 'start' }
  /** `$`, `\b`, `\B`: consumes nothing. */
  | { readonly kind: 'edge' };

const EMPTY: Pattern = { kind: 'sequence', items: [] };

/**
 * Reads the source of a regular expression that the engine has accepted (without the `u` and `v` flags). Throws a
 * `SyntaxError` for escapes that other engines know and JavaScript silently takes for plain letters.
 */
export function readPattern(source: string, ignoreCase: boolean): Pattern {
  return new PatternReader(source, ignoreCase).read();
}

class PatternReader {
  private readonly source: string;
  private readonly ignoreCase: boolean;
  private readonly groups = new Map<string, Pattern>();
  private groupCount = 0;
  private at = 0;

  constructor(source: string, ignoreCase: boolean) {
    this.source = source;
    this.ignoreCase = ignoreCase;
  }

  read(): Pattern {
    return this.choice();
  }

  private choice(): Pattern {
    const options = [this.sequence()];
    while (this.skip('|')) options.push(this.sequence());
    return options.length === 1 ? options[0]! : { kind: 'choice', options };
  }

  private sequence(): Pattern {
    const items: Pattern[] = [];
    while (this.at < this.source.length && this.source[this.at] !== '|' && this.source[this.at] !== ')') {
      items.push(this.repeat(this.atom()));
    }
    return items.length === 1 ? items[0]! : { kind: 'sequence', items };
  }

  private repeat(body: Pattern): Pattern {
    const quantifier = /^(?:([*+?])|\{(\d+)(,(\d*))?\})\??/.exec(this.source.slice(this.at));
    if (quantifier === null) return body;
    this.at += quantifier[0].length;
    const [, sign, from, comma, to] = quantifier;
    if (sign !== undefined)
      return { kind: 'repeat', body, min: sign === '+' ? 1 : 0, max: sign === '?' ? 1 : Infinity };
    const min = Number(from);
    return { kind: 'repeat', body, min, max: comma === undefined ? min : to ? Number(to) : Infinity };
  }

  private atom(): Pattern {
    const character = this.source[this.at++]!;
    switch (character) {
      case '^':
        return { kind: 'start' };
      case '$':
        return { kind: 'edge' };
      case '(':
        return this.group();
      case '[':
        return this.characterClass();
      case '\\':
        return this.escape();
      case '.':
        return this.character(complementOf(ofCode(10) | ofCode(13)));
      default:
        return this.character(ofCode(character.charCodeAt(0)));
    }
  }

  private group(): Pattern {
    const opening = /^\?(?:(:)|(<?[=!])|<([^>]*)>)/.exec(this.source.slice(this.at));
    if (opening === null && this.source[this.at] === '?') {
      throw new SyntaxError('flags for a part, as in (?i:...), are not supported; (?i) may stand at the beginning');
    }
    this.at += opening?.[0].length ?? 0;
    const [, plain, look, name] = opening ?? [];
    const index = plain === undefined && look === undefined ? ++this.groupCount : 0;
    const body = this.choice();
    this.skip(')');
    if (look !== undefined) return { kind: 'look', body };
    if (index === 0) return body;
    this.groups.set(String(index), body);
    if (name !== undefined) this.groups.set(name, body);
    return { kind: 'group', index, body };
  }

  private escape(): Pattern {
    const reference = /^(?:([1-9]\d*)|k<([^>]*)>)/.exec(this.source.slice(this.at));
    if (reference !== null) {
      this.at += reference[0].length;
      return { kind: 'reference', to: this.groups.get(reference[1] ?? reference[2] ?? '') ?? EMPTY };
    }
    if (this.skip('b') || this.skip('B')) return { kind: 'edge' };
    return this.character(this.escapedSet());
  }

  /** After the backslash, in a class or outside. */
  private escapedSet(): CharacterSet {
    const letter = this.source[this.at++]!;
    const classSet = CLASS_ESCAPES.get(letter);
    if (classSet !== undefined) return classSet;
    const code = /^(?:x([0-9a-f]{2})|u([0-9a-f]{4}))/i.exec(this.source.slice(this.at - 1));
    if (code !== null) {
      this.at += code[0].length - 1;
      return ofCode(Number.parseInt(code[1] ?? code[2]!, 16));
    }
    const control = CONTROL_ESCAPES.get(letter);
    if (control !== undefined) return ofCode(control);
    if (/[a-z]/i.test(letter)) throw new SyntaxError(`\\${letter} has no meaning here${hintFor(letter)}`);
    return ofCode(letter.charCodeAt(0));
  }

  private characterClass(): Pattern {
    const negated = this.skip('^');
    let set = NO_CHARACTER;
    while (!this.skip(']')) {
      const start = this.at;
      const first = this.classMember();
      const isRange = this.source[this.at] === '-' && this.source[this.at + 1] !== ']';
      if (!isRange) {
        set |= first;
        continue;
      }
      this.at++;
      const last = this.classMember();
      const [from, to] = [codeOf(first), codeOf(last)];
      set |= from >= 0 && to >= 0 ? ofRange(from, to) : first | last | ofCode(45);
      if (this.at <= start) break;
    }
    const folded = this.ignoreCase ? foldCase(set) : set;
    return { kind: 'character', set: negated ? complementOf(folded) : folded };
  }

  private classMember(): CharacterSet {
    const character = this.source[this.at++] ?? ']';
    if (character !== '\\') return ofCode(character.charCodeAt(0));
    if (this.skip('b')) return ofCode(8);
    return this.skip('-') ? ofCode(45) : this.escapedSet();
  }

  private character(set: CharacterSet): Pattern {
    return { kind: 'character', set: this.ignoreCase ? foldCase(set) : set };
  }

  private skip(text: string): boolean {
    if (!this.source.startsWith(text, this.at)) return false;
    this.at += text.length;
    return true;
  }
}

const CONTROL_ESCAPES: ReadonlyMap<string, number> = new Map([
  ['t', 9],
  ['n', 10],
  ['v', 11],
  ['f', 12],
  ['r', 13],
  ['0', 0],
]);

function hintFor(letter: string): string {
  if (letter === 'A') return '; write ^ for the beginning';
  if (letter === 'z' || letter === 'Z') return '; write $ for the end';
  return letter === 'Q' || letter === 'E' ? '; put a backslash before each special character' : '';
}

/** The code of a set of one character, -1 for any other. */
function codeOf(set: CharacterSet): number {
  return set !== 0n && (set & (set - 1n)) === 0n ? set.toString(2).length - 1 : -1;
}
