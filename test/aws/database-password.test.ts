import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import { Client } from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { databasePassword } from "../../src/adapters/aws/database-password.ts";
import { createDatabaseRoles } from "../../src/adapters/postgres/access.ts";
import { migrate } from "../../src/adapters/postgres/migrate.ts";
import { listenOnLoopback } from "../../src/local/services/server.ts";
import { blankDatabase } from "../support/database.ts";

const arn = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:belfry-AbCdEf";
const secret = (secretsEndpoint: string) =>
  databasePassword({
    auth: { kind: "secret", arn },
    databaseUrl: "postgresql://belfry@db:5432/belfry",
    region: "eu-west-1",
    secretsEndpoint,
  }) ?? (() => Promise.reject(new Error("a secret needs asking")));

let server: Server;
let endpoint: string;
let requests: { headers: IncomingMessage["headers"]; body: string }[];
let answer: { status: number; body: string };

beforeAll(async () => {
  process.env["AWS_ACCESS_KEY_ID"] = "AKIDEXAMPLE";
  process.env["AWS_SECRET_ACCESS_KEY"] = "example";
  server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      requests.push({ headers: request.headers, body });
      response.writeHead(answer.status).end(answer.body);
    });
  });
  endpoint = `http://127.0.0.1:${await listenOnLoopback(server, 0, "the secrets")}/`;
});

afterAll(async () => {
  delete process.env["AWS_ACCESS_KEY_ID"];
  delete process.env["AWS_SECRET_ACCESS_KEY"];
  server.close();
  await once(server, "close");
});

beforeEach(() => {
  requests = [];
  answer = { status: 200, body: JSON.stringify({ SecretString: '{"username":"belfry","password":"one"}' }) };
});

test("a secret is asked for at every connection, so its rotation ends no process", async () => {
  const password = secret(endpoint);
  expect(await password()).toBe("one");
  answer.body = JSON.stringify({ SecretString: '{"password":"two"}' });
  expect(await password()).toBe("two");
});

test("the question is signed for the secrets service and names the secret", async () => {
  await secret(endpoint)();
  expect(requests[0]?.headers.authorization).toMatch(
    /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/eu-west-1\/secretsmanager\/aws4_request, SignedHeaders=.*host.*, Signature=[0-9a-f]{64}$/,
  );
  expect(JSON.parse(requests[0]?.body ?? "{}")).toEqual({ SecretId: arn });
});

test("a secret that is refused, or has no password, is an error that names the secret and shows nothing of it", async () => {
  answer = { status: 400, body: JSON.stringify({ __type: "AccessDeniedException" }) };
  await expect(secret(endpoint)()).rejects.toThrow(`${arn} could not be read: 400 AccessDeniedException`);
  answer = { status: 200, body: JSON.stringify({ SecretString: "hunter2" }) };
  const error = await secret(endpoint)().catch((reason: unknown) => reason);
  expect(String(error)).toContain('has no field "password"');
  expect(String(error)).not.toContain("hunter2");
});

test("with IAM the password is a token that was signed for this server and user", async () => {
  const password = databasePassword({
    auth: { kind: "iam" },
    databaseUrl: "postgresql://belfry@db.example:5433/belfry",
    region: "eu-west-1",
    secretsEndpoint: null,
  });
  const token = (await password?.()) ?? "";
  expect(token).toMatch(/^db\.example:5433\/\?Action=connect&DBUser=belfry&.*X-Amz-Expires=900.*X-Amz-Signature=/);
});

test("a password in the URL needs no asking", () => {
  const databaseUrl = "postgresql://belfry:secret@db/belfry";
  const options = { databaseUrl, region: "eu-west-1", secretsEndpoint: null };
  expect(databasePassword({ ...options, auth: { kind: "password" } })).toBe(null);
});

let database: Awaited<ReturnType<typeof blankDatabase>> | null = null;
afterEach(async () => {
  await database?.close();
  database = null;
});

test("the migration's role may make tables, the processes' may not, and both come by IAM, also when they are made twice", async () => {
  database = await blankDatabase();
  const { url } = database;
  const client = new Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  try {
    await client.query("do $$ begin create role rds_iam; exception when duplicate_object then null; end $$");
    await createDatabaseRoles({ url });
    await createDatabaseRoles({ url });
    const { rows } = await client.query<{ name: string; member: boolean; creates: boolean; super: boolean }>(
      `select rolname as name, pg_has_role(oid, 'rds_iam', 'member') as member, rolsuper as super,
         has_database_privilege(oid, current_database(), 'create')
           or has_schema_privilege(oid, 'public', 'create') as creates
       from pg_roles where rolname in ('belfry_app', 'belfry_owner') order by rolname`,
    );
    expect(rows).toEqual([
      { name: "belfry_app", member: true, creates: false, super: false },
      { name: "belfry_owner", member: true, creates: true, super: false },
    ]);
  } finally {
    await client.query("drop owned by belfry_app, belfry_owner");
    await client.query("drop role belfry_app, belfry_owner");
    await client.query("drop role rds_iam");
    await client.end();
  }
});

test("a password that was asked for is used in place of the URL's own", async () => {
  database = await blankDatabase();
  const url = new URL(database.url);
  const right = decodeURIComponent(url.password);
  url.password = "";
  await expect(migrate({ url: url.href, password: async () => `not ${right}` })).rejects.toThrow(/password|auth/i);
  expect((await migrate({ url: url.href, password: async () => right })).version).toBeGreaterThan(0);
});
