import { readXml } from './read-xml.ts';

export interface HeadingStyles {
  /** Level of the headings of a style, 1 to 9; 0: it is none of a heading. */
  levelOf(styleId: string): number;
}

interface Style {
  name: string;
  basedOn: string | null;
  /** Outline level, from 0; `null`: it says none. */
  outline: number | null;
}

/** Styles may be based on each other in a circle. */
const MAX_STEPS = 16;

/** Which styles of a WordprocessingML document are headings: by their outline level, or by the names of Word. */
export function headingStyles(bytes: Buffer | null): HeadingStyles {
  const styles = new Map<string, Style>();
  let open: Style | null = null;
  if (bytes !== null) {
    readXml(bytes, {
      open: (name, attributes) => {
        const value = attributes['w:val'] ?? '';
        if (name === 'style') {
          open = { name: '', basedOn: null, outline: null };
          styles.set(attributes['w:styleId'] ?? '', open);
        } else if (open === null) return;
        else if (name === 'name') open.name = value;
        else if (name === 'basedOn') open.basedOn = value;
        else if (name === 'outlineLvl') open.outline = Number(value);
      },
      close: (name) => {
        if (name === 'style') open = null;
      },
    });
  }
  return {
    levelOf: (styleId) => {
      let at: string | null = styleId;
      for (let step = 0; at !== null && step < MAX_STEPS; step++) {
        const style = styles.get(at);
        const level = levelOfName(style?.name ?? at);
        if (style?.outline !== null && style?.outline !== undefined) return style.outline <= 8 ? style.outline + 1 : 0;
        if (level > 0) return level;
        at = style?.basedOn ?? null;
      }
      return 0;
    },
  };
}

function levelOfName(name: string): number {
  if (/^title$/i.test(name)) return 1;
  return Number(/^heading\s?([1-9])$/i.exec(name)?.[1] ?? 0);
}
