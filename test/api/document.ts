import { endpointsOf } from "../../src/api/api.ts";
import { openApi } from "../../src/api/document/openapi.ts";
import type { ApiOptions } from "../../src/api/options.ts";
import { registry } from "../../src/core/define/definition.ts";

/** What the endpoints say of themselves asks nothing of a store. */
const unconnected = {
  ports: { store: {}, random: { id: () => "" } },
  operations: {},
  registry: registry([]),
  lanes: [],
  version: "0.0.0",
} as unknown as ApiOptions;

export const endpoints = endpointsOf(unconnected);

export const document = openApi(endpoints, unconnected.version);
