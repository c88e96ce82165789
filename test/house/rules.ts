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

const publicSurface = /^src\/compose\/index\.ts$/;
const adaptersForApps = /^src\/(outside\/(smtp|http)\/index|compose\/connect)\.ts$/;
const everything = /^/;
const domain = /^src\/(machine|calendar|define|admission|run|schedule)\//;
const domainAndInsight = /^src\/(machine|calendar|define|admission|run|schedule|insight)\//;
const adapters = /^src\/(postgres|outside|aws)\//;

export const rules: readonly Rule[] = [
  // SQL is text here: it knows no store and nothing that claims, runs or schedules.
  {
    files: /^src\/admission\//,
    mayImport: [/^src\/(machine|admission)\//],
    packages: { named: [] },
  },
  { files: domain, mayImport: [domain], packages: "types" },
  // What people read: shapes and texts.
  {
    files: /^src\/insight\//,
    mayImport: [domainAndInsight],
    packages: { named: [/^zod$/] },
  },
  {
    files: adapters,
    mayImport: [domainAndInsight, adapters],
    packages: "any",
  },
  // Of the adapters, what opens the databases of the cells.
  {
    files: /^src\/cells\/open\.ts$/,
    mayImport: [/^src\/(machine|calendar|define|admission|run|schedule|insight|postgres|outside|aws|cells)\//],
    packages: "any",
  },
  {
    files: /^src\/cells\//,
    mayImport: [/^src\/(machine|calendar|define|admission|run|schedule|insight|cells)\//],
    packages: "any",
  },
  {
    files: /^src\/api\//,
    mayImport: [domainAndInsight, adapters, /^src\/api\//],
    packages: "any",
  },
  // The page runs in a browser: of the API it knows the types.
  {
    files: /^src\/console\//,
    mayImport: [/^src\/console\//, /^src\/(calendar\/duration|(machine|insight)\/\w+-texts(-ko)?)\.ts$/],
    typesOf: [/^src\/(api|insight)\//],
    packages: { named: [/^(preact|preact-iso|cronstrue)$/, /^@preact\/signals$/, /^@dagrejs\/dagre$/] },
  },
  {
    files: /^src\/compose\/bundle-console\.ts$/,
    mayImport: [/^src\/api\/console\.ts$/],
    packages: { named: [/^esbuild$/, /^node:/] },
  },
  // The command line speaks to the API. The commands that must work without one are named here, with what they need.
  {
    files: /^src\/cli\/commands\/(check|simulate)\.ts$/,
    mayImport: [
      /^src\/cli\//,
      /^src\/(stage\/(stages|topology|config|project|lane-settings)|compose\/(apps))\.ts$/,
      /^src\/(api\/simulation|schedule\/install-schedules|define\/(check|definition|problem|scope))\.ts$/,
      /^src\/postgres\/migration-files\.ts$/,
    ],
    typesOf: [/^src\/api\/shape\//],
    packages: "any",
  },
  {
    files: /^src\/cli\/deployed\.ts$/,
    mayImport: [/^src\/cli\//, /^src\/aws\/signed-fetch\.ts$/],
    packages: "any",
  },
  {
    files: /^src\/cli\/waiting\.ts$/,
    mayImport: [
      /^src\/cli\//,
      /^src\/(stage\/(stages|project)|compose\/(apps))\.ts$/,
      /^src\/define\/(against|problem)\.ts$/,
      /^src\/postgres\/migration-files\.ts$/,
    ],
    typesOf: [/^src\/(api|define)\//],
    packages: "any",
  },
  {
    files: /^src\/cli\/project\.ts$/,
    mayImport: [/^src\/cli\//, /^src\/stage\/(project|stages|loaded-files)\.ts$/, /^src\/define\/problem\.ts$/],
    packages: "any",
  },
  {
    files: /^src\/cli\/(database|commands\/(migrate|doctor))\.ts$/,
    mayImport: [
      /^src\/cli\//,
      adapters,
      domainAndInsight,
      /^src\/(stage\/(config|stages|topology)|compose\/(apps|runtime))\.ts$/,
    ],
    packages: "any",
  },
  {
    files: /^src\/cli\/commands\/cells\.ts$/,
    mayImport: [/^src\/(cli|cells)\//],
    typesOf: [/^src\/machine\/cell-map\.ts$/],
    packages: "any",
  },
  {
    files: /^src\/cli\/commands\/console\.ts$/,
    mayImport: [/^src\/cli\//, /^src\/aws\/signed-fetch\.ts$/],
    packages: "any",
  },
  {
    files: /^src\/cli\/commands\/init\.ts$/,
    mayImport: [/^src\/cli\//, /^src\/scaffold\//, /^package\.json$/],
    packages: "any",
  },
  { files: /^src\/cli\/commands\/bundle\.ts$/, mayImport: [/^src\/cli\//, /^infra\/release\.ts$/], packages: "any" },
  { files: /^src\/cli\/import-schedules\.ts$/, mayImport: [domain], packages: { named: [] } },
  { files: /^src\/cli\/find-api\.ts$/, mayImport: [/^src\/(cli\/exit|stage\/deployed-api)\.ts$/], packages: "any" },
  // What a deployment needs of an account.
  {
    files: /^src\/cli\/(preflight|plan|region-looks|config-recording|assembly)\.ts$/,
    mayImport: [
      /^src\/cli\//,
      /^src\/aws\//,
      /^infra\/(stages|engines|constructs\/database-defaults)\.ts$/,
      /^src\/insight\/prices\.ts$/,
      /^src\/(stage\/(deployed-api|stages|topology|project)|compose\/(apps))\.ts$/,
    ],
    packages: "any",
  },
  { files: /^src\/cli\/commands\/dev\.ts$/, mayImport: [/^src\/cli\//, /^src\/local\//], packages: "any" },
  {
    files: /^src\/cli\/run\.ts$/,
    mayImport: [/^src\/cli\//, /^src\/(stage\/(project|thrown-at)|define\/problem)\.ts$/, /^package\.json$/],
    packages: "any",
  },
  {
    files: /^src\/stage\/(thrown-at|loaded-files|syntax-place)\.ts$/,
    mayImport: [/^src\/stage\/(loaded-files|syntax-place)\.ts$/],
    packages: { named: [/^node:/] },
  },
  {
    files: /^src\/cli\//,
    mayImport: [
      /^src\/cli\//,
      /^src\/(api\/document\/|calendar\/duration\.ts$|machine\/closable-texts\.ts$|compose\/run-job\.ts$|insight\/(cost-table|csv)\.ts$)/,
      /^package\.json$/,
    ],
    typesOf: [/^src\/(api|insight)\//, /^src\/aws\//],
    packages: "any",
  },
  {
    files: /^src\/compose\/console-files\.ts$/,
    mayImport: [/^src\/api\/console(-files)?\.ts$/, /^src\/compose\/bundle-console\.ts$/],
    packages: { named: [/^node:/] },
  },
  // Texts only: what is quoted in them is of the project that they make.
  { files: /^src\/scaffold\//, mayImport: [everything], packages: "any" },
  {
    files: /^src\/testing\//,
    mayImport: [
      /^src\/(machine|calendar|define|admission|run|schedule|insight|postgres|outside|aws|testing)\//,
      /^src\/local\/services\/postgres\.ts$/,
    ],
    packages: { named: [/^pg$/, /^node:/] },
  },
  // Plain data about a deployment.
  {
    files: /^src\/stage\/stages\.ts$/,
    mayImport: [],
    typesOf: [/^src\/define\/scope\.ts$/],
    packages: { named: [] },
  },
  {
    files: /^src\/stage\/(define-config|bundled-project)\.ts$/,
    mayImport: [/^src\/stage\/stages\.ts$/],
    packages: { named: [] },
  },
  {
    files: /^src\/stage\/project\.ts$/,
    mayImport: [/^src\/(stage\/(stages|bundled-project)|define\/problem)\.ts$/],
    packages: { named: [/^zod$/, /^node:/] },
  },
  {
    files: /^src\/stage\/(topology|lane-settings|deployment-limits)\.ts$/,
    mayImport: [domainAndInsight, /^src\/stage\/(stages|lane-settings|deployment-limits)\.ts$/],
    packages: { named: [] },
  },
  {
    files: /^src\/compose\/apps\.ts$/,
    mayImport: [/^src\/(define\/(definition|problem)|stage\/(stages|project))\.ts$/],
    packages: { named: [/^node:path$/] },
  },
  {
    files: /^src\/stage\/(config|settings|config-schema)\.ts$/,
    mayImport: [
      domainAndInsight,
      adapters,
      /^src\/stage\/(stages|project|settings|config-schema|deployed-api|crash-point)\.ts$/,
    ],
    packages: { named: [/^zod$/, /^node:url$/] },
  },
  { files: /^src\/stage\/crash-point\.ts$/, mayImport: [domain], packages: { named: [/^node:/] } },
  // What a definition may import from `belfry`.
  { files: publicSurface, mayImport: [domain, /^src\/insight\/own-costs\.ts$/], packages: { named: [] } },
  // What wires things together.
  {
    files:
      /^(functions|scheduler-task|src\/local)\/|^src\/compose\/(runtime|connect|database|secrets|worker-process|install-release|debugged|lease-thread|run-job)\.ts$/,
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
      /^src\/(stage\/(topology|lane-settings|stages|project|deployed-api)|compose\/(apps|bundle-console|console-files))\.ts$/,
      /^src\/(define\/(check|problem|scope)|insight\/prices)\.ts$/,
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
