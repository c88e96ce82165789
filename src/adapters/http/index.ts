export { httpClient } from "./client.ts";
export type { HttpAnswer, HttpClient, HttpClientOptions, HttpRequest } from "./client.ts";
