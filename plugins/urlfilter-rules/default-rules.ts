/**
 * The rules in force when the options name no file; `conf/url-rules.txt` holds the same text for operators to change.
 */
export const DEFAULT_RULES = String.raw`# Which URLs are crawled. conf/plugins.yaml names this file.
#
# Each line is + (let in) or - (keep out) and a regular expression, which matches anywhere in the URL unless anchored by
# ^ or $. (?i) at its beginning ignores case. Lookaround, as in (?!..), and backreferences, as in \1, are not supported.
# The first line that matches decides; a URL that no line matches is kept out. "incrawl check url URL" names that line.

# Only http and https are crawled.
-^(?:file|ftp|mailto):

# Compressed sitemaps, before the rule about archives.
+(?i)sitemap[^/?]*\.xml\.gz$

# Images, sound, video, fonts, styles, scripts, data and archives: nothing in them can be parsed.
-(?i)\.(?:gif|a?png|jpe?g|jxl|webp|avif|ico|bmp|svgz?|tiff?|psd|eps|hei[cf]|mp[34]|m4[av]|mpe?g|3gp|mov|avi|wmv|flv|mkv|webm|og[agv]|opus|wav|flac|aac|wma|midi?|m3u8|css|m?js|map|wasm|json|webmanifest|woff2?|ttf|otf|eot|swf|zip|t?gz|t?bz2|t?xz|zst|7z|rar|tar|jar|war|iso|img|dmg|exe|msi|cab|deb|rpm|apk|whl|bin|torrent)(?:\?|$)

# PDF and office documents: parse-pdf and parse-office read them, which are not loaded by default. With these, or to
# store them all the same (export --format warc), delete their endings here, or the whole line.
-(?i)\.(?:pdf|docx?|docm|xlsx?|xlsm|pptx?|ppsx?|od[tsp]|rtf|epub|mobi|djvu|ps|ics|vcf)(?:\?|$)

# Everything else.
+.
`;
