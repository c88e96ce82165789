import type { Import } from "./imports.ts";

/** Who may import what. The first rule whose `files` match a path is the one that holds for it. */
export interface Rule {
  readonly files: RegExp;
  /** Own files it may import. */
  readonly mayImport: readonly RegExp[];
  /** Own files of which it may import types. */
  readonly typesOf?: readonly RegExp[];
  /** Packages it may import; `types` only as types. */
  readonly packages: { readonly named: readonly RegExp[] } | "any" | "types";
}

const publicSurface = /^src\/core\/index\.ts$/;
const adaptersForApps = /^src\/(adapters\/(smtp|http)\/index|connect)\.ts$/;
const everything = /^/;

export const rules: readonly Rule[] = [
  { files: /^src\/core\//, mayImport: [/^src\/core\//], packages: "types" },
  {
    files: /^src\/adapters\//,
    mayImport: [/^src\/core\//, /^src\/adapters\//],
    packages: "any",
  },
  // Of the adapters, what opens the databases of the cells.
  { files: /^src\/cells\/open\.ts$/, mayImport: [/^src\/(core|adapters|cells)\//], packages: "any" },
  { files: /^src\/cells\//, mayImport: [/^src\/(core|api|cells)\//], packages: "any" },
  { files: /^src\/api\//, mayImport: [/^src\/core\//, /^src\/adapters\//, /^src\/api\//], packages: "any" },
  // The page runs in a browser: of the API it knows the types.
  {
    files: /^src\/console\//,
    mayImport: [/^src\/console\//],
    typesOf: [/^src\/api\//],
    packages: { named: [/^(preact|preact-iso|uplot|cronstrue)$/, /^@preact\/signals$/, /^@dagrejs\/dagre$/] },
  },
  {
    files: /^src\/bundle-console\.ts$/,
    mayImport: [/^src\/api\/console\.ts$/],
    packages: { named: [/^esbuild$/, /^node:/] },
  },
  // The command line speaks to the API. The commands that must work without one are named here, with what they need.
  {
    files: /^src\/cli\/commands\/check\.ts$/,
    mayImport: [
      /^src\/cli\//,
      /^src\/(apps|stages|topology|config|project|lane-settings)\.ts$/,
      /^src\/core\/define\/(check|problem|scope)\.ts$/,
      /^src\/adapters\/postgres\/migration-files\.ts$/,
    ],
    packages: "any",
  },
  {
    files: /^src\/cli\/deployed\.ts$/,
    mayImport: [/^src\/cli\//, /^src\/adapters\/aws\/signed-fetch\.ts$/],
    packages: "any",
  },
  {
    files: /^src\/cli\/waiting\.ts$/,
    mayImport: [/^src\/cli\//, /^src\/(apps|stages|project)\.ts$/, /^src\/core\/define\/(against|problem)\.ts$/],
    packages: "any",
  },
  {
    files: /^src\/cli\/project\.ts$/,
    mayImport: [/^src\/cli\//, /^src\/(project|stages|loaded-files)\.ts$/, /^src\/core\/define\/problem\.ts$/],
    packages: "any",
  },
  {
    files: /^src\/cli\/(database|commands\/(migrate|doctor))\.ts$/,
    mayImport: [/^src\/cli\//, /^src\/adapters\//, /^src\/core\//, /^src\/(config|apps|stages|topology|runtime)\.ts$/],
    packages: "any",
  },
  {
    files: /^src\/cli\/commands\/cells\.ts$/,
    mayImport: [/^src\/(cli|cells)\//],
    typesOf: [/^src\/core\/ports\/cell-map\.ts$/],
    packages: "any",
  },
  {
    files: /^src\/cli\/commands\/console\.ts$/,
    mayImport: [/^src\/cli\//, /^src\/adapters\/aws\/signed-fetch\.ts$/],
    packages: "any",
  },
  {
    files: /^src\/cli\/commands\/init\.ts$/,
    mayImport: [/^src\/cli\//, /^src\/scaffold\//, /^package\.json$/],
    packages: "any",
  },
  { files: /^src\/cli\/commands\/bundle\.ts$/, mayImport: [/^src\/cli\//, /^infra\/release\.ts$/], packages: "any" },
  { files: /^src\/cli\/find-api\.ts$/, mayImport: [/^src\/deployed-api\.ts$/], packages: "any" },
  // What a deployment needs of an account.
  {
    files: /^src\/cli\/preflight\.ts$/,
    mayImport: [
      /^src\/cli\//,
      /^src\/adapters\/aws\//,
      /^infra\/(stages|engines)\.ts$/,
      /^src\/(apps|stages|topology|project)\.ts$/,
    ],
    packages: "any",
  },
  { files: /^src\/cli\/commands\/dev\.ts$/, mayImport: [/^src\/cli\//, /^src\/local\//], packages: "any" },
  {
    files: /^src\/cli\/run\.ts$/,
    mayImport: [/^src\/cli\//, /^src\/(project|thrown-at|core\/define\/problem)\.ts$/, /^package\.json$/],
    packages: "any",
  },
  {
    files: /^src\/(thrown-at|loaded-files|syntax-place)\.ts$/,
    mayImport: [/^src\/(loaded-files|syntax-place)\.ts$/],
    packages: { named: [/^node:/] },
  },
  {
    files: /^src\/cli\//,
    mayImport: [/^src\/cli\//, /^package\.json$/],
    typesOf: [/^src\/api\/shape\//, /^src\/adapters\/aws\//],
    packages: "any",
  },
  {
    files: /^src\/console-files\.ts$/,
    mayImport: [/^src\/api\/console(-files)?\.ts$/, /^src\/bundle-console\.ts$/],
    packages: { named: [/^node:/] },
  },
  // Texts only: what is quoted in them is of the project that they make.
  { files: /^src\/scaffold\//, mayImport: [everything], packages: "any" },
  {
    files: /^src\/testing\//,
    mayImport: [/^src\/(core|adapters|testing)\//, /^src\/local\/services\/postgres\.ts$/],
    packages: { named: [/^pg$/, /^node:/] },
  },
  // Plain data about a deployment.
  {
    files: /^src\/stages\.ts$/,
    mayImport: [],
    typesOf: [/^src\/core\/define\/scope\.ts$/],
    packages: { named: [] },
  },
  { files: /^src\/(define-config|bundled-project)\.ts$/, mayImport: [/^src\/stages\.ts$/], packages: { named: [] } },
  {
    files: /^src\/project\.ts$/,
    mayImport: [/^src\/(stages|bundled-project|core\/define\/problem)\.ts$/],
    packages: { named: [/^zod$/, /^node:/] },
  },
  {
    files: /^src\/(topology|lane-settings|deployment-limits)\.ts$/,
    mayImport: [/^src\/core\//, /^src\/(stages|lane-settings|deployment-limits)\.ts$/],
    packages: { named: [] },
  },
  {
    files: /^src\/apps\.ts$/,
    mayImport: [/^src\/(core\/define\/(definition|problem)|stages|project)\.ts$/],
    packages: { named: [/^node:path$/] },
  },
  {
    files: /^src\/(config|settings|config-schema)\.ts$/,
    mayImport: [/^src\/core\//, /^src\/adapters\//, /^src\/(stages|project|settings|config-schema)\.ts$/],
    packages: { named: [/^zod$/, /^node:url$/] },
  },
  // What wires things together.
  {
    files: /^(functions|scheduler-task|src\/local)\/|^src\/(runtime|connect|database|secrets)\.ts$/,
    mayImport: [/^(src|functions|scheduler-task)\//, /^package\.json$/],
    packages: "any",
  },
  // Definitions and what they use: the public surface, their own files and any package.
  { files: /^jobs\//, mayImport: [publicSurface, adaptersForApps, /^jobs\//], packages: "any" },
  // The scheduler guide's Do and Don't: a scheduler knows its use case and no port, the domain knows nothing, converting is all
  // that an assembler does, and the SQL of readers and writers decides nothing.
  {
    files: /^examples\/batch-scheduler\/app\.ts$/,
    mayImport: [publicSurface, /^examples\/batch-scheduler\/(use-case|wiring|arrivals|routes)\.ts$/],
    packages: { named: [/^belfry$/] },
  },
  { files: /^examples\/batch-scheduler\/items\.ts$/, mayImport: [], packages: { named: [] } },
  {
    files: /^examples\/batch-scheduler\/(assembler|ports)\.ts$/,
    mayImport: [],
    typesOf: [/^examples\/batch-scheduler\/items\.ts$/],
    packages: { named: [] },
  },
  {
    files: /^examples\/batch-scheduler\/use-case\.ts$/,
    mayImport: [publicSurface],
    typesOf: [/^examples\/batch-scheduler\/(items|ports)\.ts$/],
    packages: { named: [/^belfry$/] },
  },
  {
    files: /^examples\/batch-scheduler\/(reader|writer)\.ts$/,
    mayImport: [],
    typesOf: [/^examples\/batch-scheduler\/(items|ports)\.ts$/],
    packages: "types",
  },
  {
    files: /^examples\/(index|fakes|pool|fake\/.*)\.ts$/,
    mayImport: [publicSurface, adaptersForApps, /^examples\//],
    packages: "any",
  },
  // As a user's test: the public entries, with the shared Postgres.
  {
    files: /^examples\/([^/]+)\/[^/]+\.test\.ts$/,
    mayImport: [publicSurface, adaptersForApps, /^src\/testing\/index\.ts$/, /^examples\/OWN\//, /^examples\/fake\//],
    packages: "any",
  },
  {
    files: /^examples\/([^/]+)\//,
    mayImport: [publicSurface, adaptersForApps, /^examples\/OWN\//, /^examples\/(pool|fake)(\.ts$|\/)/],
    packages: "any",
  },
  {
    files: /^infra\//,
    mayImport: [
      /^infra\//,
      /^src\/(topology|lane-settings|stages|apps|project|bundle-console|console-files|deployed-api)\.ts$/,
      /^src\/core\/define\/(check|problem|scope)\.ts$/,
    ],
    packages: { named: [/^aws-cdk-lib$/, /^cdk-nag$/, /^constructs$/, /^esbuild$/, /^node:/] },
  },
  // Proofs and documents look at everything; nothing else may lean on them.
  { files: /^(test|bench|scripts)\/|^[^/]+\.ts$/, mayImport: [everything], packages: "any" },
];

/** @returns what is wrong with an import, or null when it is allowed. */
export function violation(each: Import): string | null {
  const rule = rules.find(({ files }) => files.test(each.file));
  if (rule === undefined) return `${each.file}: no rule says what it may import; add one to test/house/rules.ts`;
  if (each.isPackage ? mayUse(rule, each) : mayReach(rule, each)) return null;
  return `${each.file}:${each.line} may not import ${each.target}`;
}

function mayUse({ packages }: Rule, { target, typeOnly }: Import): boolean {
  if (packages === "any") return true;
  if (packages === "types") return typeOnly;
  return packages.named.some((name) => name.test(target));
}

/** `OWN` in a rule is the folder the file lies in: one example does not reach into another. */
function mayReach({ files, mayImport, typesOf = [] }: Rule, { file, target, typeOnly }: Import): boolean {
  const own = files.exec(file)?.[1] ?? "";
  const reachable = typeOnly ? [...mayImport, ...typesOf] : mayImport;
  return reachable.some((path) => new RegExp(path.source.replace("OWN", own)).test(target));
}
