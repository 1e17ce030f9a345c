// docs/reference/plugin-api.md, from the source of the plugin api: each kind of plugin member by member, then the types
// that they name, then the functions that plugins may use.
import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = fileURLToPath(new URL('..', import.meta.url));
const API = join(root, 'src/core/plugin-host/api/plugin-api.ts');
const LIBRARY = join(root, 'src/core/plugin-host/api/plugin-library.ts');

const INTRO = `What \`incrawl/plugin\` exports to plugins; \`incrawl plugins new KIND-NAME\` writes one that works. A plugin is
declared with \`definePlugin\`; its \`setup\` returns the extension of its kind. Times are ms since the
epoch, durations ms, unless said otherwise.`;

export function pluginApiPage() {
  const exported = exportsOf(API, new Set());
  const kinds = membersOf(exported.get('ExtensionByKind'), exported).map(({ name, node, text }) => ({
    kind: name,
    type: node.type.getText(),
    text,
  }));
  const inKinds = new Set(kinds.flatMap(({ type }) => variantsOf(type, exported)).map(({ name }) => name));
  const library = exportsOf(LIBRARY, new Set());
  const types = [...exported].filter(
    ([name, { node }]) =>
      !inKinds.has(name) && !library.has(name) && name !== 'ExtensionByKind' && !isUnion(node, inKinds),
  );
  return [
    '# Plugin API',
    INTRO,
    '## Kinds',
    ['| kind | what it decides, and where it runs |', '|---|---|', ...kinds.map(kindLine)].join('\n'),
    ...kinds.flatMap(({ kind, type }) => [
      `## ${kind}`,
      ...variantsOf(type, exported).flatMap((each) => kindPart(each, exported)),
    ]),
    '## Declarations',
    ...types.map(([name, declaration]) => `### ${name}\n\n${codeOf(declaration)}`),
    '## Library',
    'Functions and constants of the crawl itself, for plugins to build on. Their types are in the package.',
    [...library]
      .filter(([, { node }]) => isValue(node))
      .map(libraryLine)
      .join('\n'),
    '',
  ].join('\n\n');
}

const kindLine = ({ kind, text }) => `| [\`${kind}-\`](#${kind}) | ${text.replaceAll('\n', ' ')} |`;

/** The interface of a kind: its comment, then each member. A member without a comment would be a gap in the contract. */
function kindPart({ name, declaration }, exported) {
  const members = membersOf(declaration, exported).map(({ name: member, node, text }) => {
    if (text === '') throw new Error(`${name}.${member} has no comment that says when it is called, and what for`);
    return `#### \`${member}\`\n\n\`\`\`ts\n${withoutComment(node)}\n\`\`\`\n\n${text}`;
  });
  return [`### ${name}`, commentOf(declaration.node), ...members];
}

/** The interfaces behind a type: itself, or those of a union. */
function variantsOf(type, exported) {
  const declaration = exported.get(type);
  if (ts.isInterfaceDeclaration(declaration.node)) return [{ name: type, declaration }];
  return declaration.node.type.types.flatMap((each) => variantsOf(each.getText(), exported));
}

const isUnion = (node, names) =>
  ts.isTypeAliasDeclaration(node) &&
  ts.isUnionTypeNode(node.type) &&
  node.type.types.every((each) => names.has(each.getText()));

/** Own members, then inherited ones. */
function membersOf({ node }, exported) {
  const own = node.members.map((member) => ({ name: member.name.getText(), node: member, text: commentOf(member) }));
  const parents = (node.heritageClauses ?? []).flatMap((clause) =>
    clause.types.map((each) => each.expression.getText()),
  );
  return [...own, ...parents.flatMap((parent) => membersOf(exported.get(parent), exported))];
}

/** Declarations that a module exports, by name, those of modules that it re-exports included. */
function exportsOf(file, seen) {
  if (seen.has(file)) return new Map();
  seen.add(file);
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);
  const found = new Map();
  for (const node of source.statements) {
    if (ts.isExportDeclaration(node)) {
      const from = exportsOf(join(dirname(file), node.moduleSpecifier.text), new Set(seen));
      const names = node.exportClause?.elements.map((each) => each.name.text) ?? [...from.keys()];
      for (const name of names) if (from.has(name)) found.set(name, from.get(name));
    } else if (
      ts.canHaveModifiers(node) &&
      ts.getModifiers(node)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)
    ) {
      for (const name of namesOf(node)) found.set(name, { node, file });
    }
  }
  return found;
}

const namesOf = (node) =>
  ts.isVariableStatement(node) ? node.declarationList.declarations.map(({ name }) => name.getText()) : [node.name.text];

const isValue = (node) => !ts.isInterfaceDeclaration(node) && !ts.isTypeAliasDeclaration(node);

function libraryLine([name, { node, file }]) {
  const [first = ''] = commentOf(node).split(/(?<=[^A-Z]\.)\s|:?\n\n/);
  if (first === '') throw new Error(`${relative(root, file)}: ${name} is exported to plugins without a comment`);
  return `- \`${name}\`: ${first.replaceAll('\n', ' ')}`;
}

/** The comment before a node as prose; empty without one. */
function commentOf(node) {
  const [doc] = ts.getJSDocCommentsAndTags(node).filter(ts.isJSDoc).slice(-1);
  if (doc === undefined) return '';
  const tags = (doc.tags ?? []).map((tag) => `\`${tag.name?.getText() ?? tag.tagName.text}\`: ${plain(tag.comment)}`);
  return [plain(doc.comment), ...tags].filter((part) => part !== '').join('\n\n');
}

const plain = (comment) =>
  (ts.getTextOfJSDocComment(comment) ?? '').replace(/\{@link ([^}]+)\}/g, (_, name) => `\`${name.trim()}\``);

const withoutComment = (node) => node.getText().replace(/^\/\*\*[\s\S]*?\*\/\s*/, '');

/** A declaration with its comments, as the source has it; bodies of functions left out. */
function codeOf({ node }) {
  const source = node.getSourceFile();
  const isFunction = ts.isFunctionDeclaration(node) && node.body !== undefined;
  const end = isFunction ? node.body.getStart() : node.getEnd();
  const from = ts.getJSDocCommentsAndTags(node)[0]?.getStart() ?? node.getStart();
  return `\`\`\`ts\n${source.text.slice(from, end).trim()}${isFunction ? ';' : ''}\n\`\`\``;
}
