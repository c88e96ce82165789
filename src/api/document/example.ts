import type { Endpoint } from "../endpoint.ts";
import { operationOf } from "./operations.ts";

/** The example of an endpoint, as its document shows it. */
export const exampleOf = ({ name }: Endpoint) => operationOf(name).example;

/** Method and address of the example, with its query. */
export function exampleRequest(each: Endpoint): { readonly path: string; readonly body: object | undefined } {
  const { params = {}, query = {}, body } = exampleOf(each);
  const path = each.path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ""));
  const search = new URLSearchParams(query).toString();
  return { path: search === "" ? path : `${path}?${search}`, body };
}
