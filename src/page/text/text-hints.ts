/**
 * Hints from short texts that belong to the page and not to its content: labels in the languages of many pages. Most
 * texts, and all in other languages, give no hint.
 */
export const TAIL = 1;
export const ACTION = 1 << 1;
export const IMPRINT = 1 << 2;
export const CREDIT = 1 << 3;
export const PRICE = 1 << 4;

/** Beginnings of texts, separated by bars. One that ends in a space must end a word. */
const BEGINNINGS: readonly (readonly [number, string])[] = [
  // Labels of parts about other pages, the author or the readers.
  [
    TAIL,
    "related|you may also|you might also|you may like|you might like|you’ll also|you'll also|more from|more in |more on |more stories|more news|more articles|more like this|more to explore|read more|read next|read also|read full|see also|see more|also read|also see|also on |recommended|share this|share your story|latest news|latest posts|latest articles|latest stories|recent posts|recent articles|recently viewed|popular |trending|most read|most popular|most viewed|comments|comment |leave a reply|leave a comment|about the author|written by|tags |tag |tagged|filed under|categories|newsletter|subscribe|follow us|sign up|advertisement|sponsored|customers also|frequently bought|explore more|explore related|what to read|up next|next article|next post|next story|previous article|previous post|previous story|sources |references |citations |footnotes |article sources|editor’s picks|editor's picks|editors’ picks|don’t miss|don't miss|join our|get the latest|stay informed|stay connected|stay up to date|your recently|similar |still have questions|was this page|was this article|was this helpful|in this article",
  ],
  [
    TAIL,
    '相关|相關|推荐|推薦|热门|熱門|热点|排行|最新|图片新闻|评论|評論|更多|延伸阅读|延伸閱讀|分享|责任编辑|責任編輯|责编|编辑：|编辑:|關鍵|关键词|关键字|标签|標籤|网友|發表評論|发表评论|我要评论|上一篇|下一篇|上一页|下一页|上一条|下一条|版权|版權|免责|免責|声明|扫描|扫一扫|掃描|猜你喜欢|大家都在|精彩|特别声明|本文来源|原标题|来源：|阅读原文|返回|打开app|関連|おすすめ|人気|コメント|シェア|あわせて読みたい|前の記事|次の記事|ランキング|アクセスランキング|よく読まれ|新着|最新|関連記事|관련|댓글|인기|추천|공유|많이 본',
  ],
  [
    TAIL,
    'verwandte|ähnliche|mehr zum|mehr aus|mehr von|das könnte|auch interessant|lesen sie|weitere artikel|weitere themen|kommentare|teilen |anzeige |meistgelesen|zur startseite|à lire|lire aussi|sur le même|partager|commentaires|réagir|articles liés|articles similaires|articles récents|voir aussi|les plus lus|abonnez|publicité|te puede|también te|lee también|leia também|leia mais|noticias relacionad|notícias relacionad|artículos relacionad|artigos relacionad|relacionad|compart|comentarios|comentários|más leíd|más noticias|más información|mais lid|publicid|suscríb|veja também|leggi anche|condividi|commenti|articoli correlati|potrebbe interessar|pubblicità|читайте также|похожие|по теме|ещё |еще |комментари|поделиться|подпис|реклама|теги|популярн|самое читаемое|другие новости|новости по теме|материалы по теме|новости партн|последние новости|смотрите также|смотри также|оставить комментарий|добавить комментарий|ваш комментарий|обсужд|отзывы|czytaj|zobacz|komentarz|dodaj komentarz|skomentuj|wasze komentarze|opinie|powiązane|udostępnij|podobne|polecamy|reklama|najczęściej|tagi|διαβάστε|δείτε|σχετικ|σχόλια|σχολιάστε|προσθήκη σχολ|κοινοπ|διαφήμιση|δημοφιλ|اقرأ أيضا|مواضيع|ذات صلة|الأكثر|التعليقات|شارك|المزيد|etiketler|ilgili|yorumlar|lees ook|lees meer|reacties|gerelateerd|les også|læs også|les mer|læs mere|läs också|läs även|läs mer|kommentarer|relaterade|lue myös|aiheesta|kommentit|čtěte|čítajte|související|súvisiace|diskuse|diskusia|přečtěte|baca juga|terkait|komentar|olvassa|kapcsolódó|citește|citiți|vezi și|прочетете|вижте|читайте|дивіться|пов’язані|коментар|यह भी|ये भी|इसे भी|संबंधित|또한|관련기사',
  ],
  // Actions of a reader, and words of a shop.
  [
    ACTION,
    'learn |read |view |see |show |load |shop |buy |add |get |try |start |sign |log |join |download|watch |play |click|go |back |next |previous |continue|order |book |find |explore |discover |browse |compare|select |choose |close|open |copy |print |reply|report |save |edit |share|tweet|filter|sort |reset|apply|clear |skip |toggle|menu|search|quick |out of |in stock|sold |available|free |loading|contact |submit|register|login|accept|manage |visit |check |request|call |hide |expand|collapse|result |results |qty|quantity|color |size ',
  ],
  [
    ACTION,
    '更多|查看|点击|點擊|登录|登入|注册|下载|购买|加入|返回|展开|收起|订阅|关注|收藏|打印|复制|举报|回复|首页|もっと|続き|詳細|더보기|mehr |weiter|zum |en savoir|voir |lire |ver |leer |saiba|scopri|leggi |подробнее|читать|więcej|περισσότερα|المزيد',
  ],
  [
    IMPRINT,
    'copyright|all rights|reproduction |no part of|unauthorized|privacy|terms of|terms and|terms &|cookie|版权所有|版權所有|许可证|許可|举报电话|备案|alle rechte|impressum|datenschutz|tous droits|mentions légales|derechos reservados|todos los derechos|todos os direitos|diritti riservati|tutti i diritti|все права|при использовании|при перепечатке|при цитировании|при полном|перепечатка|использование материал|копирование|свидетельство о рег|администрация |wszelkie prawa|wszystkie prawa|żadna część|żaden utwór|kopiowanie|απαγορεύεται|未经|凡本网|本网|转载|無断|حقوق|reproduktion|vervielfältigung',
  ],
  [
    CREDIT,
    'by |posted|published|updated|last updated|last modified|written|reviewed|edited|author|date |photo|image |image:|credit|source |来源|來源|作者|记者|記者|编辑|編輯|责任|责编|发布|發布|时间|時間|日期|文/|文：|图/|图：|von |par |publié|veröffentlicht|stand:|por |publicado|di |pubblicato|автор|фото|опубликовано|autor|data |του |της |기자|입력',
  ],
];
/** A date as it begins in many languages, or a reading time. */
const DATES =
  /^(?:(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.? \d{1,2}\b|\d{1,2}\.? (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)|\d{1,4}[-/.年]\s?\d{1,2}[-/.月]\s?\d{1,4}|\d+ min)/i;
const PRICES = /[$€£¥￥₹₽₩]\s?\d|\d\s?(?:€|zł|kr\b|руб|₽|元|円|원|usd|eur)/i;

const LABEL_WIDTH = 40;
const CREDIT_WIDTH = 120;
/** No wider text has hints: imprints of some sites are paragraphs. */
export const IMPRINT_WIDTH = 1_200;
const LONGEST = 30;

interface Beginning {
  readonly text: string;
  readonly isWord: boolean;
  readonly hint: number;
}

/** By the first two characters as they may be written. */
const BY_START: ReadonlyMap<number, readonly Beginning[]> = beginnings();

function beginnings(): ReadonlyMap<number, readonly Beginning[]> {
  const found = new Map<number, Beginning[]>();
  for (const [hint, list] of BEGINNINGS) {
    for (const each of list.split('|')) {
      const text = each.trimEnd();
      const upper = text.toUpperCase();
      const starts = [text, upper, `${upper[0]}${text.slice(1)}`, `${text[0]}${upper.slice(1)}`].map(startOf);
      for (const key of new Set(starts)) {
        const known = found.get(key) ?? [];
        known.push({ text, isWord: text !== each, hint });
        found.set(key, known);
      }
    }
  }
  return found;
}

function startOf(text: string): number {
  return (text.charCodeAt(0) << 16) | text.charCodeAt(1);
}

const LETTER = /\p{L}/u;

/** Whether an ASCII text with these first two characters may have hints. */
export const mayHint = (first: number, second: number, width: number, digits: number): boolean =>
  width <= CREDIT_WIDTH && (BY_START.has((first << 16) | second) || (width <= LABEL_WIDTH && digits > 0));

export interface TextSize {
  /** Visual width: a Chinese or Japanese character counts as three letters. */
  readonly width: number;
  readonly digits: number;
}

export function textHints(text: string, { width, digits }: TextSize): number {
  if (width > IMPRINT_WIDTH) return 0;
  let hints = text.includes('©') ? IMPRINT : 0;
  if (text.length < 2) return hints;
  const known = BY_START.get(startOf(text));
  if (known !== undefined) hints |= beginningHints(text.slice(0, LONGEST).toLowerCase(), known);
  if (width > CREDIT_WIDTH) return hints & IMPRINT;
  if (width > LABEL_WIDTH) return hints & ~ACTION;
  if (digits > 0) {
    if (DATES.test(text)) hints |= CREDIT;
    if (PRICES.test(text)) hints |= PRICE;
  }
  return hints;
}

function beginningHints(start: string, known: readonly Beginning[]): number {
  let hints = 0;
  for (const { text, isWord, hint } of known) {
    if (!start.startsWith(text)) continue;
    if (isWord && start.length > text.length && LETTER.test(start[text.length]!)) continue;
    hints |= hint;
  }
  return hints;
}
