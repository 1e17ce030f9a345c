/**
 * The rules in force when the options name no file; `conf/url-rules.txt` holds the same text for operators to change.
 */
export const DEFAULT_RULES = String.raw`# Which URLs are crawled. Used when conf/plugins.yaml says so:
#
#   - urlfilter-rules:
#       file: url-rules.txt
#
# Each line is + (let in) or - (keep out) and a regular expression, which matches anywhere in the URL unless anchored by
# ^ or $. (?i) at its beginning ignores case. Lookaround, as in (?!..), and backreferences, as in \1, are not supported.
# The first line that matches decides; a URL that no line matches is kept out. "incrawl check url URL" names that line.

# Only http and https are crawled.
-^(?:file|ftp|mailto):

# Compressed sitemaps, before the rule about archives.
+(?i)sitemap[^/?]*\.xml\.gz$

# Images, sound, video, fonts, styles, scripts and archives: they cannot be parsed. PDF and office documents are let in.
-(?i)\.(?:gif|jpe?g|png|webp|avif|ico|bmp|svgz?|tiff?|psd|eps|heic|mp[34]|m4[av]|mpe?g|mov|avi|wmv|flv|mkv|webm|og[agv]|opus|wav|flac|aac|wma|css|m?js|map|woff2?|ttf|otf|eot|swf|zip|gz|tgz|bz2|xz|7z|rar|tar|jar|war|iso|dmg|exe|msi|deb|rpm|apk|bin)(?:\?|$)

# Everything else.
+.
`;
