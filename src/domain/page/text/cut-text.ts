/**
 * The first `length` units of a text, one less where that would cut a character in two: half of one is no text, and no
 * UTF-8.
 */
export function cutText(text: string, length: number): string {
  if (text.length <= length) return text;
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length);
}
