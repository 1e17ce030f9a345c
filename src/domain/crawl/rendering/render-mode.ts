/** Which HTML pages are rendered: none, all, or bare ones to which rendering adds content. */
export const RENDER_MODES = ['never', 'always', 'auto'] as const;
export type RenderMode = (typeof RENDER_MODES)[number];
