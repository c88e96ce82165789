/** What is read of a CycloneDX bill. */
export interface Bill {
  readonly components: readonly {
    readonly name: string;
    readonly version: string;
    readonly scope?: string;
    readonly licenses?: readonly (
      { readonly license: { readonly id?: string; readonly name?: string } } | { readonly expression: string }
    )[];
  }[];
}

/** Licences that allow this use; docs/adr/0008 says why. MPL-2.0 is of tools that are not deployed. */
const allowed = new Set(
  (
    "MIT MIT-0 ISC Apache-2.0 0BSD BSD-2-Clause BSD-3-Clause PostgreSQL CC0-1.0 Unlicense BlueOak-1.0.0 Python-2.0 PSF-2.0 " +
    "CC-BY-4.0 MPL-2.0 WTFPL"
  ).split(" "),
);

/** One line for each part whose licence is not allowed, or not said. */
export function faultyLicences({ components }: Bill): readonly string[] {
  return components.flatMap(({ name, version, licenses = [] }) => {
    const said = licenses.map((each) =>
      "expression" in each ? each.expression : (each.license.id ?? each.license.name ?? ""),
    );
    if (said.length > 0 && said.every(isAllowed)) return [];
    return [
      `${name} ${version}: licence ${said.join(", ") || "not said"} is not allowed: replace it, or add it to scripts/supply/judge.ts`,
    ];
  });
}

/** `(A OR B)`: one of them is enough; `A AND B`: both. */
const isAllowed = (expression: string): boolean =>
  expression
    .replaceAll(/[()]/g, "")
    .split(" OR ")
    .some((choice) => choice.split(" AND ").every((each) => allowed.has(each.trim())));

interface Lock {
  readonly packages: Readonly<
    Record<
      string,
      { readonly version?: string; readonly optional?: boolean; readonly peer?: boolean; readonly inBundle?: boolean }
    >
  >;
}

/** Parts of the lock file that the bill does not name. Optional ones of other systems are not installed here. */
export function missingParts({ components }: Bill, { packages }: Lock): readonly string[] {
  const named = new Set(components.map(({ name, version }) => `${name}@${version}`));
  return Object.entries(packages).flatMap(([path, { version, optional, peer }]) => {
    const name = path.split("node_modules/").at(-1) ?? "";
    if (path === "" || optional === true || peer === true || named.has(`${name}@${version}`)) return [];
    return [`${name} ${version} is in package-lock.json and not in the bill: npm ci`];
  });
}
