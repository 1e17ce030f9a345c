/** What stands around an article: navigation, adverts, dates, related links; some of it new at each visit. */
import { intOf, oneOf, type Random } from '../harness/words.ts';
import { type Article, type Language, writtenParagraph } from './prose.ts';

/** Of a site, the same on all its pages. */
export interface Site {
  readonly language: Language;
  readonly name: string;
  readonly template: number;
  readonly nav: readonly string[];
  readonly footer: readonly string[];
}

/** Of one visit to a page. */
export interface Chrome {
  readonly author: string;
  /** As the site writes it, with what stands before it. */
  readonly date: string;
  readonly updated: string;
  readonly views: number;
  readonly comments: number;
  readonly ads: readonly string[];
  readonly related: readonly string[];
  readonly tags: readonly string[];
}

/** Parts drawn again at a visit; the others come from the page's own seed. */
export interface Fresh {
  readonly ads?: Random;
  readonly dates?: Random;
  readonly navigation?: Random;
}

const phrase = (language: Language, random: Random, least: number, most: number): string => {
  const text = language.written(Array.from({ length: intOf(random, least, most) }, () => language.word(random)));
  return text.replace(/[.。]$/, '');
};
const phrases = (language: Language, random: Random, count: number, least: number, most: number): string[] =>
  Array.from({ length: count }, () => phrase(language, random, least, most));

/** Half of them are whole sentences. */
const advertsOf = (language: Language, random: Random): string[] =>
  phrases(language, random, 6, 6, 20).map((text) =>
    random() < 0.5 ? text : `${text}${oneOf(random, language.lang === 'zh' ? ['。', '！'] : ['.', '!', '?'])}`,
  );

export const siteOf = (language: Language, template: number, random: Random): Site => ({
  language,
  name: phrase(language, random, 1, 2),
  template,
  nav: phrases(language, random, intOf(random, 6, 14), 1, 2),
  footer: phrases(language, random, intOf(random, 4, 10), 1, 3),
});

const MONTHS = 'January February March April May June July August September October November December'.split(' ');
const two = (value: number): string => String(value).padStart(2, '0');

/** One style a site. */
function dateOf(site: Site, random: Random): string {
  const [year, month, day] = [intOf(random, 2019, 2026), intOf(random, 1, 12), intOf(random, 1, 28)];
  const [hour, minute] = [intOf(random, 0, 23), intOf(random, 0, 59)];
  if (site.language.lang === 'zh') {
    return site.template % 2 === 0
      ? `${year}年${month}月${day}日 ${two(hour)}:${two(minute)}`
      : `${year}-${two(month)}-${two(day)} ${two(hour)}:${two(minute)}`;
  }
  const name = MONTHS[month - 1] as string;
  return [
    `${name} ${day}, ${year}`,
    `${day} ${name.slice(0, 3)} ${year}, ${two(hour)}:${two(minute)}`,
    `${year}-${two(month)}-${two(day)}`,
    `${name.slice(0, 3)} ${day}, ${year} at ${1 + (hour % 12)}:${two(minute)} ${hour < 12 ? 'am' : 'pm'}`,
    `${two(day)}.${two(month)}.${year}`,
    `${intOf(random, 2, 23)} hours ago`,
    `${two(month)}/${two(day)}/${year}`,
    `Updated ${two(hour)}:${two(minute)} GMT, ${name} ${day}, ${year}`,
  ][site.template % 8] as string;
}

/** `page`: draws what belongs to the page; `fresh`: what this visit has of its own. */
export function chromeOf(site: Site, page: Random, fresh: Fresh = {}): Chrome {
  const { language } = site;
  const date = dateOf(site, page);
  const own = {
    author: phrase(language, page, 2, 2),
    tags: phrases(language, page, intOf(page, 2, 5), 1, 2),
    views: intOf(page, 10, 90_000),
    comments: intOf(page, 0, 300),
    ads: advertsOf(language, page),
    related: phrases(language, page, 8, 5, 10),
  };
  const { ads, dates, navigation } = fresh;
  return {
    ...own,
    date: dates === undefined ? date : dateOf(site, dates),
    updated: dates === undefined ? date : dateOf(site, dates),
    views: dates === undefined ? own.views : intOf(dates, 10, 90_000),
    comments: dates === undefined ? own.comments : intOf(dates, 0, 300),
    ads: ads === undefined ? own.ads : advertsOf(language, ads),
    related: navigation === undefined ? own.related : phrases(language, navigation, 8, 5, 10),
  };
}

const links = (texts: readonly string[], tag = 'li'): string =>
  texts.map((text, i) => `<${tag}><a href="/${i}-${text.length}">${text}</a></${tag}>`).join('\n');
const bodyOf = (article: Article, mixed: readonly string[] = []): string =>
  article.paragraphs.map((each, i) => `<p>${writtenParagraph(article, each)}</p>\n${mixed[i] ?? ''}`).join('');

type Template = (site: Site, article: Article, chrome: Chrome) => string;

