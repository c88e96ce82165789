export { httpClient } from "./client.ts";
export type { HttpAnswer, HttpClient, HttpClientOptions, HttpRequest } from "./client.ts";
export { httpError } from "../../define/errors.ts";
export type { FromEnvironment } from "../outside-address.ts";
