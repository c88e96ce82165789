import { registry } from "../src/define/definition.ts";
import { endpointsOf } from "../src/api/api.ts";
import type { ApiOptions } from "../src/api/options.ts";
import { parameters } from "../src/api/parameters.ts";

/** What the endpoints say of themselves asks nothing of a store. */
const unconnected = {
  ports: { store: {}, random: { id: () => "" } },
  registry: registry([]),
  lanes: [],
} as unknown as ApiOptions;

/** Every endpoint as a client sees it: its address and what it takes. It cannot answer here. */
export const endpoints = endpointsOf(unconnected);

/** What the command line has to know of each operation: it starts without loading the API. */
export function operationsText(): string {
  const lines = endpoints.map((each) => {
    const query = parameters(each, "query").map(({ name, description, schema }) => ({ name, description, schema }));
    return `  ${JSON.stringify(each.name)}: ${JSON.stringify({ method: each.method, path: each.path, query })}`;
  });
  return `{\n${lines.join(",\n")}\n}\n`;
}