/** Ways in which sites put an article on a page. */
export const TEMPLATES: readonly Template[] = [
  (site, article, { author, date, ads, related, comments }) =>
    `<header><a href="/">${site.name}</a><nav><ul>${links(site.nav)}</ul></nav></header>
<main><article><h1>${article.title}</h1><p class="byline">By <a href="/a">${author}</a> <time>${date}</time> · ${comments} comments</p>
${bodyOf(article, ['', `<div class="ad"><a href="/ad">${ads[0]}</a></div>`])}</article></main>
<aside><h3>Related</h3><ul>${links(related)}</ul><div class="ad-slot">${ads[1]}</div></aside><footer>${links(site.footer, 'span')}</footer>`,
  (site, article, { author, date, ads, related, tags, views }) =>
    `<div id="header"><div class="logo">${site.name}</div><div class="menu"><ul>${links(site.nav)}</ul></div></div>
<div id="content"><div class="post hentry"><h2 class="entry-title">${article.title}</h2><div class="entry-meta">Posted on ${date} by ${author} | ${views} views</div>
<div class="entry-content">${bodyOf(article)}</div><div class="tags">Tags: ${links(tags, 'span')}</div></div></div>
<div id="sidebar"><div class="widget"><h3>Recent posts</h3><ul>${links(related)}</ul></div><div class="widget">${ads[0]}</div></div><div id="footer">${site.footer.join(' | ')}</div>`,
  (site, article, { author, date, ads, related }) =>
    `<div class="c1"><div class="c2">${links(site.nav, 'span')}</div><div class="c3"><div class="c4">${article.title}</div><div class="c5">${author}, ${date}</div>
<div class="c6">${article.paragraphs.map((each) => `<div>${writtenParagraph(article, each)}</div>`).join('\n')}</div></div>
<div class="c7"><div>${ads[0]}</div><div>${ads[1]}</div></div><div class="c8">${links(related, 'div')}</div><div class="c9">${site.footer.join(' ')}</div></div>`,
  (site, article, { author, date, ads, related }) =>
    `<table width="100%"><tr><td colspan="3"><b>${site.name}</b> ${links(site.nav, 'span')}</td></tr><tr><td width="150">${links(related, 'div')}</td>
<td><h1>${article.title}</h1><i>${author}, ${date}</i><br><br>${article.paragraphs.map((each) => writtenParagraph(article, each)).join('<br><br>\n')}</td>
<td width="160">${ads.slice(0, 3).join('<br>')}</td></tr><tr><td colspan="3">${site.footer.join(' - ')}</td></tr></table>`,
  (site, article, { author, date, ads, related, tags }) =>
    `<nav class="navbar">${links(site.nav, 'div')}</nav><div class="container"><div class="row"><div class="col-8"><h1>${article.title}</h1>
<div class="meta"><span>${date}</span> <span>${author}</span></div><div class="article-body">${bodyOf(article, ['', '', `<div class="related-inline"><strong>Read also</strong><ul>${links(related.slice(0, 3))}</ul></div>`, `<div class="advertisement">${ads[0]}</div>`])}</div>
<div class="share">Share on <a href="/f">Facebook</a> <a href="/t">Twitter</a></div><ul class="tag-list">${links(tags)}</ul></div>
<div class="col-4"><div class="promo">${ads[1]}</div><ul>${links(related.slice(3))}</ul></div></div></div><footer><p>© ${site.name}</p>${links(site.footer, 'span')}</footer>`,
  (site, article, { date, ads, related, author, comments }) =>
    `<div class="wrapper"><div class="top"><h1><a href="/">${site.name}</a></h1></div><section class="story"><h2>${article.title}</h2><p>${date}</p>
${bodyOf(article)}<p><em>${author}</em></p></section><section class="more"><h3>More stories</h3>${related.map((text) => `<div class="card"><h4><a href="/r">${text}</a></h4><p>${ads[0]}</p></div>`).join('')}</section>
<section id="comments"><h3>${comments} comments</h3></section><div class="bottom">${links(site.footer, 'span')}</div></div>`,
  (site, article, { date, ads, related, author }) =>
    `<div role="navigation">${links(site.nav, 'span')}</div><div role="main"><div class="breadcrumb">${links(site.nav.slice(0, 3), 'span')}</div><h1>${article.title}</h1>
<ul class="info"><li>${author}</li><li>${date}</li></ul>${bodyOf(article)}</div><div role="complementary"><p>${ads[2]}</p><ol>${links(related)}</ol></div><div role="contentinfo">${site.footer.join(', ')}</div>`,
  (site, article, { date, ads, related, author, views }) =>
    `<div class="page"><div class="banner">${ads[3]}</div><div class="masthead">${site.name}</div><div class="menu">${links(site.nav, 'span')}</div><div class="text">
<div class="headline">${article.title}</div><div class="date">${date}</div>${bodyOf(article)}<div class="author">${author}</div><div class="counter">Read ${views} times</div></div>
<div class="box"><div class="title">Popular</div>${links(related, 'div')}</div><div class="legal">${site.footer.join(' · ')}</div></div>`,
];

export function pageOf(site: Site, article: Article, chrome: Chrome): string {
  const template = TEMPLATES[site.template % TEMPLATES.length] as Template;
  return `<!doctype html><html lang="${site.language.lang}"><head><meta charset="utf-8"><title>${article.title} | ${site.name}</title></head><body>
${template(site, article, chrome)}
</body></html>`;
}
